"""XLA's options: which differ between two cells, and which are worth trying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlacompare.attribution.cells import Cell

# Options that have changed hands between XLAs of different months and move kernels on CPU, with the values to try.
# A build that does not know one ends the process, and the trial says so.
KNOBS = (
    "--xla_cpu_experimental_ynn_fusion_type=",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_use_onednn=true",
    "--xla_cpu_experimental_onednn_custom_call=true",
    "--xla_cpu_use_xnnpack=false",
    "--xla_cpu_enable_fast_math=true",
    "--xla_cpu_enable_fast_min_max=true",
)


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """An option that is not at its default on one side, or at another value there; None is the default."""

    name: str
    left: str | None
    right: str | None

    def to_json_dict(self) -> dict[str, Any]:
        return {"name": self.name, "left": self.left, "right": self.right}


def option_differences(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[OptionDifference, ...]:
    """Return the options that differ, by name.

    >>> option_differences({"xla_a": "1", "xla_b": "2"}, {"xla_b": "2"})
    (OptionDifference(name='xla_a', left='1', right=None),)
    """
    names = sorted(set(left) | set(right))
    return tuple(
        OptionDifference(name, left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)
    )


def flag_name(flag: str) -> str:
    """Return an option's name without dashes and value.

    >>> flag_name("--xla_cpu_enable_fast_math=true")
    'xla_cpu_enable_fast_math'
    """
    return flag.removeprefix("--").partition("=")[0]


def own_flags(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the flags that one side was given and the other was not, or with another value."""
    return [flag for flag in dict.fromkeys(ours) if flag not in theirs]


def candidates(cell: Cell, other: Cell, flags: Sequence[str], other_flags: Sequence[str]) -> list[str]:
    """Return the flags to try on one side: each option of the other side, then the knobs."""
    tries = own_flags(other_flags, flags)
    named = {flag_name(flag) for flag in (*flags, *other_flags)}
    for difference in option_differences(cell.options, other.options):
        if difference.right is not None and difference.name not in named:
            tries.append(f"--{difference.name}={difference.right}")
    tried = {flag_name(flag) for flag in tries} | named
    return tries + [flag for flag in KNOBS if flag_name(flag) not in tried]
