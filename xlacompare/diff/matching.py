"""Which operation on the left is which on the right, in near-linear time and without looking at a name.

From certain to likely: what is computed alike from paired parameters on (upward), what becomes of it alike until
paired results (downward), what stands beside matched operations (growth), what has the same neighbourhood (around),
growth again with shapes forgiven, what stands among the same operations (likeness) or nothing nearby tells apart (in
order), and at last constants at the same place whatever their values. Each step only takes what the steps before left
over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xlacompare.diff.colours import Readers, around, downward, upward
from xlacompare.diff.forms import squeezed
from xlacompare.diff.graph import Graph, Kind
from xlacompare.diff.growth import Growth
from xlacompare.diff.likeness import match_alike
from xlacompare.diff.pairing import pair_carried, pair_parameters, pair_results

MAX_RADIUS = 3
# How far the neighbourhoods of operations that are paired in order must be equal.
IN_ORDER_RADIUS = 1
MAX_ROUNDS = 4
# How the nodes were matched of which reports say more.
COMPUTED_ALIKE = "upward"
OTHER_VALUE = "other value"


@dataclass(slots=True)
class Matching:
    """A one-to-one matching of two graphs' nodes.

    Attributes:
        left, right: the graphs.
        to_right, to_left: per node its partner, -1 where it has none.
        how: per matched left node, the step that matched it.
        parameters: pairs of positions among the parameters; None on one side where there is no partner.
        results: pairs of positions among the results.
    """

    left: Graph
    right: Graph
    to_right: list[int] = field(default_factory=list)
    to_left: list[int] = field(default_factory=list)
    how: dict[int, str] = field(default_factory=dict)
    parameters: list[tuple[int | None, int | None]] = field(default_factory=list)
    results: list[tuple[int | None, int | None]] = field(default_factory=list)

    def pair(self, left: int, right: int, how: str) -> bool:
        """Match two nodes unless one of them is matched; return whether it was done."""
        if self.to_right[left] >= 0 or self.to_left[right] >= 0:
            return False
        self.to_right[left], self.to_left[right] = right, left
        self.how[left] = how
        return True

    def unmatched(self, side: int) -> list[int]:
        """Return the operations without a partner on a side (0 is left)."""
        graph, partner = ((self.left, self.to_right), (self.right, self.to_left))[side]
        return [node for node, kind in enumerate(graph.kinds) if kind == Kind.OPERATION and partner[node] < 0]


def match(left: Graph, right: Graph, parameter_pairs: Iterable[tuple[int, int]] = ()) -> Matching:
    """Return the matching of two graphs whose labels come from one `Labels`.

    Args:
        parameter_pairs: positions of parameters that are known to be the same; the rest is worked out.
    """
    matching = Matching(left, right, [-1] * len(left), [-1] * len(right))
    readers = (left.readers(), right.readers())
    pair_parameters(matching, readers, parameter_pairs)
    pair_carried(matching, readers)
    _match_upward(matching)
    pair_results(matching, readers)
    _match_downward(matching)
    strict = Growth(matching, readers, (left.labels, right.labels), "grown", 0.0)
    for _ in range(MAX_ROUNDS):
        found = strict.run()
        found += _match_around(matching, readers)
        if not found:
            break
    Growth(matching, readers, (left.loose, right.loose), "similar", 0.5).run()
    if match_alike(matching, readers) + _match_in_order(matching, readers):
        Growth(matching, readers, (left.labels, right.labels), "grown", 0.5).run()
    _match_constants(matching, readers)
    return matching


def _match_upward(matching: Matching) -> None:
    """Match what is computed alike; a colour occurs once on a side, but for operations with effects: those in order."""
    seeds = seeds_of(matching)
    colours = [upward(graph, seed) for graph, seed in zip((matching.left, matching.right), seeds, strict=True)]
    waiting: dict[int, list[int]] = defaultdict(list)
    for node in range(len(matching.right) - 1, -1, -1):
        if matching.to_left[node] < 0:
            waiting[colours[1][node]].append(node)
    for node, colour in enumerate(colours[0]):
        if matching.to_right[node] < 0 and (candidates := waiting.get(colour)):
            matching.pair(node, candidates.pop(), COMPUTED_ALIKE)


def seeds_of(matching: Matching) -> tuple[dict[int, int], dict[int, int]]:
    """Return colours for parameters and carried values: one for each pair, another for each without a partner."""
    seeds: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for side, (graph, partner) in enumerate(((matching.left, matching.to_right), (matching.right, matching.to_left))):
        for node, kind in enumerate(graph.kinds):
            if kind in (Kind.PARAMETER, Kind.CARRIED):
                # A pair is named by its left node; odd numbers keep what has no partner apart from it.
                pair = node if side == 0 else partner[node]
                seeds[side][node] = hash((7, pair)) if partner[node] >= 0 else hash((11 + side, node))
    return seeds


def _match_downward(matching: Matching) -> None:
    """Match what alike becomes of, where that tells it apart from everything else on its side."""
    seeds = seeds_of(matching)
    result_seeds: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number, (left, right) in enumerate(matching.results):
        if left is not None:
            result_seeds[0][left] = number + 1
        if right is not None:
            result_seeds[1][right] = number + 1
    colours = []
    for side, graph in enumerate((matching.left, matching.right)):
        colours.append(downward(graph, result_seeds[side], seeds[side]))
    for left, right in unique_pairs(
        {node: colours[0][node] for node in _open(matching, 0)}, {node: colours[1][node] for node in _open(matching, 1)}
    ):
        matching.pair(left, right, "downward")


def _match_around(matching: Matching, readers: tuple[Readers, Readers]) -> int:
    """Match what has a neighbourhood of its own, wide neighbourhoods first; return how many."""
    views: list[list[dict[int, int]]] = []
    for side, (graph, partner) in enumerate(((matching.left, matching.to_right), (matching.right, matching.to_left))):
        nodes = _open(matching, side)
        seeds = _SettledSeeds(partner, side)
        views.append(list(around(graph, readers[side], seeds, nodes, MAX_RADIUS, graph.labels)))
    found = 0
    for radius in range(MAX_RADIUS, 0, -1):
        left = {node: colour for node, colour in views[0][radius].items() if matching.to_right[node] < 0}
        right = {node: colour for node, colour in views[1][radius].items() if matching.to_left[node] < 0}
        found += sum(matching.pair(one, other, f"around {radius}") for one, other in unique_pairs(left, right))
    return found


def _match_in_order(matching: Matching, readers: tuple[Readers, Readers]) -> int:
    """Match what nothing nearby tells apart, such as layers between differences: in order, if as many on each side.

    A neighbour of a kind that is left over on one side alone is itself a difference, and any such will do.
    """
    sides = ((matching.left, matching.to_right), (matching.right, matching.to_left))
    left_over = [{graph.labels[node] for node in _open(matching, side)} for side, (graph, _) in enumerate(sides)]
    shared = left_over[0] & left_over[1]
    classes: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (graph, partner) in enumerate(sides):
        nodes = [node for node in _open(matching, side) if graph.labels[node] in shared]
        blurred = [label if label in shared else 0 for label in graph.labels]
        *_, near = around(graph, readers[side], _SettledSeeds(partner, side), nodes, IN_ORDER_RADIUS, blurred)
        for node, colour in near.items():
            classes[colour][side].append(node)
    found = 0
    for ours, theirs in classes.values():
        if len(ours) == len(theirs):
            found += sum(matching.pair(one, other, "in order") for one, other in zip(ours, theirs, strict=True))
    return found


def _match_constants(matching: Matching, readers: tuple[Readers, Readers]) -> None:
    """Match constants that at least half of their readers read at the same place: an epsilon or a rate that differs."""
    if not all(
        any(graph.instructions[node].opcode == "constant" for node in matching.unmatched(side))
        for side, graph in enumerate((matching.left, matching.right))
    ):
        return
    Growth(matching, readers, (_valueless(matching.left), _valueless(matching.right)), OTHER_VALUE, 0.5).run()


def _valueless(graph: Graph) -> list[int]:
    """Return a label for each constant by type and shape alone, and one of its own for everything else."""
    return [
        hash(("constant", instruction.shape.element_type, squeezed(instruction.shape)))
        if kind == Kind.OPERATION and instruction.opcode == "constant"
        else hash((id(graph), node))
        for node, (kind, instruction) in enumerate(zip(graph.kinds, graph.instructions, strict=True))
    ]


class _SettledSeeds(Mapping[int, int]):
    """Matched nodes by one colour for each pair, without a dictionary of all of them."""

    def __init__(self, partner: Sequence[int], side: int) -> None:
        self._partner = partner
        self._side = side

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and self._partner[node] >= 0

    def __getitem__(self, node: int) -> int:
        return hash((13, node if self._side == 0 else self._partner[node]))

    def __iter__(self) -> object:  # type: ignore[override]
        return (node for node, other in enumerate(self._partner) if other >= 0)

    def __len__(self) -> int:
        return sum(1 for other in self._partner if other >= 0)


def _open(matching: Matching, side: int) -> list[int]:
    """Return the nodes of a side that have no partner and may still get one."""
    graph, partner = ((matching.left, matching.to_right), (matching.right, matching.to_left))[side]
    return [
        node
        for node, kind in enumerate(graph.kinds)
        if partner[node] < 0 and kind not in (Kind.PARAMETER, Kind.UNKNOWN)
    ]


def unique_pairs(left: Mapping[int, int], right: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return the pairs of keys whose value occurs once on each side.

    >>> unique_pairs({1: 5, 2: 6, 3: 6}, {7: 6, 8: 5})
    [(1, 8)]
    """
    once: dict[int, int] = {}
    twice: set[int] = set()
    for node, colour in right.items():
        if colour in once:
            twice.add(colour)
        once[colour] = node
    seen: dict[int, int] = {}
    for node, colour in left.items():
        if colour in seen:
            twice.add(colour)
        seen[colour] = node
    return [(node, once[colour]) for colour, node in seen.items() if colour in once and colour not in twice]
