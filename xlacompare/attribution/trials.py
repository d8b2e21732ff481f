"""Trials: one option changed on one side, and what is left of the compilers' difference then."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlacompare.attribution.cells import Cell, distance, read_cell
from xlacompare.attribution.columns import Column, Places
from xlacompare.attribution.control import RawCell, run_alone
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
    sides: tuple[Column, Column], cells: Mapping[tuple[str, str], Any], plan: TrialPlan, *, thorough: bool
) -> list[Trial]:
    """Return what changing one option at a time on one side does to its distance from the other compiler.

    Flags that one side alone was given are taken away; if `thorough`, the other side's options and known switches are
    set as well. Every trial is a process of its own, since XLA reads its flags once.
    """
    ideas = [
        *_ideas(sides[0], sides[1], cells, thorough=thorough),
        *_ideas(sides[1], sides[0], cells, thorough=thorough),
    ]
    # Both sides' first, then both sides' second: two children of unlike frameworks share the machine best.
    order = sorted(
        range(len(ideas)), key=lambda index: sum(idea.column == ideas[index].column for idea in ideas[:index])
    )
    columns = [replace(ideas[index].changed, key=f"trial-{index}") for index in order]
    with tempfile.TemporaryDirectory(prefix="xlacompare-") as folder:
        places = Places(Path(folder) / "cells", Path(folder) / "exchange")
        places.cells.mkdir()
        places.exchange.mkdir()
        raw = run_alone(
            columns, plan.programs, places, device=plan.device, timeout_s=plan.timeout_s, on_stage=plan.on_stage
        )
        by_key = {cell.frontend: cell for cell in raw}
        return [_trial(idea, by_key[f"trial-{index}"], plan) for index, idea in enumerate(ideas)]


@dataclass(frozen=True, slots=True)
class Idea:
    """Something to try: the column's key, the column as it is to be compiled, and what it is compared with."""

    column: str
    other: str
    change: str
    flag: str
    changed: Column
    before: int
    foreign: Cell


def _ideas(column: Column, other: Column, cells: Mapping[tuple[str, str], Any], *, thorough: bool) -> list[Idea]:
    native, foreign = cells.get((column.key, column.key)), cells.get((column.key, other.key))
    if not isinstance(native, Cell) or not isinstance(foreign, Cell):
        return []
    before = distance(native, foreign).kernels
    changes = [("without", flag) for flag in own_flags(column.xla_flags, other.xla_flags)]
    if thorough and before:
        changes += [("with", flag) for flag in candidates(native, foreign, column.xla_flags, other.xla_flags)]
    ideas = []
    for change, flag in changes:
        flags = tuple(each for each in column.xla_flags if each != flag) + ((flag,) if change == "with" else ())
        changed = replace(column, xla_flags=flags)
        ideas.append(Idea(column.key, other.key, change, flag, changed, before, foreign))
    return ideas


def _trial(idea: Idea, raw: RawCell, plan: TrialPlan) -> Trial:
    after, why_not = None, raw.why_not
    if why_not is None:
        names = idea.foreign.parameter_names
        try:
            cell = read_cell(idea.column, idea.column, raw.directory, wanted=plan.wanted, parameter_names=names)
            after = distance(cell, idea.foreign).kernels
        except XlaCompareError as error:
            why_not = str(error)
    return Trial(idea.column, idea.other, idea.change, idea.flag, idea.before, after, why_not)
