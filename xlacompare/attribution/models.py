"""`attribute MODEL`: compile every frontend's program with every compiler, and say whose doing the differences are."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from xlacompare.attribution.cells import Cell, EmptyCell, read_cell
from xlacompare.attribution.columns import Column, Places, name_columns
from xlacompare.attribution.compilers import compare_compilers
from xlacompare.attribution.control import Control, RawCell, check_cells, run_control, time_cells
from xlacompare.attribution.frontends import compare_frontends
from xlacompare.attribution.keeping import describe_cells
from xlacompare.attribution.options import option_differences
from xlacompare.attribution.passes import PipelineDiff, compare_pipelines
from xlacompare.attribution.pipeline import Step, read_pipeline
from xlacompare.attribution.result import Attribution, Environment
from xlacompare.attribution.trials import TrialPlan, try_options
from xlacompare.attribution.verdict import AnyCell, Verdict, judge
from xlacompare.dump import DumpRequest, dump_home
from xlacompare.dumps import check_free, publish
from xlacompare.errors import DumpError, HloError, UsageError, WorkerFailed
from xlacompare.parity import Parity, compare_outputs
from xlacompare.worker.launch import DISPLAY_NAMES
from xlacompare.worker.xla_flags import check_flags, user_flags

KEPT_AS = "attribution"
# The package of a framework that embeds XLA, whose version names the compiler.
COMPILER_PACKAGES = {"jax": "jaxlib", "tensorflow": "tensorflow"}


def attribute(
    request: DumpRequest,
    *,
    further_pythons: Mapping[str, Sequence[str]] | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    try_flags: bool = False,
    time: bool = False,
    on_stage: Callable[[str, str], None] | None = None,
) -> Attribution:
    """Return whose doing the differences of a model are.

    Args:
        request: the model and how to compile it, as `xlacompare.dump.dump_request` makes it; its `pythons` are not
            looked at.
        further_pythons: framework -> interpreters of other environments, each a compiler more. Where the interpreter
            that runs now lacks the framework, the first stands in for it.
        out: keep the cells' dump folders in OUT/NAME/VARIANT/attribution; None keeps nothing.
        overwrite: replace what is there.
        try_flags: try the other side's options and known switches, one at a time.
        time: run every program under every compiler as well, and say how long a run takes.
        on_stage: called with (framework, stage) as the children go on.

    Raises:
        UsageError: a flag that XLA would misread, or fewer than two environments.
        DumpError: the folder to keep is in use.
        ParityError: the two frameworks do not compute the same; nothing is attributed.
        XlaCompareError: fewer than two cells could be filled, from which nothing can be said.
    """
    columns = plan_columns(request, further_pythons or {})
    home = None if out is None else dump_home(out, request.name, request.variant) / KEPT_AS
    if home is not None:
        check_free(home, overwrite=overwrite)
    with scratch(home) as places:
        control = run_control(
            columns,
            request.programs,
            places,
            device=request.device,
            timeout_s=request.timeout_s,
            on_stage=on_stage,
        )
        wanted = next(iter(control.answers.values())).result["name"]
        plan = TrialPlan(request.programs, wanted, request.device, request.timeout_s, on_stage)
        seconds: Mapping[tuple[str, str], float] = {}
        untimed: list[str] = []
        if time:
            seconds, untimed = time_cells(
                control,
                request.programs,
                places,
                device=request.device,
                timeout_s=request.timeout_s,
                on_stage=on_stage,
            )
        found = conclude(request, control, places, plan, try_flags=try_flags, seconds=seconds)
        found = replace(found, unable=(*found.unable, *untimed))
        if home is not None:
            describe_cells(found.cells, control, request)
            publish(places.cells, home, overwrite=overwrite)
    return found


def plan_columns(request: DumpRequest, further_pythons: Mapping[str, Sequence[str]]) -> list[Column]:
    """Return the environments: this one for each framework, then the others.

    Raises:
        UsageError: there are fewer than two, or a flag is one that XLA would misread.
    """
    main: list[tuple[str, str | None, tuple[str, ...]]] = []
    further: list[tuple[str, str | None, tuple[str, ...]]] = []
    for framework in request.frameworks:
        given = check_flags(request.xla_flags.get(framework, ""), f"--{framework}-xla-flags or --xla-flags")
        flags = (*user_flags(), *given)
        pythons: list[str | None] = [*further_pythons.get(framework, ())]
        if importlib.util.find_spec(framework) is not None or not pythons:
            pythons.insert(0, None)
        main.append((framework, pythons[0], flags))
        further += [(framework, python, flags) for python in pythons[1:]]
    if len(main) + len(further) < 2:
        raise UsageError(
            "attribute needs two environments to tell a frontend from a compiler: two frameworks, or one and another "
            f"version of it by --{request.frameworks[0]}-python PATH."
        )
    return name_columns([*main, *further])


@contextmanager
def scratch(home: Path | None) -> Iterator[Places]:
    """Yield folders to work in; the cells grow beside the place where they are to be kept, if anywhere."""
    exchange = Path(tempfile.mkdtemp(prefix="xlacompare-"))
    cells = exchange / "cells"
    new_folders = [] if home is None else [folder for folder in home.parents if not folder.exists()]
    try:
        if home is not None:
            home.parent.mkdir(parents=True, exist_ok=True)
            cells = Path(tempfile.mkdtemp(prefix=f".{KEPT_AS}.partial-", dir=home.parent))
        else:
            cells.mkdir()
        yield Places(cells, exchange)
    finally:
        shutil.rmtree(cells, ignore_errors=True)
        shutil.rmtree(exchange, ignore_errors=True)
        for folder in new_folders:
            # Folders that this run made for nothing go again; one with something in it stays.
            with suppress(OSError):
                folder.rmdir()


def conclude(
    request: DumpRequest,
    control: Control,
    places: Places,
    plan: TrialPlan,
    *,
    try_flags: bool,
    seconds: Mapping[tuple[str, str], float],
) -> Attribution:
    """Return the findings from what the children brought back."""
    cells = {(raw.frontend, raw.compiler): _read(raw, control, plan.wanted, seconds) for raw in control.cells}
    left, right = control.columns[:2]
    empty = [cell for cell in cells.values() if isinstance(cell, EmptyCell)]
    if len(cells) - len(empty) < 2:
        # Nothing can be said from one cell; what ended one child empties several, and is said once.
        reasons = "\n".join(dict.fromkeys(cell.why_not for cell in empty))
        raise WorkerFailed(reasons, framework=left.framework, stage="compile")
    parity = _parity(request, left, right, places)
    main = judge(left.key, right.key, cells)
    _, doubts = check_cells(control, rtol=request.rtol, atol=request.atol)
    trials = try_options((left, right), cells, plan, thorough=try_flags)
    compiler = next(iter(main.by_frontend), None)
    natives = cells[left.key, left.key], cells[right.key, right.key]
    both = all(isinstance(cell, Cell) for cell in natives)
    return Attribution(
        title=f"{request.name} · {request.variant}",
        environments=tuple(_environment(column, control) for column in control.columns),
        cells=tuple(cells.values()),
        verdicts=(main, *(judge(*pair, cells) for pair in further_pairs(control.columns))),
        frontends=compare_frontends(*natives, main.by_frontend.get(compiler or ""), compiler)  # type: ignore[arg-type]
        if both
        else None,
        compilers=tuple(
            compare_compilers(frontend, left.key, right.key, apart) for frontend, apart in main.by_compiler.items()
        ),
        pipelines=tuple(_pipelines(main, cells)),
        options=option_differences(_options(cells, left.key), _options(cells, right.key)),
        trials=tuple(trials),
        parity=parity,
        doubts=tuple(doubts),
        unable=tuple(_unable(control, cells)),
    )


def further_pairs(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Return each further column paired with the first of its framework, unless that is the main pair itself."""
    main = columns[0].key, columns[1].key
    first: dict[str, str] = {}
    pairs = []
    for column in columns:
        pair = first.setdefault(column.framework, column.key), column.key
        if pair[0] != pair[1] and pair != main:
            pairs.append(pair)
    return pairs


def _read(raw: RawCell, control: Control, wanted: str, seconds: Mapping[tuple[str, str], float]) -> AnyCell:
    if raw.why_not is not None:
        return EmptyCell(raw.frontend, raw.compiler, raw.why_not)
    # The order of the arguments is that of whoever wrote the program.
    answer = control.answers.get(raw.frontend)
    names = answer.result["parameter_names"] if answer else ()
    try:
        return read_cell(
            raw.frontend,
            raw.compiler,
            raw.directory,
            wanted=wanted,
            parameter_names=names,
            run_s=seconds.get((raw.frontend, raw.compiler)),
        )
    except (DumpError, HloError) as error:
        return EmptyCell(raw.frontend, raw.compiler, f"it compiled and ran, and its dump cannot be used: {error}")


def _environment(column: Column, control: Control) -> Environment:
    answer = control.answers.get(column.key)
    versions = answer.result["versions"] if answer else {}
    package = COMPILER_PACKAGES[column.framework]
    label = f"{package} {versions[package]}" if package in versions else DISPLAY_NAMES[column.framework]
    return Environment(column.key, column.framework, label, versions, column.xla_flags, column.python)


def _parity(request: DumpRequest, left: Column, right: Column, places: Places) -> Parity | None:
    files = places.parity(left.key), places.parity(right.key)
    if not all(file.exists() for file in files):
        return None
    outputs = []
    for file in files:
        with np.load(file) as stored:
            outputs.append(dict(stored))
    return compare_outputs(*outputs, rtol=request.rtol, atol=request.atol, names=(left.key, right.key))


def _pipelines(main: Verdict, cells: Mapping[tuple[str, str], AnyCell]) -> Iterator[PipelineDiff]:
    """Yield one program under two compilers where the compilers differ, and two programs under one likewise."""
    known: dict[tuple[str, str], tuple[Step, ...]] = {}

    def compared(one: tuple[str, str], other: tuple[str, str], names: tuple[str, str]) -> PipelineDiff:
        left, right = cells[one], cells[other]
        assert isinstance(left, Cell)
        assert isinstance(right, Cell)
        for key, cell in ((one, left), (other, right)):
            if key not in known:
                known[key] = read_pipeline(cell.module)
        return compare_pipelines(known[one], known[other], names, (left.parameter_names, right.parameter_names))

    def words(frontend: str, compiler: str) -> str:
        return f"{frontend}'s program by {compiler}"

    for frontend, apart in list(main.by_compiler.items())[:1]:
        if apart.kernels or apart.operations:
            one, other = (frontend, main.left), (frontend, main.right)
            yield compared(one, other, (words(*one), words(*other)))
    for compiler, apart in list(main.by_frontend.items())[:1]:
        if apart.kernels or apart.operations:
            one, other = (main.left, compiler), (main.right, compiler)
            yield compared(one, other, (words(*one), words(*other)))


def _options(cells: Mapping[tuple[str, str], AnyCell], compiler: str) -> Mapping[str, str]:
    for (_, by), cell in cells.items():
        if by == compiler and isinstance(cell, Cell):
            return cell.options
    return {}


def _unable(control: Control, cells: Mapping[tuple[str, str], AnyCell]) -> Iterator[str]:
    for (frontend, compiler), cell in cells.items():
        if isinstance(cell, EmptyCell):
            yield f"{frontend}'s program under {compiler}'s compiler: {cell.why_not}"
    for key, answer in control.answers.items():
        if not answer.result["parity"]["ok"]:
            yield f"{key}'s outputs for the comparison with the other frontend: {answer.result['parity']['why']}"
