"""`attribute LEFT RIGHT`: whose doing it is, as far as two dumps that somebody else made can tell.

Nothing is compiled, so the table has its diagonal only. What the texts do say: whether the inputs differ, whether the
options do, and, where the texts between the passes are there, whether what differs came with the inputs or arose later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from xlacompare.attribution.cells import Cell, Distance, distance, module_distance, read_cell
from xlacompare.attribution.frontends import compare_frontends
from xlacompare.attribution.options import option_differences
from xlacompare.attribution.passes import PipelineDiff, compare_pipelines
from xlacompare.attribution.pipeline import read_pipeline
from xlacompare.attribution.result import Attribution, Environment
from xlacompare.attribution.verdict import Verdict
from xlacompare.dumps import MANIFEST_NAME, read_manifest
from xlacompare.errors import UsageError

LEFT, RIGHT = "left", "right"
COMPILERS = ("jaxlib", "tensorflow")


def attribute_folders(left: Path, right: Path) -> Attribution:
    """Return whose doing the differences of two dump folders are, as far as the texts tell.

    Raises:
        UsageError: a path is no folder.
        DumpError: a folder holds no module.
        HloError: a text cannot be read.
    """
    for path in (left, right):
        if not path.is_dir():
            raise UsageError(
                f"{path} is no folder; attribute takes two dump folders, since one text says nothing about what it "
                "was made from. For two files: xlacompare diff."
            )
    environments = _environment(LEFT, left), _environment(RIGHT, right)
    cells = _cell(LEFT, left), _cell(RIGHT, right)
    whole = distance(*cells)
    inputs = _inputs(*cells)
    options = option_differences(cells[0].options, cells[1].options)
    pipeline = _pipeline(*cells) if whole.kernels or whole.operations else None
    told = _verdict(whole, inputs, pipeline, _same_compiler(*environments) and not options)
    return Attribution(
        title=f"{left} · {right}",
        environments=environments,
        cells=cells,
        verdicts=(Verdict(LEFT, RIGHT, told, whole, {}, {}, (), ()),),
        frontends=compare_frontends(*cells, None, None),
        compilers=(),
        pipelines=() if pipeline is None else (pipeline,),
        options=options,
        trials=(),
        parity=None,
        doubts=(),
        unable=tuple(_unable(inputs, pipeline, environments, told)),
    )


def _verdict(whole: Distance, inputs: Distance | None, pipeline: PipelineDiff | None, same_compiler: bool) -> str:
    if not whole.kernels and not whole.operations:
        return "none"
    if inputs is not None and not inputs.operations:
        return "compiler"
    if inputs is not None and same_compiler:
        return "frontend"
    if pipeline is not None:
        # What no pass makes up for came with the inputs; where the two part later, passes did it.
        brought, parted = bool(pipeline.input_operations_apart), bool(pipeline.partings)
        if brought and not parted:
            return "unknown" if not same_compiler else "frontend"
        if parted:
            return "both" if brought else "compiler"
    return "unknown"


def _unable(
    inputs: Distance | None, pipeline: PipelineDiff | None, environments: tuple[Environment, Environment], told: str
) -> Iterator[str]:
    if told == "none":
        return
    yield (
        "each program under the other's compiler: nothing is compiled for two folders. "
        "xlacompare attribute MODEL does that for a model pair."
    )
    if inputs is None:
        yield "the inputs: a folder lacks the text before optimizations."
    if pipeline is None:
        yield "pass by pass: a folder lacks the texts between the passes; dump again with --xla_dump_hlo_pass_re=.*"
    for environment in environments:
        if not environment.versions:
            yield f"the compiler of {environment.key}: the folder has no {MANIFEST_NAME} that names its version."


def _inputs(left: Cell, right: Cell) -> Distance | None:
    if left.before is None or right.before is None:
        return None
    return module_distance(left.before, right.before, left.parameter_names, right.parameter_names)


def _pipeline(left: Cell, right: Cell) -> PipelineDiff | None:
    if not left.module.files.get("pass") or not right.module.files.get("pass"):
        return None
    return compare_pipelines(read_pipeline(left.module), read_pipeline(right.module), (LEFT, RIGHT))


def _cell(key: str, folder: Path) -> Cell:
    names: tuple[str, ...] = ()
    if (folder / MANIFEST_NAME).is_file():
        parameters = read_manifest(folder).extra.get("parameters")
        if isinstance(parameters, list) and all(isinstance(name, str) for name in parameters):
            names = tuple(parameters)
    return read_cell(key, key, folder, parameter_names=names)


def _environment(key: str, folder: Path) -> Environment:
    versions: Mapping[str, str] = {}
    flags: tuple[str, ...] = ()
    framework = "unknown"
    if (folder / MANIFEST_NAME).is_file():
        manifest = read_manifest(folder)
        versions, framework = manifest.versions, manifest.framework
        flags = tuple(word for word in manifest.xla_flags.split() if not word.startswith("--xla_dump"))
    label = next((f"{package} {versions[package]}" for package in COMPILERS if package in versions), key)
    return Environment(key, framework, label, versions, flags)


def _same_compiler(left: Environment, right: Environment) -> bool:
    """Whether both folders say that the same XLA made them."""
    return any(
        left.versions.get(package) is not None and left.versions.get(package) == right.versions.get(package)
        for package in COMPILERS
        if left.framework == right.framework
    )
