"""The differences that matter, as facts: which operations stand in which kernels on either side, and alone or not.

Reports put these into words; nothing here knows a framework or a model.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from xlacompare.diff.graph import Kind
from xlacompare.diff.result import Diff


@dataclass(frozen=True, slots=True)
class Placement:
    """Matched operations that stand in the same kernels as one another, where the two sides differ about which.

    Attributes:
        nodes: left nodes, in the text's order.
        kernels: per side, indices of the kernels that compute them.
        alone: per side, whether these are all that their kernel computes.
        recomputed: per side, whether one kernel works them out again for every element that needs them.
        companions: per side, the most telling other node of their kernel (of that side); None where alone.
    """

    nodes: tuple[int, ...]
    kernels: tuple[tuple[int, ...], tuple[int, ...]]
    alone: tuple[bool, bool]
    recomputed: tuple[bool, bool]
    companions: tuple[int | None, int | None]

    @property
    def weight(self) -> int:
        """How much there is to say: kernels of one's own first, then operations in several kernels."""
        return 4 * (self.alone[0] != self.alone[1]) + abs(len(self.kernels[0]) - len(self.kernels[1]))


# What says most about a kernel, in order: the first of these that it holds is named.
_TELLING_WORDS = """dot convolution custom-call cholesky triangular-solve fft sort scatter gather reduce reduce-window
    select-and-scatter concatenate dynamic-update-slice dynamic-slice rng-bit-generator"""
_TELLING = _TELLING_WORDS.split()


def placements(diff: Diff) -> list[Placement]:
    """Return the placements on which the sides differ, weightiest first."""
    matching = diff.matching
    partners, lone = _pairs(diff), _lone_pairs(diff)
    classes: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = defaultdict(list)
    for node, kind in enumerate(matching.left.kinds):
        partner = matching.to_right[node]
        if kind != Kind.OPERATION or partner < 0 or _is_light(diff, 0, node):
            continue
        ours = tuple(sorted(set(matching.left.places[node]) - {-1}))
        theirs = tuple(sorted(set(matching.right.places[partner]) - {-1}))
        classes[ours, theirs].append(node)
    found = []
    for (ours, theirs), nodes in classes.items():
        if not ours or not theirs:
            continue
        alone = _alone(diff, 0, ours, nodes), _alone(diff, 1, theirs, [matching.to_right[node] for node in nodes])
        settled = len(ours) == len(theirs) and all(
            (one, other) in partners for one, other in zip(ours, theirs, strict=True)
        )
        if settled and (alone[0] == alone[1] or len(ours) > 1 or (ours[0], theirs[0]) not in lone):
            continue
        found.append(_placement(diff, tuple(nodes), (ours, theirs), alone))
    return sorted(found, key=lambda one: (-one.weight, one.kernels))


def _pairs(diff: Diff) -> set[tuple[int, int]]:
    """Return the kernels that stand for one another: in a larger group, those that share most."""
    pairs: set[tuple[int, int]] = set()
    graphs = diff.graphs
    for group in diff.groups:
        free = list(group.right)
        shared = {
            (one, other): len(
                {diff.matching.to_right[node] for node in graphs[0].kernels[one].operations}
                & set(graphs[1].kernels[other].operations)
            )
            for one in group.left
            for other in group.right
        }
        for one, other in sorted(shared, key=lambda pair: (-shared[pair], pair)):
            if other in free and not any(pair[0] == one for pair in pairs):
                free.remove(other)
                pairs.add((one, other))
    return pairs


def _lone_pairs(diff: Diff) -> set[tuple[int, int]]:
    return {(group.left[0], group.right[0]) for group in diff.groups if len(group.left) == len(group.right) == 1}


def _is_light(diff: Diff, side: int, node: int) -> bool:
    """Whether it is no news where an operation stands: constants, and broadcasts, which only spread what is there."""
    return diff.trivial[side][node] or diff.graphs[side].instructions[node].opcode == "broadcast"


def _alone(diff: Diff, side: int, kernels: tuple[int, ...], nodes: list[int]) -> bool:
    if len(kernels) != 1:
        return False
    inside = {node for node in diff.graphs[side].kernels[kernels[0]].operations if not _is_light(diff, side, node)}
    return inside <= set(nodes)


def _placement(
    diff: Diff, nodes: tuple[int, ...], kernels: tuple[tuple[int, ...], tuple[int, ...]], alone: tuple[bool, bool]
) -> Placement:
    theirs = tuple(diff.matching.to_right[node] for node in nodes)
    return Placement(
        nodes,
        kernels,
        alone,
        (_recomputed(diff, 0, kernels[0], nodes), _recomputed(diff, 1, kernels[1], theirs)),
        (_companion(diff, 0, kernels[0], nodes), _companion(diff, 1, kernels[1], theirs)),
    )


def _recomputed(diff: Diff, side: int, kernels: tuple[int, ...], nodes: tuple[int, ...]) -> bool:
    """Whether a kernel holds a sum or product whose value it then spreads over a larger array without storing it."""
    graph = diff.graphs[side]
    heavy = [node for node in nodes if graph.instructions[node].opcode in ("reduce", "dot")]
    for index in kernels:
        kernel = graph.kernels[index]
        inside = set(kernel.operations)
        reached = set(heavy) - set(kernel.outputs)
        for node in kernel.operations:
            if not reached.intersection(graph.operands[node]):
                continue
            if graph.instructions[node].opcode == "broadcast":
                return True
            if graph.instructions[node].opcode != "reduce" and node in inside:
                reached.add(node)
    return False


def _companion(diff: Diff, side: int, kernels: tuple[int, ...], nodes: tuple[int, ...]) -> int | None:
    if len(kernels) != 1:
        return None
    graph = diff.graphs[side]
    others = [
        node for node in graph.kernels[kernels[0]].operations if node not in nodes and not _is_light(diff, side, node)
    ]
    for opcode in _TELLING:
        for node in others:
            if graph.instructions[node].opcode == opcode:
                return node
    return others[-1] if others else None
