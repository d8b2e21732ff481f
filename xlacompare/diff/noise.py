"""What differs between compilations of one and the same program: below this no difference means anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xlacompare.diff.result import Diff


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """How alike repeated compilations of one program are.

    Attributes:
        diffs: the first compilation against each of the others.
    """

    diffs: tuple[Diff, ...]

    @property
    def identical(self) -> bool:
        """Whether every compilation gave the same program."""
        return all(diff.identical for diff in self.diffs)

    @property
    def different(self) -> tuple[int, ...]:
        """Numbers of the compilations, counted from 2, that are not identical to the first."""
        return tuple(number for number, diff in enumerate(self.diffs, 2) if not diff.identical)

    @property
    def verdicts(self) -> dict[str, int]:
        """How many groups of kernels over all diffs have each verdict other than identical."""
        counts: dict[str, int] = {}
        for diff in self.diffs:
            for group in diff.groups:
                if group.verdict != "identical":
                    counts[group.verdict] = counts.get(group.verdict, 0) + 1
        return counts

    def to_json_dict(self) -> dict[str, Any]:
        return {"compilations": len(self.diffs) + 1, "different": list(self.different), "verdicts": self.verdicts}


def noise_floor(diffs: Sequence[Diff]) -> NoiseFloor:
    """Return the noise floor from diffs of the first compilation against each further one."""
    return NoiseFloor(tuple(diffs))
