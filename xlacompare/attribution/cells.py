"""What XLA made of one frontend's program under one compiler, in numbers, and how far two of these are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlacompare.census import Census, census
from xlacompare.diff import Diff, diff
from xlacompare.dumps import DumpedModule, debug_options, memory_use, read_folder
from xlacompare.hlo import Module, fingerprint, read_file
from xlacompare.hlo.cost import module_cost

# Numbers of a cell that are compared, and what they are called in words.
MEASURES = {
    "kernels": "kernels",
    "fusions": "fusions",
    "launches": "launches",
    "moved_bytes": "bytes moved",
    "temp_bytes": "bytes of scratch memory",
    "run_s": "seconds a run",
}
DUMPING = ("xla_dump", "xla_detailed_logging")


@dataclass(frozen=True, slots=True)
class Cell:
    """One frontend's program under one compiler.

    Attributes:
        frontend, compiler: keys of columns.
        directory: the dump folder.
        module: the module that is meant, as the folder has it.
        before, after: the module before and after optimizations; `before` is None where the folder lacks it.
        census: what is counted of `after`.
        numbers: measure -> number, None where it is not known; see `MEASURES`.
        options: XLA's options that were not at their default, those for dumping left out.
        parameter_names: the arguments' names in the order of the parameters; empty where they are not known.
    """

    frontend: str
    compiler: str
    directory: Path
    module: DumpedModule
    before: Module | None
    after: Module
    census: Census
    numbers: Mapping[str, float | None]
    options: Mapping[str, str]
    parameter_names: tuple[str, ...]

    @property
    def signature(self) -> str:
        """A fingerprint of ENTRY and what it calls: equal where two cells run the same."""
        return fingerprint(self.after.entry)[:16]

    def to_json_dict(self) -> dict[str, Any]:
        """Return the cell as it stands under "cells" of an `xlacompare.attribution` document."""
        return {
            "frontend": self.frontend,
            "compiler": self.compiler,
            **{name: self.numbers.get(name) for name in MEASURES},
            "signature": self.signature,
            "options": dict(self.options),
            "why_not": None,
        }


@dataclass(frozen=True, slots=True)
class EmptyCell:
    """A cell that could not be filled, and why."""

    frontend: str
    compiler: str
    why_not: str

    def to_json_dict(self) -> dict[str, Any]:
        nothing = dict.fromkeys((*MEASURES, "signature"))
        return {"frontend": self.frontend, "compiler": self.compiler, **nothing, "why_not": self.why_not}


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two cells are apart.

    Attributes:
        kernels: kernels of both sides that are not the same kernel on the other.
        operations: primitive operations of both sides that have no counterpart on the other.
        diff: the diff itself.
    """

    kernels: int
    operations: int
    diff: Diff


def read_cell(
    frontend: str,
    compiler: str,
    directory: Path,
    *,
    wanted: str | None = None,
    parameter_names: Sequence[str] = (),
    run_s: float | None = None,
) -> Cell:
    """Return what a dump folder holds of one cell.

    Raises:
        DumpError: the folder has no module of that name, or none after optimizations.
        HloError: its text cannot be read.
    """
    folder = read_folder(directory, wanted=wanted)
    module = folder.main
    after = read_file(module.text)[0]
    counts = census(after, platform=module.platform, stage="after")
    memory = memory_use(module)
    weighted = counts.weighted.kernels
    numbers: dict[str, float | None] = {
        "kernels": counts.reachable.kernels,
        "fusions": counts.reachable.fusions,
        "launches": counts.reachable.kernels if weighted is None and not counts.loops else weighted,
        "moved_bytes": _moved_bytes(after),
        "temp_bytes": None if memory is None else memory.temp_bytes,
        "run_s": run_s,
    }
    options = {name: value for name, value in debug_options(module).items() if not name.startswith(DUMPING)}
    before = None if module.before is None else read_file(module.before)[0]
    names = tuple(parameter_names) if len(parameter_names) == len(after.entry.parameters) else ()
    return Cell(frontend, compiler, directory, module, before, after, counts, numbers, options, names)


def _moved_bytes(module: Module) -> int | None:
    cost = module_cost(module)
    # A loop of unknown length, or branches that differ, make the sum unknown.
    return None if cost.bytes_read is None or cost.bytes_written is None else cost.bytes_read + cost.bytes_written


def distance(left: Cell, right: Cell) -> Distance:
    """Return how far what runs in one cell is from what runs in another."""
    return module_distance(left.after, right.after, left.parameter_names, right.parameter_names)


def module_distance(
    left: Module, right: Module, left_names: Sequence[str] = (), right_names: Sequence[str] = ()
) -> Distance:
    """Return how far two modules are apart."""
    found = diff(left, right, left_parameters=left_names or None, right_parameters=right_names or None)
    counts = found.operation_counts
    apart = sum(len(group.left) + len(group.right) for group in found.groups if group.verdict != "identical")
    return Distance(apart, counts["left_only"] + counts["right_only"], found)
