"""What two compilers did differently with one program: how its kernels were grouped, and who makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlacompare.attribution.cells import Distance
from xlacompare.diff.graph import Kernel
from xlacompare.hlo import Instruction
from xlacompare.kernels import fusion_kind


@dataclass(frozen=True, slots=True)
class CompilerDiff:
    """What two compilers did differently with one program.

    Attributes:
        frontend: key of the column that wrote the program.
        left, right: keys of the compilers.
        verdicts: the diff's verdict on a group of kernels -> how many groups.
        replaced: (what the left compiler runs, what the right one runs for the same operations) -> how many kernels.
    """

    frontend: str
    left: str
    right: str
    verdicts: Mapping[str, int]
    replaced: Mapping[tuple[str, str], int]

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "frontend": self.frontend,
            "left": self.left,
            "right": self.right,
            "verdicts": dict(self.verdicts),
            "replaced": [
                {"left": left, "right": right, "kernels": count} for (left, right), count in self.replaced.items()
            ],
        }


def compare_compilers(frontend: str, left: str, right: str, apart: Distance) -> CompilerDiff:
    """Return what two compilers did differently with the program of `frontend`."""
    verdicts: Counter[str] = Counter()
    replaced: Counter[tuple[str, str]] = Counter()
    for group in apart.diff.groups:
        verdicts[group.verdict] += 1
        if group.verdict == "same_operations":
            ours, theirs = ([kernel_words(kernel) for kernel in apart.diff.kernels(group, side)] for side in (0, 1))
            replaced[" and ".join(ours), " and ".join(theirs)] += 1
    return CompilerDiff(frontend, left, right, dict(verdicts.most_common()), dict(replaced.most_common()))


def kernel_words(kernel: Kernel) -> str:
    """Return what a kernel is, in XLA's words: "kLoop fusion", "kCustom fusion (__ynn_fusion)", "dot"."""
    instruction = kernel.instruction
    kind = fusion_kind(instruction)
    if kind is None:
        return instruction.opcode
    library = library_name(instruction)
    return f"{kind} fusion ({library})" if library else f"{kind} fusion"


def library_name(instruction: Instruction) -> str | None:
    """Return the library that a custom fusion calls, as its backend_config names it."""
    config = instruction.backend_config
    fusion = config.get("fusion_config") if isinstance(config, Mapping) else None
    kind = fusion.get("kind") if isinstance(fusion, Mapping) else None
    return str(kind) if kind else None
