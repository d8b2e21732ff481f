"""Matching that grows from what is matched: two operations are likely the same when their neighbours are.

Every matched pair speaks for the pairs of unmatched operations that stand at the same place beside it. The pair that
the largest share of neighbours speaks for is matched first, and then speaks itself.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlacompare.diff.colours import Readers
from xlacompare.diff.graph import Kind

if TYPE_CHECKING:
    from xlacompare.diff.matching import Matching

# A constant that hundreds of operations read says nothing about which is which.
MAX_CANDIDATES = 64


class Growth:
    """One growth: its labels, the share of neighbours that must speak for a pair, and what was heard so far."""

    def __init__(
        self,
        matching: Matching,
        readers: tuple[Readers, Readers],
        labels: tuple[Sequence[int], Sequence[int]],
        how: str,
        least_share: float,
    ) -> None:
        self.matching = matching
        self.readers = readers
        self.labels = labels
        self.how = how
        self.least_share = least_share
        self.voices: dict[tuple[int, int], int] = {}
        self.heap: list[tuple[float, int, int, int]] = []

    def run(self) -> int:
        """Grow until nothing more is found; return how many pairs were matched."""
        matching = self.matching
        found = 0
        while True:
            self.voices.clear()
            self.heap.clear()
            for left in range(len(matching.left)):
                if matching.to_right[left] >= 0:
                    self.speak(left, matching.to_right[left])
            grown = self._drain()
            found += grown
            if not grown:
                return found

    def _drain(self) -> int:
        found = 0
        matching = self.matching
        while self.heap:
            share, voices, left, right = heapq.heappop(self.heap)
            if self.voices.get((left, right)) != -voices or -share < self.least_share:
                continue
            if matching.pair(left, right, self.how):
                found += 1
                self.speak(left, right)
        return found

    def speak(self, left: int, right: int) -> None:
        """Let a matched pair speak for the pairs beside it."""
        matching = self.matching
        graphs = (matching.left, matching.right)
        ours, theirs = graphs[0].operands[left], graphs[1].operands[right]
        to_right, to_left = matching.to_right, matching.to_left
        if graphs[0].commutative[left] or len(ours) != len(theirs):
            self._propose(
                [(operand, 0) for operand in ours if to_right[operand] < 0],
                [(operand, 0) for operand in theirs if to_left[operand] < 0],
            )
        else:
            for one, other in zip(ours, theirs, strict=True):
                if to_right[one] < 0 and to_left[other] < 0:
                    self._propose([(one, 0)], [(other, 0)])
        above = [(reader, at) for reader, at in self.readers[0][left] if to_right[reader] < 0]
        if above:
            self._propose(above, [(reader, at) for reader, at in self.readers[1][right] if to_left[reader] < 0])
        update, other_update = graphs[0].updates.get(left), graphs[1].updates.get(right)
        if update is not None and other_update is not None and to_right[update] < 0 and to_left[other_update] < 0:
            self._propose([(update, 0)], [(other_update, 0)])

    def _propose(self, ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> None:
        if not ours or not theirs:
            return
        labels, others = self.labels
        kinds = self.matching.right.kinds
        by_label: dict[tuple[int, int], list[int]] = defaultdict(list)
        for node, at in theirs:
            if kinds[node] not in (Kind.PARAMETER, Kind.UNKNOWN):
                by_label[others[node], at].append(node)
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for node, at in ours:
            if (labels[node], at) in by_label:
                groups[labels[node], at].append(node)
        for key, group in groups.items():
            partners = by_label[key]
            if len(group) * len(partners) > MAX_CANDIDATES:
                continue
            for node in group:
                for partner in partners:
                    self._hear(node, partner)

    def _hear(self, left: int, right: int) -> None:
        voices = self.voices.get((left, right), 0) + 1
        self.voices[left, right] = voices
        graphs = self.matching.left, self.matching.right
        neighbours = max(
            len(graphs[0].operands[left]) + len(self.readers[0][left]),
            len(graphs[1].operands[right]) + len(self.readers[1][right]),
            1,
        )
        heapq.heappush(self.heap, (-min(voices / neighbours, 1.0), -voices, left, right))
