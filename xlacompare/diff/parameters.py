"""Parameters that somebody says are the same: the user by name or number, or two lists of names by the spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlacompare.diff.graph import Graph
from xlacompare.errors import UsageError

_SIDES = ("left", "right")


def known_pairs(
    graphs: tuple[Graph, Graph],
    pairs: Iterable[tuple[str, str]],
    left_names: Sequence[str] | None,
    right_names: Sequence[str] | None,
) -> list[tuple[int, int]]:
    """Return pairs of parameter numbers: those that the user gave, then those of equal name and shape.

    Names count only where there is one for every parameter: a frontend may drop parameters that nothing reads.

    Raises:
        UsageError: a pair names a parameter that is not there, or one parameter twice.
    """
    given = left_names, right_names
    names = [
        list(listed) if listed is not None and len(listed) == len(graph.parameters) else None
        for graph, listed in zip(graphs, given, strict=True)
    ]
    found = [(_number(graphs[0], names[0], left, 0), _number(graphs[1], names[1], right, 1)) for left, right in pairs]
    for side in (0, 1):
        numbers = [pair[side] for pair in found]
        twice = next((number for number in numbers if numbers.count(number) > 1), None)
        if twice is not None:
            raise UsageError(f"The {_SIDES[side]} parameter {twice} stands in more than one pair.")
    if names[0] is None or names[1] is None:
        return found
    taken = {left for left, _ in found}, {right for _, right in found}
    positions = {name: number for number, name in enumerate(names[1])}
    for number, name in enumerate(names[0]):
        other = positions.get(name)
        if other is None or number in taken[0] or other in taken[1]:
            continue
        if _elements(graphs[0], number) == _elements(graphs[1], other):
            found.append((number, other))
            taken[1].add(other)
    return found


def _elements(graph: Graph, number: int) -> int:
    return graph.instructions[graph.parameters[number]].shape.element_count


def _number(graph: Graph, names: list[str] | None, text: str, side: int) -> int:
    own = [graph.instructions[node].name for node in graph.parameters]
    for listed in (names or [], own):
        if listed.count(text) == 1:
            return listed.index(text)
    if text.isascii() and text.isdigit() and int(text[:9]) < len(own):
        return int(text[:9])
    raise UsageError(
        f"There is no {_SIDES[side]} parameter {text!r}; give a number from 0 to {len(own) - 1} or a name: "
        f"{', '.join((names or own)[:12])}{', …' if len(own) > 12 else ''}."
    )
