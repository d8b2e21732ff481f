"""The form of an operation: its dimensions as far as a reshape cannot change them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from itertools import pairwise
from math import prod

from xlacompare.diff.library_calls import DotDimensions
from xlacompare.hlo import Instruction, Shape

_NUMBERS = re.compile(r"-?\d+")
_SLICE_BOUNDS = re.compile(r"\[(\d+):(\d+)(?::(\d+))?\]")


def squeezed(shape: Shape) -> tuple[int, ...]:
    """Return the dimensions that are not 1: those of size 1 are only ever added and dropped by reshapes."""
    return tuple(size for size in shape.dimensions if size != 1)


def integers(text: str | None) -> tuple[int, ...]:
    """Return the whole numbers in an attribute such as `{0,2}`; numbers of absurd length are cut."""
    return tuple(int(number[:18]) for number in _NUMBERS.findall(text or ""))


def shape_of(instruction: Instruction, index: int = 0) -> Shape:
    return instruction.operands[index].shape


# Each of these returns an operation's form, and whether that leaves a renaming. Arrays are stored row by row, so
# neighbouring dimensions of one role can be taken as one: `[4,6,50]` summed over the last is `[24,50]` summed over it.


def _merged(parts: Iterable[tuple[int, Hashable]]) -> tuple[tuple[int, Hashable], ...]:
    """Return (size, role) by dimension, those of size 1 left out and neighbours of one role as one.

    >>> _merged([(4, "kept"), (6, "kept"), (1, "summed"), (50, "summed")])
    ((24, 'kept'), (50, 'summed'))
    """
    found: list[tuple[int, Hashable]] = []
    for size, role in parts:
        if size == 1:
            continue
        if found and found[-1][1] == role:
            found[-1] = (found[-1][0] * size, role)
        else:
            found.append((size, role))
    return tuple(found)


def _broadcast(instruction: Instruction) -> tuple[Hashable, bool]:
    source, result = shape_of(instruction), instruction.shape
    mapping = dict(enumerate(integers(instruction.attributes.get("dimensions"))))
    kept = [mapping.get(index) for index, size in enumerate(source.dimensions) if size != 1]
    wide = [index for index, size in enumerate(result.dimensions) if size != 1]
    positions = tuple(wide.index(at) if at in wide else -1 for at in kept)
    renaming = positions == tuple(range(len(wide)))
    # Dimensions of the source that stay neighbours are one role; new ones are another.
    runs = _runs(positions)
    return _merged((size, runs.get(at, -1)) for at, size in enumerate(squeezed(result))), renaming


def _runs(positions: Iterable[int]) -> dict[int, int]:
    """Return position -> the number of its run, runs being numbered as they come.

    >>> _runs([2, 3, 0])
    {2: 0, 3: 0, 0: 1}
    """
    found: dict[int, int] = {}
    previous, number = None, -1
    for at in positions:
        number += previous is None or at != previous + 1
        found[at] = number
        previous = at
    return found


def _reduce(instruction: Instruction) -> tuple[Hashable, bool]:
    reduced = set(integers(instruction.attributes.get("dimensions")))
    return _merged((size, index in reduced) for index, size in enumerate(shape_of(instruction).dimensions)), False


def _transpose(instruction: Instruction) -> tuple[Hashable, bool]:
    sizes = shape_of(instruction).dimensions
    order = [at for at in integers(instruction.attributes.get("dimensions")) if 0 <= at < len(sizes) and sizes[at] != 1]
    ranks = {at: rank for rank, at in enumerate(sorted(order))}
    permutation = tuple(ranks[at] for at in order)
    wide = squeezed(shape_of(instruction))
    # What stays together on the way is one dimension; its number says where it goes. A text may leave dimensions out.
    runs = _runs(permutation)
    form = _merged((size, runs.get(rank, -1)) for rank, size in enumerate(wide))
    return form, permutation == tuple(range(len(wide)))


def _concatenate(instruction: Instruction) -> tuple[Hashable, bool]:
    axis = next(iter(integers(instruction.attributes.get("dimensions"))), 0)
    result = instruction.shape.dimensions
    return (prod(result[:axis]), prod(result[axis:])), len(instruction.operands) == 1


def iota_form(instruction: Instruction) -> Hashable:
    axis = next(iter(integers(instruction.attributes.get("iota_dimension"))), 0)
    return _merged((size, index == axis) for index, size in enumerate(instruction.shape.dimensions))


def _slice(instruction: Instruction) -> tuple[Hashable, bool]:
    bounds = [
        (int(low[:18]), int(high[:18]), int(step[:18] or 1))
        for low, high, step in _SLICE_BOUNDS.findall(instruction.attributes.get("slice", ""))
    ]
    sizes = shape_of(instruction).dimensions
    cut = [(size, bound) for size, bound in zip(sizes, bounds, strict=False) if size != 1]
    return tuple(cut), len(bounds) == len(sizes) and all(bound == (0, size, 1) for size, bound in cut)


def dot_dimensions(instruction: Instruction) -> DotDimensions:
    given = [
        tuple(integers(instruction.attributes.get(f"{side}_{role}_dims")) for side in ("lhs", "rhs"))
        for role in ("contracting", "batch")
    ]
    return DotDimensions((given[0][0], given[0][1]), (given[1][0], given[1][1]))


def dot_form(instruction: Instruction, dimensions: DotDimensions) -> tuple[Hashable, bool]:
    """Return a product's form over merged dimensions, and whether its operands may be exchanged."""
    sizes = [shape_of(instruction, position).dimensions for position in (0, 1)]
    roles: tuple[dict[int, tuple[str, int]], dict[int, tuple[str, int]]] = ({}, {})
    for role, both in zip(("contracting", "batch"), dimensions, strict=True):
        wide = [pair for pair in zip(*both, strict=False) if sizes[0][pair[0] : pair[0] + 1] != (1,)]
        for rank, pair in enumerate(wide):
            for known, at in zip(roles, pair, strict=True):
                known[at] = role, rank
    sides = [
        [(size, known.get(at, ("free", 0))) for at, size in enumerate(each) if size != 1]
        for known, each in zip(roles, sizes, strict=True)
    ]
    # A matrix times a vector is the vector times the matrix; which is which is told by their sizes.
    free = [any(role[0] == "free" for _, role in side) for side in sides]
    if free[1] and not free[0]:
        sides.reverse()
    # Contracted and batch dimensions are one where they are neighbours in the same order on both sides; batch
    # dimensions are neighbours in the result, too, if their ranks are.
    steps = [{(one, other) for (_, one), (_, other) in pairwise(side)} for side in sides]
    joined = {
        other: one
        for one, other in steps[0] & steps[1]
        if one[0] == other[0] != "free" and (one[0] == "contracting" or other[1] == one[1] + 1)
    }

    def root(role: tuple[str, int]) -> tuple[str, int]:
        while role in joined:
            role = joined[role]
        return role

    # Contracted pairs go by their order on the left, since any order sums the same; batch pairs by their ranks.
    ordered = list(dict.fromkeys(root(role) for _, role in sides[0] if role[0] == "contracting"))
    ordered += sorted({root(role) for side in sides for _, role in side if role[0] == "batch"})
    names = {role: (role[0], number) for number, role in enumerate(ordered)}
    form = tuple(_merged((size, names.get(root(role), role)) for size, role in side) for side in sides)
    return form, free[0] != free[1]


SHAPED = {
    "broadcast": _broadcast,
    "reduce": _reduce,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "slice": _slice,
}
