"""What an operation is, spelled so that two spellings of the same thing get the same number.

A label holds the opcode, the element type, the dimensions as far as a reshape cannot change them and the attributes
that change what is computed: neighbouring dimensions that an operation treats alike are one, and those of size 1 are
none. A reshape is looked through, so `[4,6,50]` here and `[24,50]` there may be the same array. Names, metadata,
layouts, scheduling hints and backend choices are left out: two compilers never agree on them. Both sides of a diff
share one `Labels`, so equal labels are equal numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from itertools import pairwise
from math import prod
from typing import NamedTuple

from xlacompare.hlo import Computation, Instruction, Shape
from xlacompare.hlo.attributes import parse_backend_config

COMMUTATIVE = frozenset(["add", "multiply", "and", "or", "xor", "maximum", "minimum"])
_ELEMENTWISE_WORDS = """
    abs add and atan2 bitcast-convert cbrt ceil clamp compare complex convert cosine count-leading-zeros divide erf
    exponential exponential-minus-one floor imag is-finite log log-plus-one logistic maximum minimum multiply
    negate not or popcnt power real reduce-precision remainder round-nearest-afz round-nearest-even rsqrt select
    shift-left shift-right-arithmetic shift-right-logical sign sine sqrt subtract tan tanh xor"""
ELEMENTWISE = frozenset(_ELEMENTWISE_WORDS.split())
# Running one of these twice is not the same as running it once, so two of them are never one operation.
EFFECTFUL = frozenset(["rng", "infeed", "outfeed", "send", "recv", "send-done", "recv-done"])
_COLLECTIVE_WORDS = (
    """all-reduce all-gather all-to-all reduce-scatter collective-permute collective-broadcast ragged-all-to-all"""
)
COLLECTIVE = frozenset(_COLLECTIVE_WORDS.split())
# What a compiler or a frontend notes beside an operation without changing what it computes.
_REMARKS_WORDS = """
    metadata backend_config sharding frontend_attributes control-predecessors channel_id kind parameter_replication
    statistics origin original_value operand_precision algorithm custom_call_schedule api_version
    execution_thread async_execution_thread outer_dimension_partitions output_to_operand_aliasing schedule
    operand_layout_constraints is_host_transfer calls to_apply comparator select scatter called_computations
    branch_computations"""
_REMARKS = frozenset(_REMARKS_WORDS.split())
_SWAPPED_DIRECTION = {"GT": "LT", "GE": "LE"}
_NUMBERS = re.compile(r"-?\d+")
_SLICE_BOUNDS = re.compile(r"\[(\d+):(\d+)(?::(\d+))?\]")
_SPACE = re.compile(r"\s+")
_MAX_SIGNATURE_DEPTH = 40


class Label(NamedTuple):
    """An operation's label as both sides share it.

    Attributes:
        strict: equal for operations that compute the same from equal operands, shapes included.
        loose: equal for operations that differ in shape or element type alone.
        commutative: whether the order of operands means nothing.
        swap: whether the two operands are to be exchanged (a > b is b < a).
        renaming: whether it only renames its first operand (a reshape in other words).
    """

    strict: int
    loose: int
    commutative: bool = False
    swap: bool = False
    renaming: bool = False


class Labels:
    """Numbers for labels, shared by both sides of one diff."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """Return the number that stands for `key`; numbers start at 1 and follow the order of first use."""
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def of(self, instruction: Instruction) -> Label:
        """Return the label of a primitive operation."""
        opcode = instruction.opcode
        if opcode == "constant":
            return self._constant(instruction)
        result = instruction.shape
        types = _types(result)
        essential: tuple[Hashable, ...] = self._essential(instruction)
        swap = False
        if opcode == "compare":
            direction = instruction.attributes.get("direction", "")
            swap = direction in _SWAPPED_DIRECTION
            essential = (_SWAPPED_DIRECTION.get(direction, direction), instruction.attributes.get("type", ""))
        dimensions = _SHAPED.get(opcode)
        renaming = False
        if opcode in ELEMENTWISE:
            form: Hashable = prod(result.dimensions)
            renaming = (
                opcode == "convert" and instruction.operands[:1] != () and _types(_shape_of(instruction)) == types
            )
        elif opcode == "iota":
            form = _iota(instruction)
        elif dimensions is not None and instruction.operands and _is_array(_shape_of(instruction)):
            form, renaming = dimensions(instruction)
        else:
            attributes = tuple(
                (name, _SPACE.sub("", value))
                for name, value in sorted(instruction.attributes.items())
                if name not in _REMARKS
            )
            operands = tuple(_plain(operand.shape) for operand in instruction.operands)
            form = (_plain(result), attributes, operands)
        commutative = (
            opcode in COMMUTATIVE
            or (opcode == "compare" and essential[0] in ("EQ", "NE"))
            or (opcode == "dot" and isinstance(form, _EitherWay))
        )
        return Label(
            self.number((opcode, types, essential, form)),
            self.number((opcode, essential, len(instruction.operands))),
            commutative,
            swap,
            renaming,
        )

    def _constant(self, instruction: Instruction) -> Label:
        shape = instruction.shape
        value = canonical_literal(instruction.literal or "", shape.element_type)
        return Label(
            self.number(("constant", _types(shape), squeezed(shape), value)),
            self.number(("constant", value)),
        )

    def _essential(self, instruction: Instruction) -> tuple[Hashable, ...]:
        """Return what tells operations of one opcode apart whatever their shapes: what they apply or call."""
        found: list[Hashable] = []
        if instruction.opcode == "custom-call":
            found.append(instruction.custom_call_target)
            config = instruction.attributes.get("backend_config")
            if config is not None:
                found.append(json.dumps(parse_backend_config(config), sort_keys=True, default=str))
        for role, computations in sorted(instruction.called_by_role.items()):
            found.append((role, tuple(self.signature(computation) for computation in computations)))
        return tuple(found)

    def signature(self, computation: Computation, depth: int = 0) -> int:
        """Return a number that equal computations share: reducers, comparators, and what is called too deep to walk."""
        if depth > _MAX_SIGNATURE_DEPTH or not computation.instructions:
            return self.number(("computation", len(computation)))
        values: dict[Instruction, int] = {}
        for instruction in computation.instructions:
            if instruction.opcode == "parameter":
                values[instruction] = self.number(("argument", instruction.parameter_number))
                continue
            operands = [values.get(operand, 0) for operand in instruction.operands]
            if instruction.called:
                inner: Hashable = tuple(self.signature(called, depth + 1) for called in instruction.called)
                key: Hashable = (instruction.opcode, inner, str(instruction.shape), tuple(operands))
            else:
                label = self.of(instruction)
                if label.swap:
                    operands.reverse()
                if label.commutative:
                    operands.sort()
                key = (label.strict, tuple(operands))
            values[instruction] = self.number(key)
        return self.number(("computes", values.get(computation.root, 0)))


def squeezed(shape: Shape) -> tuple[int, ...]:
    """Return the dimensions that are not 1: those of size 1 are only ever added and dropped by reshapes."""
    return tuple(size for size in shape.dimensions if size != 1)


def canonical_literal(text: str, element_type: str) -> str:
    """Return a constant's value so that `1`, `1.0` and `1e+00` are one spelling.

    >>> canonical_literal("1.0", "f32"), canonical_literal("{ {1, 2} }", "s32")
    ('1.0', '{{1,2}}')
    """
    text = _SPACE.sub("", text)
    if element_type[:1] in ("f", "b") and "{" not in text and "(" not in text:
        try:
            return repr(float(text))
        except ValueError:
            return text
    return text


def _types(shape: Shape) -> Hashable:
    if shape.element_type == "tuple":
        return tuple(_types(element) for element in shape.tuple_shapes)
    return shape.element_type


def _plain(shape: Shape) -> Hashable:
    if shape.element_type == "tuple":
        return tuple(_plain(element) for element in shape.tuple_shapes)
    return (shape.element_type, shape.dimensions)


def _shape_of(instruction: Instruction, index: int = 0) -> Shape:
    return instruction.operands[index].shape


def _is_array(shape: Shape) -> bool:
    return shape.element_type not in ("tuple", "token", "opaque", "unknown")


def integers(text: str | None) -> tuple[int, ...]:
    """Return the whole numbers in an attribute such as `{0,2}`; numbers of absurd length are cut."""
    return tuple(int(number[:18]) for number in _NUMBERS.findall(text or ""))


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
    source, result = _shape_of(instruction), instruction.shape
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
    return _merged((size, index in reduced) for index, size in enumerate(_shape_of(instruction).dimensions)), False


def _transpose(instruction: Instruction) -> tuple[Hashable, bool]:
    sizes = _shape_of(instruction).dimensions
    order = [at for at in integers(instruction.attributes.get("dimensions")) if at < len(sizes) and sizes[at] != 1]
    ranks = {at: rank for rank, at in enumerate(sorted(order))}
    permutation = tuple(ranks[at] for at in order)
    # What stays together on the way is one dimension; its number says where it goes.
    runs = _runs(permutation)
    form = _merged((size, runs[rank]) for rank, size in enumerate(squeezed(_shape_of(instruction))))
    return form, len(form) <= 1


def _concatenate(instruction: Instruction) -> tuple[Hashable, bool]:
    axis = next(iter(integers(instruction.attributes.get("dimensions"))), 0)
    result = instruction.shape.dimensions
    return (prod(result[:axis]), prod(result[axis:])), len(instruction.operands) == 1


def _iota(instruction: Instruction) -> Hashable:
    axis = next(iter(integers(instruction.attributes.get("iota_dimension"))), 0)
    return _merged((size, index == axis) for index, size in enumerate(instruction.shape.dimensions))


def _slice(instruction: Instruction) -> tuple[Hashable, bool]:
    bounds = [
        (int(low[:18]), int(high[:18]), int(step[:18] or 1))
        for low, high, step in _SLICE_BOUNDS.findall(instruction.attributes.get("slice", ""))
    ]
    sizes = _shape_of(instruction).dimensions
    cut = [(size, bound) for size, bound in zip(sizes, bounds, strict=False) if size != 1]
    return tuple(cut), len(bounds) == len(sizes) and all(bound == (0, size, 1) for size, bound in cut)


class _EitherWay(tuple[Hashable, ...]):
    """The form of an operation whose operands may be exchanged, though each has its own part."""

    __slots__ = ()


def _dot(instruction: Instruction) -> tuple[Hashable, bool]:
    attributes = instruction.attributes
    if len(instruction.operands) != 2:
        return tuple(_plain(operand.shape) for operand in instruction.operands), False
    sizes = [_shape_of(instruction, position).dimensions for position in (0, 1)]
    roles: tuple[dict[int, tuple[str, int]], dict[int, tuple[str, int]]] = ({}, {})
    for role in ("contracting", "batch"):
        both = [integers(attributes.get(f"{side}_{role}_dims")) for side in ("lhs", "rhs")]
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
    return (_EitherWay(form) if free[0] != free[1] else form), False


_SHAPED = {
    "broadcast": _broadcast,
    "reduce": _reduce,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "slice": _slice,
    "dot": _dot,
}
