"""The same-compiler control: every frontend's program under every compiler, a child process a compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlacompare.attribution.columns import Column, Places, child_request, orphans, timing_request
from xlacompare.errors import ParityError, XlaCompareError
from xlacompare.parity import Parity, compare_outputs
from xlacompare.worker.launch import Answer, Launch, joined_error, run_all
from xlacompare.worker.tasks.exchange import write_failure
from xlacompare.worker.xla_flags import merge_flags

# Constants in full: the text is compiled again, so an elided one would be another program.
DUMP_FLAGS = ("--xla_dump_hlo_as_text", "--xla_dump_large_constants")
PASS_FLAGS = ("--xla_dump_hlo_pass_re=.*",)

Outputs = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class RawCell:
    """How compiling one frontend's program with one compiler went.

    Attributes:
        frontend: the key of the column whose framework wrote the program.
        compiler: the key of the column whose XLA compiled it.
        directory: what XLA dumped for it; holds nothing of use where `why_not` is set.
        why_not: why this cell could not be filled, None where it was.
        outputs: what the program returned, by name.
    """

    frontend: str
    compiler: str
    directory: Path
    why_not: str | None
    outputs: Outputs | None


@dataclass(frozen=True, slots=True)
class Control:
    """What all children brought back.

    Attributes:
        columns: the environments.
        answers: key -> what its child answered; a column without an answer is missing here.
        cells: a cell for each frontend and compiler, row by row.
    """

    columns: tuple[Column, ...]
    answers: Mapping[str, Answer]
    cells: tuple[RawCell, ...]

    def cell(self, frontend: str, compiler: str) -> RawCell:
        return next(cell for cell in self.cells if (cell.frontend, cell.compiler) == (frontend, compiler))


def run_control(
    columns: Sequence[Column],
    programs: Mapping[str, Mapping[str, Any]],
    places: Places,
    *,
    device: str = "cpu",
    timeout_s: float = 600.0,
    passes: bool = True,
    on_stage: Callable[[str, str], None] | None = None,
) -> Control:
    """Fill the table of frontends and compilers; a cell that cannot be filled says why.

    Args:
        columns: the environments, each both a frontend and a compiler.
        programs: framework -> what its child is asked to build (`worker/tasks/program.py`).
        places: existing folders, with no white space in `exchange`.
        device: "cpu" or "gpu".
        timeout_s: limit for each child.
        passes: dump the module after every pass as well.
        on_stage: called with (framework, stage) as the children go on.

    Raises:
        XlaCompareError: no child brought anything back; the error of the first, with the others' messages.
    """
    for bundle, why in orphans(columns, places).items():
        write_failure(bundle, why)
    launches = [
        _launch(column, columns, programs, places, device=device, timeout_s=timeout_s, passes=passes)
        for column in columns
    ]
    outcomes = run_all(launches, on_stage=on_stage, on_error=_tell_of_failure)
    by_key = dict(zip((column.key for column in columns), outcomes, strict=True))
    answers = {key: outcome for key, outcome in by_key.items() if isinstance(outcome, Answer)}
    if not answers:
        raise joined_error([outcome for outcome in outcomes if not isinstance(outcome, Answer)])
    cells = tuple(
        _raw_cell(frontend, compiler, outcome, places) for frontend in by_key for compiler, outcome in by_key.items()
    )
    return Control(tuple(columns), answers, cells)


def run_alone(
    columns: Sequence[Column],
    programs: Mapping[str, Mapping[str, Any]],
    places: Places,
    *,
    device: str = "cpu",
    timeout_s: float = 600.0,
    at_once: int = 2,
    on_stage: Callable[[str, str], None] | None = None,
) -> list[RawCell]:
    """Compile each column's own program and nothing else, a few columns at once; the arguments are `run_control`'s."""
    cells = []
    for start in range(0, len(columns), at_once):
        batch = columns[start : start + at_once]
        launches = [
            _launch(column, [column], programs, places, device=device, timeout_s=timeout_s, passes=False)
            for column in batch
        ]
        outcomes = run_all(launches, on_stage=on_stage, on_error=_tell_of_failure)
        cells += [
            _raw_cell(column.key, column.key, outcome, places) for column, outcome in zip(batch, outcomes, strict=True)
        ]
    return cells


def time_cells(
    control: Control,
    programs: Mapping[str, Mapping[str, Any]],
    places: Places,
    *,
    device: str = "cpu",
    timeout_s: float = 600.0,
    on_stage: Callable[[str, str], None] | None = None,
) -> tuple[dict[tuple[str, str], float], list[str]]:
    """Time every cell, one compiler after the other, in processes that dump nothing.

    Returns:
        (frontend, compiler) -> median seconds of a run, and a sentence for each compiler that could not be timed.
    """
    seconds, unable = {}, []
    for column in control.columns:
        request = {"task": "cell_times", **programs[column.framework]}
        request.update(timing_request(column, control.columns, places))
        launch = Launch(
            column.framework, request, merge_flags(list(column.xla_flags)), column.python, device, timeout_s
        )
        (outcome,) = run_all([launch], on_stage=on_stage, on_error=_tell_of_failure)
        if isinstance(outcome, Answer):
            seconds.update({(key, column.key): value for key, value in outcome.result["seconds"].items()})
        else:
            unable.append(f"seconds a run under {column.key}'s compiler: {outcome}")
    return seconds, unable


def _launch(
    column: Column,
    columns: Sequence[Column],
    programs: Mapping[str, Mapping[str, Any]],
    places: Places,
    *,
    device: str,
    timeout_s: float,
    passes: bool,
) -> Launch:
    places.dump_root(column.key).mkdir()
    dump_flags = [*DUMP_FLAGS, *(PASS_FLAGS if passes else ()), f"--xla_dump_to={places.dump_root(column.key)}"]
    request = {"task": "cells", **programs[column.framework], **child_request(column, columns, places)}
    flags = merge_flags(list(column.xla_flags), dump_flags)
    return Launch(column.framework, request, flags, column.python, device, timeout_s)


def check_cells(control: Control, *, rtol: float, atol: float) -> tuple[dict[tuple[str, str], Parity], list[str]]:
    """Compare what one program returned under each compiler with what it returned under its own.

    Returns:
        (frontend, compiler) -> parity for the cells that could be compared, and a sentence for each that disagrees.
    """
    parities, doubts = {}, []
    for cell in control.cells:
        own = control.cell(cell.frontend, cell.frontend)
        if cell.outputs is None or own.outputs is None or cell is own:
            continue
        names = (f"{cell.frontend}'s program under {cell.frontend}", f"under {cell.compiler}")
        try:
            parities[cell.frontend, cell.compiler] = compare_outputs(
                own.outputs, cell.outputs, rtol=rtol, atol=atol, names=names
            )
        except ParityError as error:
            doubts.append(str(error))
    return parities, doubts


def _tell_of_failure(launch: Launch, error: XlaCompareError) -> None:
    request = launch.request
    bundles = [*request.get("offers", {}).values(), *(each["stablehlo"] for each in request.get("conversions", ()))]
    for bundle in bundles:
        if not Path(bundle).exists():
            write_failure(Path(bundle), f"its frontend failed: {error}")


def _raw_cell(frontend: str, compiler: str, outcome: Answer | XlaCompareError, places: Places) -> RawCell:
    directory, outputs = places.cell(frontend, compiler), places.outputs(frontend, compiler)
    # A child that crashed in one cell has left those before it complete.
    if outputs.exists():
        with np.load(outputs) as stored:
            return RawCell(frontend, compiler, directory, None, dict(stored))
    if isinstance(outcome, Answer):
        return RawCell(frontend, compiler, directory, outcome.result["cells"][frontend]["why"], None)
    return RawCell(frontend, compiler, directory, str(outcome), None)
