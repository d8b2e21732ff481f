"""Colours of nodes: numbers that are equal where two nodes look alike, from some point of view.

Three points of view: *upward* (how it is computed, from the parameters on), *downward* (what becomes of it, until the
results), and *around* (its neighbourhood within a radius). The first two see the whole depth of a graph in one pass,
so a layer in the middle of hundreds of equal ones is told apart from the next.

Colours are 61-bit hashes of numbers, the same in every run; that two of a million nodes share one by accident happens
once in about five million diffs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xlacompare.diff.graph import Graph, Kind

_MASK = (1 << 61) - 1
# Numbers that set apart what stands at the same place of a hash for different reasons.
_CARRIED, _RESULT, _UPDATE, _READER, _OPERAND, _AROUND = 0x5EED1, 0x5EED2, 0x5EED3, 0x5EED4, 0x5EED5, 0x5EED6

Readers = Sequence[Sequence[tuple[int, int]]]


def upward(graph: Graph, seeds: Mapping[int, int]) -> list[int]:
    """Return per node the colour of how it is computed; `seeds` colour parameters and carried values."""
    colours: list[int] = []
    add = colours.append
    kinds, labels, commutative = graph.kinds, graph.labels, graph.commutative
    for node, operands in enumerate(graph.operands):
        if kinds[node] == Kind.CARRIED:
            seed = seeds.get(node)
            add(hash((_CARRIED, seed)) if seed is not None else hash((labels[node], colours[operands[0]])))
        elif node in seeds:
            add(seeds[node])
        elif commutative[node]:
            add(hash((labels[node], *sorted([colours[operand] for operand in operands]))))
        else:
            add(hash((labels[node], *[colours[operand] for operand in operands])))
    return colours


def downward(graph: Graph, result_seeds: Mapping[int, int], carried_seeds: Mapping[int, int]) -> list[int]:
    """Return per node the colour of what becomes of it, blind to the other operands of whatever reads it.

    Args:
        result_seeds: the colour of a result by its position.
        carried_seeds: the colour of a carried value, seen from what a trip makes of it.
    """
    sums = [0] * len(graph)
    for position, node in enumerate(graph.results):
        sums[node] += hash((_RESULT, result_seeds.get(position, 0)))
    for carried, update in graph.updates.items():
        sums[update] += hash((_UPDATE, carried_seeds.get(carried, 0)))
    labels, commutative, all_operands = graph.labels, graph.commutative, graph.operands
    for node in range(len(graph) - 1, -1, -1):
        colour = hash((labels[node], sums[node] & _MASK))
        sums[node] = colour
        operands = all_operands[node]
        if commutative[node]:
            contribution = hash((_READER, colour))
            for operand in operands:
                sums[operand] += contribution
        else:
            for position, operand in enumerate(operands):
                sums[operand] += hash((colour, position))
    return sums


def around(
    graph: Graph, readers: Readers, seeds: Mapping[int, int], nodes: Sequence[int], radius: int, labels: Sequence[int]
) -> Iterator[dict[int, int]]:
    """Yield the colours of `nodes` after looking 0, 1, … `radius` steps along operands and readers.

    Nodes in `seeds` are seen as their seed; nodes that are neither there nor in `nodes` as their label.
    """
    inside = {node: labels[node] for node in nodes}
    yield inside
    commutative, all_operands, updates = graph.commutative, graph.operands, graph.updates
    # What is seen from the nodes but keeps its colour is looked up once.
    fixed: dict[int, int] = {}
    rows = []
    for node in nodes:
        above = all_operands[node] if node not in updates else (*all_operands[node], updates[node])
        below = readers[node]
        for other in above:
            if other not in inside and other not in fixed:
                fixed[other] = seeds[other] if other in seeds else labels[other]
        for other, _ in below:
            if other not in inside and other not in fixed:
                fixed[other] = seeds[other] if other in seeds else labels[other]
        rows.append((node, above, below, commutative[node]))
    for _ in range(radius):
        colours = {**fixed, **inside}
        fresh: dict[int, int] = {}
        for node, above, below, plain in rows:
            seen = [colours[other] for other in above]
            if plain:
                seen.sort()
            read = 0
            for other, position in below:
                read += hash((_AROUND, colours[other], position))
            fresh[node] = hash((colours[node], read & _MASK, *seen))
        inside = fresh
        yield inside


def refined(graph: Graph, seeds: Mapping[int, int], rounds: int) -> tuple[list[int], list[int], dict[int, int]]:
    """Return upward and downward colours, and seeds, that know of one another after some rounds.

    A parameter or carried value starts as its seed (its shape where it has none) and ends as everything that tells it
    apart, whatever its position.
    """
    own = {
        node: seeds.get(node, graph.labels[node])
        for node, kind in enumerate(graph.kinds)
        if kind in (Kind.PARAMETER, Kind.CARRIED)
    }
    up: list[int] = []
    down: list[int] = []
    results: dict[int, int] = {}
    classes = 0
    for _ in range(rounds):
        if len(set(own.values())) == classes:
            break
        classes = len(set(own.values()))
        up = upward(graph, own)
        results = {position: up[node] for position, node in enumerate(graph.results)}
        down = downward(graph, results, own)
        own = {
            node: hash(
                (colour, down[node], up[graph.updates[node]] if node in graph.updates else 0, _init(graph, up, node))
            )
            for node, colour in own.items()
        }
    return up, down, own


def _init(graph: Graph, up: Sequence[int], node: int) -> int:
    operands = graph.operands[node]
    return up[operands[0]] if operands else 0
