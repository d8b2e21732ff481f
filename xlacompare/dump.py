"""`dump`: compile a model pair in one child process per framework, and keep what XLA wrote.

The outputs of both are compared before anything is reported, and the folders are moved into place only then.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xlacompare.census import Census, census
from xlacompare.documents import document
from xlacompare.dumps import MANIFEST_NAME, Manifest, check_free, publish, read_folder, read_manifest, write_manifest
from xlacompare.dumps.staging import Stage, staging
from xlacompare.errors import DumpError, XlaCompareError
from xlacompare.frameworks import FRAMEWORKS
from xlacompare.hlo import read_file
from xlacompare.parity import Parity, compare_outputs
from xlacompare.registry import Model, find_model
from xlacompare.results import Result
from xlacompare.settings import program_of
from xlacompare.worker.launch import DISPLAY_NAMES, Answer, Launch, joined_error, run_all
from xlacompare.worker.xla_flags import check_flags, merge_flags, user_flags

# Another dump flag of the user's (as proto, as html) would silently switch the text off.
OUR_FLAGS = ("--xla_dump_hlo_as_text",)

Outputs = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class DumpRequest:
    """What is to be compiled, and how; the same for both frameworks except where a mapping says otherwise.

    Attributes:
        name: the model's name.
        variant: "forward", "grad", …
        programs: framework -> what its child is asked to build (`worker/tasks/program.py`).
        rtol, atol: how far apart the outputs may be, see `parity.compare_outputs`.
        size: the size's numbers, for the manifest.
        frameworks: which of them, in order.
        device: "cpu" or "gpu".
        xla_flags: framework -> flags of the command line; the environment's XLA_FLAGS come before them.
        pythons: framework -> interpreter.
        serial: one after the other instead of at once.
        timeout_s: limit for each child.
        command: the command line, for the manifest.
    """

    name: str
    variant: str
    programs: Mapping[str, Mapping[str, Any]]
    rtol: float
    atol: float
    size: Mapping[str, Any] = field(default_factory=dict)
    frameworks: tuple[str, ...] = FRAMEWORKS
    device: str = "cpu"
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    pythons: Mapping[str, str] = field(default_factory=dict)
    serial: bool = False
    timeout_s: float = 600.0
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class FrameworkDump:
    """One framework's dump folder and the module that is meant in it; paths are in `directory`."""

    framework: str
    directory: Path
    manifest: Manifest
    census: Census

    @property
    def after(self) -> Path:
        assert self.manifest.after is not None
        return self.directory / self.manifest.after

    def to_json_dict(self) -> dict[str, Any]:
        manifest = self.manifest
        before = None if manifest.before is None else str(self.directory / manifest.before)
        return {
            "framework": self.framework,
            "dir": str(self.directory),
            "module": manifest.module,
            "before": before,
            "after": str(self.after),
            "versions": dict(manifest.versions),
            "xla_flags": manifest.xla_flags,
            "census": self.census.to_json_dict(),
        }


@dataclass(frozen=True)
class DumpResult(Result):
    """The dumps of one model and variant; `parity` is None where only one framework was asked for."""

    model: str
    variant: str
    parity: Parity | None
    dumps: tuple[FrameworkDump, ...]

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.dump` document."""
        return document(
            "dump",
            {
                "model": self.model,
                "variant": self.variant,
                "parity": None if self.parity is None else self.parity.to_json_dict(),
                "dumps": [dump.to_json_dict() for dump in self.dumps],
            },
        )


def dump_request(
    model: str | Model,
    *,
    variant: str = "grad",
    size: str | None = None,
    batch: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    **others: Any,
) -> DumpRequest:
    """Return the request for a model pair; `others` are `DumpRequest`'s fields.

    Args:
        model: a name, a folder's path, or a pair that was found before.
        variant: "forward", "grad", …
        size: one of the model's sizes; None is its first.
        batch: instead of the size's own.
        seed: of parameters and batch.
        options: the model's own options.
        settings: further fields of `frameworks.program.Settings`, such as jit.

    Raises:
        UsageError: there is no such model, variant, size or option; the message has the nearest names.
        ModelError: the model's folder cannot be used.
    """
    if isinstance(model, str):
        model = find_model(model)
    settings = {"variant": variant, **(settings or {})}
    program = program_of(model, variant=variant, size=size, batch=batch, seed=seed, options=options, settings=settings)
    spec = model.spec
    programs = dict.fromkeys(FRAMEWORKS, program)
    return DumpRequest(spec.name, variant, programs, rtol=spec.rtol, atol=spec.atol, size=program["size"], **others)


def dump(model: str | Model, *, out: Path | str = "dumps", overwrite: bool = False, **choices: Any) -> DumpResult:
    """Compile a model pair with dumping on and keep what XLA wrote: `dump_request`, then `make_dumps`.

    >>> result = dump("linear", variant="grad", out="/tmp/dumps")  # doctest: +SKIP
    >>> {each.framework: each.census.entry.kernels for each in result.dumps}  # doctest: +SKIP
    {'jax': 3, 'tensorflow': 3}
    """
    return make_dumps(dump_request(model, **choices), out, overwrite=overwrite)


def make_dumps(
    request: DumpRequest,
    out: Path | str = "dumps",
    *,
    overwrite: bool = False,
    on_stage: Callable[[str, str], None] | None = None,
) -> DumpResult:
    """Compile, compare and keep: `out/NAME/VARIANT/FRAMEWORK/` holds XLA's files and a manifest.

    Raises:
        UsageError: a flag that XLA would misread, before any process is started.
        FrameworkMissing, ModelError, WorkerFailed: a child could not do its part; nothing is kept.
        ParityError: the outputs disagree; nothing is kept.
        DumpError: a folder is in use, or XLA wrote no module of this function.
    """
    flags = {framework: _flags(request, framework) for framework in request.frameworks}
    home = dump_home(out, request.name, request.variant)
    for framework in request.frameworks:
        check_free(home / framework, overwrite=overwrite)
    with staging(home, request.frameworks) as stages:
        launches = [
            _launch(request, framework, flags[framework], stages[framework]) for framework in request.frameworks
        ]
        answers = _answers(run_all(launches, serial=request.serial, on_stage=on_stage))
        outputs = {answer.framework: _load_outputs(stages[answer.framework].outputs_file) for answer in answers}
        parity = _parity(request, outputs, answers[0].result["compared_at"])
        for answer, launch in zip(answers, launches, strict=True):
            _describe(request, answer, launch, stages[answer.framework], outputs[answer.framework], parity)
        for framework in request.frameworks:
            publish(stages[framework].directory, home / framework, overwrite=overwrite)
    dumps = tuple(load_dump(home / framework) for framework in request.frameworks)
    return DumpResult(request.name, request.variant, parity, dumps)


def dumps_of(
    request: DumpRequest,
    out: Path | str = "dumps",
    *,
    overwrite: bool = False,
    on_stage: Callable[[str, str], None] | None = None,
) -> DumpResult:
    """Return the dumps of this very request that are there already, or make them.

    Raises: as `make_dumps`; DumpError where dumps of another request are there and `overwrite` is false.
    """
    home = dump_home(out, request.name, request.variant)
    folders = [home / framework for framework in request.frameworks]
    if overwrite or not all((folder / MANIFEST_NAME).is_file() for folder in folders):
        return make_dumps(request, out, overwrite=overwrite, on_stage=on_stage)
    for folder in folders:
        if changed := _differs(request, read_manifest(folder)):
            raise DumpError(f"{folder} holds a dump of another {changed}; pass --overwrite to make it anew, or --out.")
    dumps = tuple(load_dump(folder) for folder in folders)
    stored = dumps[-1].manifest.extra.get("parity")
    return DumpResult(request.name, request.variant, None if stored is None else Parity(**stored), dumps)


def _differs(request: DumpRequest, manifest: Manifest) -> str | None:
    """Return in what the dump of a manifest is not the one that is asked for, or None."""
    asked = merge_flags(_flags(request, manifest.framework))
    made = " ".join(word for word in manifest.xla_flags.split() if word not in OUR_FLAGS and "xla_dump_to=" not in word)
    for what, wanted, found in (
        ("size", dict(request.size), dict(manifest.size)),
        ("model or setting", dict(request.programs[manifest.framework]), manifest.extra.get("program")),
        ("set of XLA flags", asked, made),
    ):
        if wanted != found:
            return what
    return None


def dump_home(out: Path | str, name: str, variant: str) -> Path:
    """Return the folder that holds the frameworks' dump folders of one model and variant."""
    return Path(out) / name / variant


def load_dump(directory: Path) -> FrameworkDump:
    """Return a dump folder of ours: its manifest and the census of the module that is meant."""
    manifest = read_manifest(directory)
    if manifest.after is None:
        raise DumpError(f"the manifest of {directory} names no text after optimizations; make the dump anew.")
    module = read_file(directory / manifest.after)[0]
    return FrameworkDump(
        manifest.framework, directory, manifest, census(module, platform=manifest.device, stage="after")
    )


def _flags(request: DumpRequest, framework: str) -> list[str]:
    return [
        *user_flags(),
        *check_flags(request.xla_flags.get(framework, ""), f"--{framework}-xla-flags or --xla-flags"),
    ]


def _launch(request: DumpRequest, framework: str, flags: list[str], stage: Stage) -> Launch:
    return Launch(
        framework,
        {"task": "dump", **request.programs[framework], "outputs_file": str(stage.outputs_file)},
        xla_flags=merge_flags(flags, [f"--xla_dump_to={stage.name_for_xla}", *OUR_FLAGS]),
        python=request.pythons.get(framework),
        device=request.device,
        timeout_s=request.timeout_s,
    )


def _answers(outcomes: Sequence[Answer | XlaCompareError]) -> list[Answer]:
    """Return the answers; raise what went wrong, both sides' errors together where both failed."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, XlaCompareError)]
    if not errors:
        return [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    raise joined_error(errors)


def _load_outputs(path: Path) -> Outputs:
    with np.load(path) as stored:
        return dict(stored)


def _parity(request: DumpRequest, outputs: Mapping[str, Outputs], compared_at: Mapping[str, Any]) -> Parity | None:
    """Return the parity of the two sides; one side alone is only checked for NaN, against itself."""
    left, right = request.frameworks[0], request.frameworks[-1]
    names = (DISPLAY_NAMES[left], DISPLAY_NAMES[right])
    parity = compare_outputs(
        outputs[left],
        outputs[right],
        rtol=request.rtol,
        atol=request.atol,
        names=names,
        compared_at=compared_at,
    )
    return None if left == right else parity


def _describe(
    request: DumpRequest, answer: Answer, launch: Launch, stage: Stage, outputs: Outputs, parity: Parity | None
) -> None:
    """Pick the module that is meant, check it, and write the manifest beside it."""
    framework = answer.framework
    try:
        folder = read_folder(stage.directory, wanted=answer.result["name"])
    except DumpError as error:
        raise DumpError(f"{DISPLAY_NAMES[framework]} compiled and ran, and left no HLO text: {error}") from error
    meant = folder.main
    if meant.after is None or answer.result["name"] not in meant.name:
        raise DumpError(
            f"{DISPLAY_NAMES[framework]} left no module of the function {answer.result['name']!r}; it left "
            f"{', '.join(sorted({module.name for module in folder.modules})) or 'none'}."
        )
    names = answer.result["parameter_names"]
    write_manifest(
        stage.directory,
        Manifest(
            framework=framework,
            module=meant.name,
            module_reason=folder.reason,
            command=request.command or tuple(sys.argv),
            model=request.name,
            variant=request.variant,
            size=dict(request.size),
            shapes=_parameter_shapes(meant.after, names),
            versions=answer.result["versions"],
            xla_flags=launch.xla_flags,
            device=answer.result["device"]["platform"],
            before=None if meant.before is None else meant.before.relative_to(stage.directory).as_posix(),
            after=meant.after.relative_to(stage.directory).as_posix(),
            outputs_checksum=_checksum(outputs),
            stages_s=answer.stages_s,
            extra={
                "parameters": names,
                "program": dict(request.programs[framework]),
                "parity": None if parity is None else parity.to_json_dict(),
                "precision": answer.result["precision"],
                "device_kind": answer.result["device"]["kind"],
            },
        ),
    )


def _parameter_shapes(after: Path, names: Sequence[str]) -> dict[str, str]:
    """Return each parameter's shape, `{"W": "f32[5,5]"}`, in the order of the module's ENTRY parameters."""
    parameters = read_file(after)[0].entry.parameters
    if len(parameters) != len(names):
        return {f"parameter {index}": str(each.shape) for index, each in enumerate(parameters)}
    return {name: str(each.shape) for name, each in zip(names, parameters, strict=True)}


def _checksum(outputs: Outputs) -> str:
    """Return the SHA-256 over the outputs' names and bytes, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(outputs):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(outputs[name]).tobytes())
    return f"sha256:{digest.hexdigest()}"
