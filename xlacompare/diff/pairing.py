"""Parameters, results and loop state: paired first, because everything else hangs between them.

Frameworks order their parameters differently and name them differently, so both are ignored: what counts is what the
user or the model's spec says, then everything that tells a parameter apart (its shape, all that becomes of it), then
less and less of that, and position among equals at last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from xlacompare.diff.colours import Readers, around, refined, upward
from xlacompare.diff.graph import Graph, Kind

if TYPE_CHECKING:
    from xlacompare.diff.matching import Matching

REFINE_ROUNDS = 3
RADII = (6, 4, 3, 2, 1)
MAX_RADIUS = RADII[0]
# How many node visits telling equals apart may cost.
BUDGET = 3_000_000


def pair_by_levels(
    left: Sequence[int], right: Sequence[int], levels: Sequence[tuple[Mapping[int, Hashable], Mapping[int, Hashable]]]
) -> list[tuple[int, int]]:
    """Pair items that look alike, by the sharpest view first; equals in equal number are paired in order."""
    found: list[tuple[int, int]] = []
    open_left, open_right = list(left), list(right)
    for ours, theirs in levels:
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for node in open_left:
            groups[ours[node]][0].append(node)
        for node in open_right:
            groups[theirs[node]][1].append(node)
        pairs = [
            pair for one, other in groups.values() if len(one) == len(other) for pair in zip(one, other, strict=True)
        ]
        found += pairs
        gone_left, gone_right = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        open_left = [node for node in open_left if node not in gone_left]
        open_right = [node for node in open_right if node not in gone_right]
        if not open_left or not open_right:
            break
    return found


def pair_parameters(matching: Matching, readers: tuple[Readers, Readers], known: Iterable[tuple[int, int]]) -> None:
    """Pair the ENTRY parameters, and note the table of them."""
    left, right = matching.left, matching.right
    for one, other in known:
        matching.pair(left.parameters[one], right.parameters[other], "given")
    _pair_refined(matching)
    open_left = [node for node in left.parameters if matching.to_right[node] < 0]
    open_right = [node for node in right.parameters if matching.to_left[node] < 0]
    if open_left and open_right:
        views = [
            _around_some(graph, readers[side], nodes, MAX_RADIUS, _pair_seeds(matching, side))
            for side, (graph, nodes) in enumerate(((left, open_left), (right, open_right)))
        ]
        levels = [(views[0][radius], views[1][radius]) for radius in RADII]
        for one, other in pair_by_levels(open_left, open_right, levels):
            matching.pair(one, other, "parameter")
        _pair_by_label(matching, open_left, open_right, "parameter")
    matching.parameters = _table(left.parameters, right.parameters, matching.to_right)


def _pair_by_label(matching: Matching, left: Sequence[int], right: Sequence[int], how: str) -> None:
    """Pair what is left by label, in order, whatever the numbers."""
    waiting: dict[int, list[int]] = defaultdict(list)
    for node in reversed(right):
        if matching.to_left[node] < 0:
            waiting[matching.right.labels[node]].append(node)
    for node in left:
        if matching.to_right[node] < 0 and waiting[matching.left.labels[node]]:
            matching.pair(node, waiting[matching.left.labels[node]].pop(), how)


def _pair_seeds(matching: Matching, side: int) -> dict[int, int]:
    graph, partner = ((matching.left, matching.to_right), (matching.right, matching.to_left))[side]
    return {
        node: hash((3, node if side == 0 else partner[node]))
        for node, kind in enumerate(graph.kinds)
        if kind in (Kind.PARAMETER, Kind.CARRIED) and partner[node] >= 0
    }


def _pair_refined(matching: Matching) -> None:
    """Pair what everything tells apart. Equals in equal number are told apart one by one while the budget lasts."""
    left, right = matching.left, matching.right
    budget = BUDGET
    while True:
        views = [
            refined(graph, _pair_seeds(matching, side), REFINE_ROUNDS)[2] for side, graph in enumerate((left, right))
        ]
        budget -= REFINE_ROUNDS * (len(left) + len(right))
        groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, (graph, partner) in enumerate(((left, matching.to_right), (right, matching.to_left))):
            for node in graph.parameters:
                if partner[node] < 0:
                    groups[views[side][node]][side].append(node)
        equals = [group for group in groups.values() if len(group[0]) == len(group[1])]
        for ours, theirs in equals:
            if len(ours) == 1:
                matching.pair(ours[0], theirs[0], "parameter")
        ambiguous = [group for group in equals if len(group[0]) > 1]
        if not ambiguous:
            return
        ours, theirs = min(ambiguous, key=lambda group: len(group[0]))
        if budget <= 0:
            for ours, theirs in ambiguous:
                for one, other in zip(ours, theirs, strict=True):
                    matching.pair(one, other, "parameter")
            return
        matching.pair(ours[0], theirs[0], "parameter")


def _around_some(
    graph: Graph, readers: Readers, nodes: Sequence[int], radius: int, seeds: Mapping[int, int]
) -> list[dict[int, int]]:
    """Return the colours of some nodes after 0, 1, … `radius` steps, looking no further than that from them."""
    near = set(nodes)
    edge = near
    for _ in range(radius):
        step = {operand for node in edge for operand in graph.operands[node]}
        step |= {reader for node in edge for reader, _ in readers[node]}
        edge = step - near
        near |= edge
    inside = sorted(near - seeds.keys())
    return [
        {node: colours[node] for node in nodes}
        for colours in around(graph, readers, seeds, inside, radius, graph.labels)
    ]


def pair_carried(matching: Matching, readers: tuple[Readers, Readers]) -> None:
    """Pair what loops carry around."""
    left, right = matching.left, matching.right
    ours = [node for node, kind in enumerate(left.kinds) if kind == Kind.CARRIED]
    theirs = [node for node, kind in enumerate(right.kinds) if kind == Kind.CARRIED]
    if not ours or not theirs:
        return
    seeds = _pair_seeds(matching, 0), _pair_seeds(matching, 1)
    full = [refined(graph, seeds[side], REFINE_ROUNDS)[2] for side, graph in enumerate((left, right))]
    views = [upward(graph, seeds[side]) for side, graph in enumerate((left, right))]
    levels: list[tuple[Mapping[int, Hashable], Mapping[int, Hashable]]] = [(full[0], full[1])]
    near = [
        _around_some(graph, readers[side], nodes, MAX_RADIUS, seeds[side])
        for side, (graph, nodes) in enumerate(((left, ours), (right, theirs)))
    ]
    for radius in RADII:
        levels.append(
            (
                {node: (views[0][node], near[0][radius][node]) for node in ours},
                {node: (views[1][node], near[1][radius][node]) for node in theirs},
            )
        )
    for one, other in pair_by_levels(ours, theirs, levels):
        matching.pair(one, other, "carried")


def pair_results(matching: Matching, readers: tuple[Readers, Readers]) -> None:
    """Pair the positions of what ENTRY returns: matched values first, then by shape and order."""
    left, right = matching.left, matching.right
    table: list[tuple[int | None, int | None]] = []
    waiting: dict[int, list[int]] = defaultdict(list)
    for position in range(len(right.results) - 1, -1, -1):
        waiting[right.results[position]].append(position)
    rest: list[int] = []
    for position, node in enumerate(left.results):
        partner = matching.to_right[node]
        if partner >= 0 and waiting.get(partner):
            table.append((position, waiting[partner].pop()))
        else:
            rest.append(position)
    for radius in (3, 2, 1, 0):
        views: list[dict[int, int]] = []
        open_right = sorted(position for positions in waiting.values() for position in positions)
        for side, (graph, positions) in enumerate(((left, rest), (right, open_right))):
            nodes = [graph.results[position] for position in positions]
            seen = _around_some(graph, readers[side], nodes, radius, {})[radius]
            views.append({position: seen[graph.results[position]] for position in positions})
        for one, other in pair_by_levels(rest, open_right, [(views[0], views[1])]):
            table.append((one, other))
            rest.remove(one)
            waiting[right.results[other]].remove(other)
    table += _results_by_shape(matching, rest, sorted(at for positions in waiting.values() for at in positions))
    matching.results = sorted(table, key=lambda pair: (pair[0] is None, pair[0], pair[1]))


def _results_by_shape(matching: Matching, left: list[int], right: list[int]) -> list[tuple[int | None, int | None]]:
    waiting: dict[str, list[int]] = defaultdict(list)
    for position in reversed(right):
        waiting[str(matching.right.instructions[matching.right.results[position]].shape)].append(position)
    found: list[tuple[int | None, int | None]] = []
    for position in left:
        same = waiting[str(matching.left.instructions[matching.left.results[position]].shape)]
        found.append((position, same.pop() if same else None))
    return found + [(None, position) for positions in waiting.values() for position in positions]


def _table(left: Sequence[int], right: Sequence[int], partner: Sequence[int]) -> list[tuple[int | None, int | None]]:
    places = {node: position for position, node in enumerate(right)}
    table: list[tuple[int | None, int | None]] = []
    for position, node in enumerate(left):
        other = partner[node]
        table.append((position, places.pop(other) if other >= 0 else None))
    return table + [(None, position) for position in places.values()]
