"""Whose doing a difference is: the frontend's, the compiler's, or that of both, and how much of it is whose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlacompare.attribution.cells import MEASURES, Cell, Distance, EmptyCell, distance

AnyCell = Cell | EmptyCell
VERDICTS = ("none", "frontend", "compiler", "both", "unknown")


@dataclass(frozen=True, slots=True)
class Share:
    """How one number of the left side comes to differ from that of the right.

    `difference` is left minus right; `frontend` and `compiler` add up to it. Each is the mean of its two ways: the
    frontend is changed under the one compiler and under the other, the compiler for the one program and for the other.

    Attributes:
        interaction: how much the frontend's part depends on the compiler (and so the other way round); 0 where the
            parts simply add up.
    """

    measure: str
    left: float
    right: float
    frontend: float
    compiler: float
    interaction: float

    @property
    def difference(self) -> float:
        return self.left - self.right

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "left": self.left,
            "right": self.right,
            "difference": self.difference,
            "frontend": self.frontend,
            "compiler": self.compiler,
            "interaction": self.interaction,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whose doing the difference between two environments is.

    Attributes:
        left, right: keys of the two columns; each is a frontend and a compiler.
        verdict: one of `VERDICTS`.
        whole: how far the two native cells are apart; None where one is missing.
        by_frontend: compiler -> how far the two frontends' programs are apart under it.
        by_compiler: frontend -> how far its program is apart under the two compilers.
        shares: for each number that is known in all four cells, whose doing its difference is.
        missing: cells that could not be filled.
    """

    left: str
    right: str
    verdict: str
    whole: Distance | None
    by_frontend: Mapping[str, Distance]
    by_compiler: Mapping[str, Distance]
    shares: tuple[Share, ...]
    missing: tuple[EmptyCell, ...]

    @property
    def frontend_share(self) -> float | None:
        """The frontend's part of the kernels that differ, from 0 to 1; None where nothing differs or is known."""
        parts = [_mean(self.by_frontend), _mean(self.by_compiler)]
        if None in parts or not sum(part or 0 for part in parts):
            return None
        return (parts[0] or 0) / sum(part or 0 for part in parts)

    def to_json_dict(self) -> dict[str, Any]:
        share = self.frontend_share
        return {
            "left": self.left,
            "right": self.right,
            "verdict": self.verdict,
            "kernels_apart": {
                "native": None if self.whole is None else self.whole.kernels,
                "by_frontend": {key: each.kernels for key, each in self.by_frontend.items()},
                "by_compiler": {key: each.kernels for key, each in self.by_compiler.items()},
            },
            "frontend_share": share,
            "compiler_share": None if share is None else 1 - share,
            "shares": [each.to_json_dict() for each in self.shares],
        }


def judge(left: str, right: str, cells: Mapping[tuple[str, str], AnyCell]) -> Verdict:
    """Return whose doing the difference between two environments is, from as many of the four cells as there are.

    Args:
        left, right: keys of the columns.
        cells: (frontend, compiler) -> cell, for these four at least.
    """
    four = {key: cells[key] for key in ((left, left), (left, right), (right, left), (right, right))}
    missing = tuple(cell for cell in four.values() if isinstance(cell, EmptyCell))
    by_frontend = {
        compiler: apart for compiler in (left, right) if (apart := _apart(four, (left, compiler), (right, compiler)))
    }
    by_compiler = {
        frontend: apart for frontend in (left, right) if (apart := _apart(four, (frontend, left), (frontend, right)))
    }
    whole = _apart(four, (left, left), (right, right))
    return Verdict(
        left,
        right,
        _verdict(whole, by_frontend, by_compiler),
        whole,
        by_frontend,
        by_compiler,
        tuple(_shares(left, right, four)),
        missing,
    )


def _verdict(whole: Distance | None, by_frontend: Mapping[str, Distance], by_compiler: Mapping[str, Distance]) -> str:
    if whole is not None and not whole.kernels and not whole.operations:
        return "none"
    frontend = any(each.kernels or each.operations for each in by_frontend.values())
    compiler = any(each.kernels or each.operations for each in by_compiler.values())
    if frontend and compiler:
        return "both"
    # One side's innocence is known only where it was tried.
    if frontend and by_compiler:
        return "frontend"
    if compiler and by_frontend:
        return "compiler"
    if by_frontend and by_compiler:
        return "none"
    return "unknown"


def _apart(cells: Mapping[tuple[str, str], AnyCell], one: tuple[str, str], other: tuple[str, str]) -> Distance | None:
    left, right = cells[one], cells[other]
    return distance(left, right) if isinstance(left, Cell) and isinstance(right, Cell) else None


def _shares(left: str, right: str, cells: Mapping[tuple[str, str], AnyCell]) -> list[Share]:
    shares = []
    for measure in MEASURES:
        numbers = {key: cell.numbers.get(measure) if isinstance(cell, Cell) else None for key, cell in cells.items()}
        known = [numbers[key] for key in ((left, left), (left, right), (right, left), (right, right))]
        if None not in known:
            shares.append(split(measure, *[float(number or 0) for number in known]))
    return shares


def split(measure: str, left: float, left_by_right: float, right_by_left: float, right: float) -> Share:
    """Return the parts of frontend and compiler in `left - right`.

    Args:
        left: the left program under the left compiler.
        left_by_right: the left program under the right compiler.
        right_by_left: the right program under the left compiler.
        right: the right program under the right compiler.

    >>> share = split("kernels", 30, 30, 25, 25)
    >>> share.frontend, share.compiler, share.interaction
    (5.0, 0.0, 0)
    """
    frontend = ((left - right_by_left) + (left_by_right - right)) / 2
    compiler = ((left - left_by_right) + (right_by_left - right)) / 2
    return Share(measure, left, right, frontend, compiler, left - left_by_right - right_by_left + right)


def _mean(distances: Mapping[str, Distance]) -> float | None:
    return sum(each.kernels for each in distances.values()) / len(distances) if distances else None
