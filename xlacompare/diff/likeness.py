"""The last step of matching: operations of one label that stand among the same matched operations.

Where two formulas differ, what is between their common ends cannot be matched by structure. An operation is then known
by its anchors: the matched operations that it reaches through unmatched ones. Two operations of one label whose anchors
are mostly partners of one another play the same part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlacompare.diff.colours import Readers
from xlacompare.diff.graph import Graph, Kind

if TYPE_CHECKING:
    from xlacompare.diff.matching import Matching

REACH = 3
LEAST_SHARE = 0.75
MAX_ANCHORS = 48
# More candidates of one label than this say nothing about which is which.
MAX_CANDIDATES = 400
# These stand everywhere, so standing near the same operations is no sign.
_COMMON = frozenset(["constant", "iota"])


def match_alike(matching: Matching, readers: tuple[Readers, Readers]) -> int:
    """Match what is left by label and anchors, the most alike first; return how many."""
    groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, graph in enumerate((matching.left, matching.right)):
        for node in matching.unmatched(side):
            if graph.instructions[node].opcode not in _COMMON:
                groups[graph.labels[node]][side].append(node)
    candidates = []
    for ours, theirs in groups.values():
        if not ours or not theirs or len(ours) * len(theirs) > MAX_CANDIDATES:
            continue
        near = [_anchors(matching.left, readers[0], matching.to_right, node) for node in ours]
        others = [_anchors(matching.right, readers[1], matching.to_left, node) for node in theirs]
        for one, own in zip(ours, near, strict=True):
            mapped = {(way, matching.to_right[node]) for way, node in own}
            for other, reached in zip(theirs, others, strict=True):
                shared, total = len(mapped & reached), len(mapped | reached)
                ways = {way for way, _ in mapped & reached}
                if len(ways) == 2 and shared >= LEAST_SHARE * total:
                    candidates.append((-shared / total, one, other))
    return sum(matching.pair(one, other, "alike") for _, one, other in sorted(candidates))


def _anchors(graph: Graph, readers: Readers, partner: Sequence[int], node: int) -> set[tuple[int, int]]:
    """Return the matched nodes that a node reaches through unmatched ones: (0 for above or 1 for below, node)."""
    found: set[tuple[int, int]] = set()
    for way in (0, 1):
        edge, seen = [node], {node}
        for _ in range(REACH):
            step = []
            for at in edge:
                nexts = graph.operands[at] if way == 0 else [reader for reader, _ in readers[at]]
                for other in nexts:
                    if other in seen or len(found) >= MAX_ANCHORS:
                        continue
                    seen.add(other)
                    if partner[other] >= 0:
                        if not _says_nothing(graph, other):
                            found.add((way, other))
                    else:
                        step.append(other)
            edge = step
        if way == 1 and node in graph.results:
            found.add((1, -1))
    return found


def _says_nothing(graph: Graph, node: int) -> bool:
    return graph.kinds[node] == Kind.OPERATION and graph.instructions[node].opcode in _COMMON
