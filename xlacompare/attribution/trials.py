"""Trials: one option changed on one side, and what is left of the compilers' difference then."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlacompare.attribution.cells import Cell, distance, read_cell
from xlacompare.attribution.columns import Column, Places
from xlacompare.attribution.control import run_control
from xlacompare.attribution.options import candidates, own_flags
from xlacompare.errors import XlaCompareError


@dataclass(frozen=True, slots=True)
class Trial:
    """One option changed for one compiler, with the program of its own frontend.

    Attributes:
        column: key of the compiler.
        other: key of the compiler that it is compared with.
        change: "without" a flag that this side alone was given, or "with" one more.
        flag: the flag.
        before, after: kernels that differ from the other compiler's; `after` is None where the trial failed.
        why_not: why it failed.
    """

    column: str
    other: str
    change: str
    flag: str
    before: int
    after: int | None
    why_not: str | None

    @property
    def explained(self) -> int:
        """How many of the kernels that differ this option accounts for; negative where it drives them apart."""
        return 0 if self.after is None else self.before - self.after

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "other": self.other,
            "change": self.change,
            "flag": self.flag,
            "kernels_apart_before": self.before,
            "kernels_apart_after": self.after,
            "why_not": self.why_not,
        }


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """What it takes to compile one column again.

    Attributes:
        programs: framework -> what its child is asked to build.
        wanted: the function's name.
        device, timeout_s: see `run_control`.
        on_stage: likewise.
    """

    programs: Mapping[str, Mapping[str, Any]]
    wanted: str
    device: str = "cpu"
    timeout_s: float = 600.0
    on_stage: Callable[[str, str], None] | None = None


def try_options(
    column: Column, other: Column, cells: Mapping[tuple[str, str], Any], plan: TrialPlan, *, thorough: bool
) -> list[Trial]:
    """Return what changing one option at a time on one side does to its distance from the other compiler.

    Flags that this side alone was given are taken away; if `thorough`, the other side's options and known switches
    are set as well.
    """
    native, foreign = cells.get((column.key, column.key)), cells.get((column.key, other.key))
    if not isinstance(native, Cell) or not isinstance(foreign, Cell):
        return []
    before = distance(native, foreign).kernels
    changes = [("without", flag) for flag in own_flags(column.xla_flags, other.xla_flags)]
    if thorough and before:
        changes += [("with", flag) for _, flag in candidates(native, foreign, column.xla_flags, other.xla_flags)]
    trials = []
    for change, flag in changes:
        flags = tuple(each for each in column.xla_flags if each != flag) + ((flag,) if change == "with" else ())
        after, why_not = _kernels_apart(replace(column, xla_flags=flags), foreign, plan)
        trials.append(Trial(column.key, other.key, change, flag, before, after, why_not))
    return trials


def _kernels_apart(column: Column, foreign: Cell, plan: TrialPlan) -> tuple[int | None, str | None]:
    with tempfile.TemporaryDirectory(prefix="xlacompare-") as folder:
        places = Places(Path(folder) / "cells", Path(folder) / "exchange")
        places.cells.mkdir()
        places.exchange.mkdir()
        try:
            control = run_control(
                [column],
                plan.programs,
                places,
                device=plan.device,
                timeout_s=plan.timeout_s,
                passes=False,
                on_stage=plan.on_stage,
            )
            raw = control.cell(column.key, column.key)
            if raw.why_not is not None:
                return None, raw.why_not
            cell = read_cell(column.key, column.key, raw.directory, wanted=plan.wanted)
        except XlaCompareError as error:
            return None, str(error)
        return distance(replace(cell, parameter_names=foreign.parameter_names), foreign).kernels, None
