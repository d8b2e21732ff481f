"""What an operation is, spelled so that two spellings of the same thing get the same number.

A label holds the opcode, the element type, the dimensions as far as a reshape cannot change them and the attributes
that change what is computed: neighbouring dimensions that an operation treats alike are one, and those of size 1 are
none. A reshape is looked through, so `[4,6,50]` here and `[24,50]` there may be the same array. Names, metadata,
layouts, scheduling hints and backend choices are left out: two compilers never agree on them. Both sides of a diff
share one `Labels`, so equal labels are equal numbers.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from math import prod
from typing import NamedTuple

from xlacompare.diff.forms import SHAPED, dot_dimensions, dot_form, iota_form, shape_of, squeezed
from xlacompare.diff.library_calls import DotDimensions, plain_product, settings_of_what
from xlacompare.hlo import Computation, Instruction, Shape

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
        product = plain_product(instruction) if opcode == "custom-call" else None
        if product is not None:
            return self._product(instruction, product)
        result = instruction.shape
        types = _types(result)
        essential: tuple[Hashable, ...] = self._essential(instruction)
        swap = False
        if opcode == "compare":
            direction = instruction.attributes.get("direction", "")
            swap = direction in _SWAPPED_DIRECTION
            essential = (_SWAPPED_DIRECTION.get(direction, direction), instruction.attributes.get("type", ""))
        if opcode == "dot" and len(instruction.operands) == 2:
            return self._product(instruction, dot_dimensions(instruction))
        dimensions = SHAPED.get(opcode)
        renaming = False
        if opcode in ELEMENTWISE:
            form: Hashable = prod(result.dimensions)
            renaming = opcode == "convert" and instruction.operands[:1] != () and _types(shape_of(instruction)) == types
        elif opcode == "iota":
            form = iota_form(instruction)
        elif dimensions is not None and instruction.operands and _is_array(shape_of(instruction)):
            form, renaming = dimensions(instruction)
        else:
            attributes = tuple(
                (name, _SPACE.sub("", value))
                for name, value in sorted(instruction.attributes.items())
                if name not in _REMARKS
            )
            operands = tuple(_plain(operand.shape) for operand in instruction.operands)
            form = (_plain(result), attributes, operands)
        commutative = opcode in COMMUTATIVE or (opcode == "compare" and essential[0] in ("EQ", "NE"))
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

    def _product(self, instruction: Instruction, dimensions: DotDimensions) -> Label:
        """Return the label of a `dot`, or of a library call that is one and may return its scratch memory as well."""
        form, either_way = dot_form(instruction, dimensions)
        result = next(instruction.shape.leaves(), instruction.shape)
        return Label(self.number(("dot", _types(result), form)), self.number(("dot",)), either_way)

    def _essential(self, instruction: Instruction) -> tuple[Hashable, ...]:
        """Return what tells operations of one opcode apart whatever their shapes: what they apply or call."""
        found: list[Hashable] = []
        if instruction.opcode == "custom-call":
            found.append(instruction.custom_call_target)
            found.append(settings_of_what(instruction))
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


def _is_array(shape: Shape) -> bool:
    return shape.element_type not in ("tuple", "token", "opaque", "unknown")
