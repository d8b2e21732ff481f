"""Shapes: `f32[128,256]{1,0:T(8,128)S(1)}`, tuples of them, and what they weigh.

A big module has few distinct shapes, so `parse_shape` remembers what it parsed. Unknown element types keep
their name and weigh nothing; a shape that cannot be parsed at all keeps its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

UNBOUNDED = -1
_UNKNOWN = "unknown"
_ARRAY = re.compile(
    r"([^\s\[\](){},]+)\s*\[([^\]]*)\](?:\s*sparse\{[^}]*\})?(\s*\{[^{}]*\})?|(token|opaque)(?:\[\])?(\{[^{}]*\})?"
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_ELEMENT_BITS = {"pred": 8, "bf16": 16, "token": 0, "opaque": 0, "tuple": 0, "c64": 64, "c128": 128}
_BITS_IN_NAME = re.compile(r"[suf](\d+)(?:e\d+m\d+\w*)?\Z")
_DRESS = re.compile(r"\[[^\]]*\]|\{[^{}]*\}|,")
_DRESSED_ARRAY = re.compile(r"\[([^\[\]]*)\](\{[^{}]*\})")
_TILE = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory.

    Attributes:
        minor_to_major: dimension numbers, the fastest-varying first.
        tiles: tile sizes as text per tile, ("8,128", "2,1") for `T(8,128)(2,1)`.
        memory_space: the S(n) number, 0 for the default space.
        tail: everything after the colon, verbatim.
    """

    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[str, ...] = ()
    memory_space: int = 0
    tail: str = ""

    @property
    def element_bits(self) -> int | None:
        """Bits per element where the layout overrides them, E(4); None otherwise."""
        found = re.search(r"E\((\d+)\)", self.tail)
        return int(found[1]) if found else None

    def is_default(self, rank: int) -> bool:
        """Whether this is what a shape without a layout means: row-major, nothing else."""
        return not self.tail and self.minor_to_major == tuple(range(rank - 1, -1, -1))


class Shape:
    """An array, tuple, token or opaque shape.

    Attributes:
        element_type: "f32", "pred", …; "tuple", "token", "opaque"; "buffer" for `b(f32[4])`; "unknown" where
            the text could not be read or the instruction printed no shape.
        dimensions: sizes; the bound of a dynamic one, -1 for an unbounded one.
        dynamic: per dimension, whether its size is only a bound.
        layout: None where the text has none.
        tuple_shapes: the elements of a tuple, or the one array of a buffer.
        bits: size of the elements without padding, tuples summed; 0 for unknown and opaque things.

    `text` is the shape as written, less comments and spaces; two shapes are equal where these are.
    """

    __slots__ = ("_span", "_whole", "bits", "dimensions", "dynamic", "element_type", "layout", "tuple_shapes")

    bits: int

    def __init__(
        self,
        element_type: str,
        dimensions: tuple[int, ...] = (),
        dynamic: tuple[bool, ...] = (),
        layout: Layout | None = None,
        tuple_shapes: tuple[Shape, ...] = (),
        text: str = "",
        span: tuple[int, int] | None = None,
    ) -> None:
        self.element_type = element_type
        self.dimensions = dimensions
        self.dynamic = dynamic
        self.layout = layout
        self.tuple_shapes = tuple_shapes
        # A part of a tuple shares the whole's text: slices of ten thousand nested tuples would be quadratic.
        self._whole = text
        self._span = span
        if tuple_shapes or element_type in ("tuple", "buffer"):
            self.bits = sum(shape.bits for shape in tuple_shapes)
        else:
            per_element = (layout.element_bits if layout else None) or element_bits(element_type)
            self.bits = per_element * prod(max(size, 0) for size in dimensions)

    @property
    def text(self) -> str:
        """The shape as written, with its layout."""
        return self._whole if self._span is None else self._whole[self._span[0] : self._span[1]]

    @property
    def is_tuple(self) -> bool:
        """Whether this is a tuple, the empty one included."""
        return self.element_type == "tuple"

    @property
    def is_known(self) -> bool:
        """Whether the text gave a shape that could be read."""
        return self.element_type != _UNKNOWN

    @property
    def rank(self) -> int:
        """Number of dimensions, 0 for scalars and tuples."""
        return len(self.dimensions)

    @property
    def element_count(self) -> int:
        """Number of elements of an array, bounds taken for dynamic sizes; 0 for tuples and tokens."""
        if self.is_tuple or self.element_type in ("token", "opaque", "buffer", _UNKNOWN):
            return 0
        return prod(max(size, 0) for size in self.dimensions)

    @property
    def byte_size(self) -> int:
        """Bytes that the elements need, without padding: sub-byte arrays rounded up one by one."""
        return sum((leaf.bits + 7) // 8 for leaf in self.leaves())

    def leaves(self) -> Iterator[Shape]:
        """Yield the arrays, tokens and opaques of a tuple in order; the shape itself if it is none."""
        stack = [self]
        while stack:
            shape = stack.pop()
            if shape.element_type in ("tuple", "buffer"):
                stack.extend(reversed(shape.tuple_shapes))
            else:
                yield shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        """The shape without its layout: `f32[128,256]`, `(f32[2], s32[])`."""
        return _DRESS.sub(_undress, self.text)

    def __repr__(self) -> str:
        return f"Shape({self.text!r})"


def element_bits(element_type: str) -> int:
    """Return the bits of one element in memory; 0 for a type that is not known.

    >>> element_bits("f8e4m3fn"), element_bits("s4"), element_bits("pred"), element_bits("c64")
    (8, 4, 8, 64)
    """
    known = _ELEMENT_BITS.get(element_type)
    if known is not None:
        return known
    found = _BITS_IN_NAME.match(element_type)
    return int(found[1]) if found and len(found[1]) < 6 else 0


UNKNOWN_SHAPE = Shape(_UNKNOWN, text="?")


@lru_cache(maxsize=1 << 16)
def parse_shape(text: str) -> Shape:
    """Return the shape that `text` spells. Never raises: what cannot be read becomes an unknown shape with
    its text.

    >>> shape = parse_shape("(f32[2,3]{1,0}, /*index=1*/pred[<=8])")
    >>> str(shape), shape.byte_size, shape.tuple_shapes[1].dynamic
    ('(f32[2,3], pred[<=8])', 32, (True,))
    """
    if "/*" in text:
        text = _COMMENT.sub("", text)
    text = _SPACE.sub("", text)
    if text[:1] not in ("(", "b"):
        array = _ARRAY.fullmatch(text)
        return _array(array) if array else Shape(_UNKNOWN, text=text)
    return _nested(text)


def _nested(text: str) -> Shape:
    """Parse a tuple or buffer with an explicit stack: nesting is as deep as the input wants."""
    stack: list[tuple[str, int, list[Shape]]] = []
    at, done = 0, None
    while at < len(text):
        if text.startswith(("(", "b("), at):
            kind = "tuple" if text[at] == "(" else "buffer"
            stack.append((kind, at, []))
            at += 1 if kind == "tuple" else 2
        elif text[at] == ")" and stack:
            kind, start, elements = stack.pop()
            at += 1
            done = Shape(kind, tuple_shapes=tuple(elements), text=text, span=(start, at))
            if stack:
                stack[-1][2].append(done)
        elif text[at] == "," and stack:
            at += 1
        else:
            array = _ARRAY.match(text, at)
            if array is None:
                return Shape(_UNKNOWN, text=text)
            done, at = _array(array), array.end()
            if stack:
                stack[-1][2].append(done)
        if not stack:
            break
    return done if done is not None and at == len(text) and not stack else Shape(_UNKNOWN, text=text)


def _array(match: re.Match[str]) -> Shape:
    text = match.group()
    if match[4]:
        return Shape(match[4], layout=_layout(match[5]), text=text)
    sizes, dynamic = [], []
    for size in match[2].split(",") if match[2] else ():
        bound = size.removeprefix("<=")
        if not bound.isascii() or not (bound.isdigit() or bound == "?"):
            return Shape(_UNKNOWN, text=text)
        # More digits than any index has: Python would refuse to convert thousands of them.
        if len(bound) > 20:
            return Shape(_UNKNOWN, text=text)
        sizes.append(UNBOUNDED if bound == "?" else int(bound))
        dynamic.append(bound != size or bound == "?")
    return Shape(match[1], tuple(sizes), tuple(dynamic), _layout(match[3]), text=text)


@lru_cache(maxsize=1 << 12)
def _layout(text: str | None) -> Layout | None:
    if text is None:
        return None
    order, _, tail = text.strip()[1:-1].partition(":")
    numbers = tuple(int(part) for part in order.split(",") if part.isascii() and part.isdigit() and len(part) < 10)
    tiles = re.search(r"T((?:\([^()]*\))+)", tail)
    space = re.search(r"S\((\d{1,9})\)", tail)
    return Layout(
        minor_to_major=numbers,
        tiles=tuple(_TILE.findall(tiles[1])) if tiles else (),
        memory_space=int(space[1]) if space else 0,
        tail=tail,
    )


def canonical_shape(shape: Shape) -> str:
    """Return a shape's text in which layouts that say nothing are left out.

    >>> canonical_shape(parse_shape("(f32[2,3]{1,0}, f32[2,3]{0,1})"))
    '(f32[2,3],f32[2,3]{0,1})'
    """
    text = shape.text
    return _DRESSED_ARRAY.sub(_without_default, text) if "{" in text else text


def _without_default(match: re.Match[str]) -> str:
    layout = _layout(match[2])
    rank = match[1].count(",") + 1 if match[1] else 0
    return match.group()[: match.start(2) - match.start()] if layout and layout.is_default(rank) else match.group()


def _undress(match: re.Match[str]) -> str:
    found = match.group()
    if found == ",":
        return ", "
    return "" if found[0] == "{" else found
