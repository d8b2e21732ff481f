"""The same difference in every layer is one difference: groups of kernels that look alike are folded into one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xlacompare.diff.graph import Graph
from xlacompare.diff.kernels import KernelGroup
from xlacompare.diff.result import Diff


@dataclass(frozen=True, slots=True)
class Fold:
    """Groups that differ in the same way; the first stands for all of them."""

    groups: tuple[KernelGroup, ...]

    @property
    def first(self) -> KernelGroup:
        return self.groups[0]

    @property
    def times(self) -> int:
        return len(self.groups)


def fold(diff: Diff) -> list[Fold]:
    """Return the groups of a diff folded, in the order of the first of each fold."""
    folds: dict[Hashable, list[KernelGroup]] = {}
    for group in diff.groups:
        folds.setdefault(_looks(diff, group), []).append(group)
    return [Fold(tuple(groups)) for groups in folds.values()]


def _looks(diff: Diff, group: KernelGroup) -> Hashable:
    left, right = diff.graphs
    return (
        group.verdict,
        group.notes,
        _inside(left, group.left),
        _inside(right, group.right),
        _labels(left, group.left_only),
        _labels(right, group.right_only),
        _labels(left, group.left_moved),
        _labels(right, group.right_moved),
    )


def _inside(graph: Graph, kernels: tuple[int, ...]) -> Hashable:
    return tuple(
        (
            kernel.kernel_class,
            len(kernel.scope),
            tuple(sorted(graph.labels[node] for node in kernel.operations)),
            kernel.written_bytes,
        )
        for kernel in (graph.kernels[index] for index in kernels)
    )


def _labels(graph: Graph, nodes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(graph.labels[node] for node in nodes))
