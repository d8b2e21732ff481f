"""What the tables of a diff say, cell by cell, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlacompare.diff import Diff, KernelGroup
from xlacompare.diff.folding import Fold
from xlacompare.diff.formulas import formula
from xlacompare.diff.graph import Kernel
from xlacompare.diff.matching import OTHER_VALUE
from xlacompare.diff.origin import short_origin
from xlacompare.report.diff_words import opcode_list
from xlacompare.report.quantities import bytes_

VERDICT_WORDS = {
    "identical": "identical",
    "same_operations": "same operations",
    "merged": "merged",
    "split": "split",
    "regrouped": "regrouped",
    "left_only": "only left",
    "right_only": "only right",
}
MAX_ORIGINS = 3


@dataclass(frozen=True, slots=True)
class KernelCell:
    """One kernel in a table.

    Attributes:
        name: the kernel.
        tags: "library call", "copy", the scope that it stands in.
        inside: the operations in it.
        origins: where they came from in the user's program.
        moves: the bytes that it reads and writes, where its group moves another amount on the other side; else empty.
    """

    name: str
    tags: str
    inside: str
    origins: tuple[str, ...]
    moves: str


def verdict_words(diff: Diff, group: KernelGroup) -> str:
    """Return the verdict in words, with the sides' names."""
    if group.verdict == "left_only":
        return f"only {diff.labels[0]}"
    if group.verdict == "right_only":
        return f"only {diff.labels[1]}"
    return VERDICT_WORDS[group.verdict]


def kernel_cells(diff: Diff, side: int, group: KernelGroup) -> list[KernelCell]:
    """Return what a table says of a group's kernels of one side."""
    moves_alike = diff.traffic_bytes(group, 0) == diff.traffic_bytes(group, 1)
    return [_kernel_cell(diff, side, kernel, moves_alike) for kernel in diff.kernels(group, side)]


def _kernel_cell(diff: Diff, side: int, kernel: Kernel, moves_alike: bool) -> KernelCell:
    graph = diff.graphs[side]
    nodes = [node for node in kernel.operations if not diff.trivial[side][node]] or kernel.operations
    tags = []
    if kernel.kernel_class == "library":
        tags.append("library call")
    elif kernel.kernel_class != "own":
        tags.append(kernel.kernel_class)
    if kernel.scope:
        tags.append("in " + "/".join(kernel.scope))
    origins: dict[str, None] = {}
    for node in nodes:
        where = short_origin(graph.instructions[node])
        if where is not None:
            origins[where] = None
    shown = tuple(origins)[:MAX_ORIGINS]
    if len(origins) > MAX_ORIGINS:
        shown = (*shown, f"{len(origins) - MAX_ORIGINS} more")
    return KernelCell(
        name=kernel.name,
        tags=", ".join(tags),
        inside=opcode_list([graph.instructions[node].opcode for node in nodes], 12),
        origins=shown,
        moves="" if moves_alike else f"moves {bytes_(kernel.read_bytes + kernel.written_bytes)}",
    )


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation of an opened pair: its two sides, and a word on how they differ."""

    left: str
    right: str
    remark: str


def operation_rows(diff: Diff, group: KernelGroup) -> list[OperationRow]:
    """Return a group operation by operation: matched ones beside one another, then those of one side."""
    rows = []
    to_right = diff.matching.to_right
    for node in group.matched:
        partner = to_right[node]
        times = len(diff.graphs[0].places[node]), len(diff.graphs[1].places[partner])
        remark = "" if times[0] == times[1] or diff.trivial[0][node] else f"computed {times[0]}x / {times[1]}x"
        if diff.matching.how.get(node) == OTHER_VALUE:
            remark = "another value"
        rows.append(OperationRow(operation_text(diff, 0, node), operation_text(diff, 1, partner), remark))
    for node in group.left_moved:
        rows.append(OperationRow(operation_text(diff, 0, node), "", _stands(diff, 1, to_right[node])))
    for node in group.right_moved:
        rows.append(OperationRow("", operation_text(diff, 1, node), _stands(diff, 0, diff.matching.to_left[node])))
    for node in group.left_only:
        rows.append(OperationRow(operation_text(diff, 0, node), "", f"only {diff.labels[0]}"))
    for node in group.right_only:
        rows.append(OperationRow("", operation_text(diff, 1, node), f"only {diff.labels[1]}"))
    return rows


def _stands(diff: Diff, side: int, node: int) -> str:
    names = [kernel.name for kernel in diff.standing_in(side, node)]
    return f"{diff.labels[side]}: in {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def operation_text(diff: Diff, side: int, node: int) -> str:
    """Return an operation as `add f32[5] = W @ x + b`."""
    instruction = diff.graphs[side].instructions[node]
    text = formula(diff, side, node, abridged=True)
    spelled = f" = {text}" if text is not None and instruction.opcode not in ("parameter",) else ""
    return f"{instruction.opcode} {instruction.shape}{spelled}"


def fold_title(fold: Fold) -> str:
    """Return "x24" where a difference occurs more than once."""
    return f"x{fold.times}" if fold.times > 1 else ""


def most_telling(diff: Diff, folds: Sequence[Fold]) -> KernelGroup | None:
    """Return the group that is worth opening: the one with most to see that is not the same on both sides."""
    candidates = [fold.first for fold in folds if fold.first.verdict not in ("identical", "same_operations")]
    if not candidates:
        return None

    def differences(group: KernelGroup) -> int:
        return (
            len(group.left_moved) + len(group.right_moved) + len(group.left_only) + len(group.right_only)
            + (10 if group.left and group.right else 0)
        )  # fmt: skip

    return max(candidates, key=differences)
