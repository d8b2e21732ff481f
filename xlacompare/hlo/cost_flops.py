"""Arithmetic of single operations, from their shapes and attributes alone.

The unit is XLA's own: one operation per element of an elementwise result, whatever the element type, two for a
multiply-add, and transcendental functions apart. The formulas for convolutions and windows are those that XLA's
HloCostAnalysis documents; where this counts otherwise, `docs/counting.md` says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import gcd, prod
from typing import NamedTuple

from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.shape import Shape


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MULTIPLY_ADD = 2
_LARGEST_WINDOW = 1_000_000
# A complex multiplication is four multiply-adds; an FFT does one per element and level.
_FFT_LEVEL = 4 * MULTIPLY_ADD

TRANSCENDENTAL = _words(
    """acos acosh asin asinh atan2 atanh cbrt cosine cosh erf exponential exponential-minus-one log log-plus-one
    logistic power rsqrt sine sinh sqrt tan tanh"""
)
# Results that are moved, renamed or made without arithmetic.
NO_ARITHMETIC = _words(
    """add-dependency after-all all-gather all-gather-start all-to-all bitcast broadcast collective-broadcast
    collective-permute collective-permute-start concatenate constant copy copy-start domain dynamic-reshape
    dynamic-slice dynamic-update-slice gather get-dimension-size get-tuple-element infeed iota opt-barrier outfeed
    pad parameter partition-id ragged-all-to-all recv replica-id reshape reverse rng-get-and-update-state send
    set-dimension-size slice transpose tuple"""
)
_ELEMENTWISE = _words(
    """abs add and bitcast-convert ceil clamp compare complex convert count-leading-zeros divide floor imag is-finite
    maximum minimum multiply negate not or popcnt real reduce-precision remainder round-nearest-afz
    round-nearest-even select shift-left shift-right-arithmetic shift-right-logical sign stochastic-convert subtract
    xor"""
)


class Arithmetic(NamedTuple):
    """Operations and transcendental functions."""

    flops: int = 0
    transcendentals: int = 0


class WindowDimension(NamedTuple):
    """One dimension of `window={size=3x3 stride=2x2 pad=1_1x1_1 …}`."""

    size: int = 1
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1


class ConvolutionLabels(NamedTuple):
    """`dim_labels=b01f_01io->b01f`: the dimensions of input, kernel and output by meaning."""

    input: str
    kernel: str
    output: str


def numbers(value: str | None) -> tuple[int, ...]:
    """Return the whole numbers of `{0,1}`; none for None.

    >>> numbers("{0,12}")
    (0, 12)
    """
    return tuple(map(int, re.findall(r"-?\d{1,18}", value or "")))


def parse_window(value: str | None) -> tuple[WindowDimension, ...]:
    """Return the dimensions of a window attribute; none where it has no size.

    >>> parse_window("{size=3x1 stride=2x1 pad=0_1x0_0}")[0]
    WindowDimension(size=3, stride=2, pad_low=0, pad_high=1, base_dilation=1, window_dilation=1)
    """
    fields = dict(re.findall(r"(\w+)=([^\s{}]+)", value or ""))
    sizes = numbers(fields.get("size"))

    def per_dimension(name: str, default: int) -> tuple[int, ...]:
        found = numbers(fields.get(name, "").replace("x", " "))
        return found if len(found) == len(sizes) else (default,) * len(sizes)

    pads = re.findall(r"(-?\d{1,18})_(-?\d{1,18})", fields.get("pad", ""))
    if len(pads) != len(sizes):
        pads = [("0", "0")] * len(sizes)
    return tuple(
        WindowDimension(size, stride, int(low), int(high), base, window)
        for size, stride, (low, high), base, window in zip(
            sizes,
            per_dimension("stride", 1),
            pads,
            per_dimension("lhs_dilate", 1),
            per_dimension("rhs_dilate", 1),
            strict=True,
        )
    )


def parse_dim_labels(value: str | None) -> ConvolutionLabels | None:
    """Return the labels of a convolution's dimensions, None where they cannot be read."""
    match = re.fullmatch(r"([\w?]+)_([\w?]+)->([\w?]+)", value or "")
    return ConvolutionLabels(*match.groups()) if match else None


def first_array(shape: Shape) -> Shape:
    """Return an array shape itself, and of a tuple the first array."""
    return next(shape.leaves(), shape)


def dot_flops(left: Shape, result: Shape, contracting: tuple[int, ...]) -> int | None:
    """Return the operations of a matrix product: a multiply-add per result element and contracted element."""
    if any(dimension >= left.rank for dimension in contracting):
        return None
    return MULTIPLY_ADD * result.element_count * prod(left.dimensions[each] for each in contracting)


def convolution_flops(left: Shape, kernel: Shape, result: Shape, attributes: Mapping[str, str]) -> int | None:
    """Return the operations of a convolution: multiply-adds with padding and dilation holes left out.

    Args:
        left: the input's shape.
        kernel: the kernel's shape.
        result: the output's shape.
        attributes: window, dim_labels, feature_group_count and batch_group_count, as written.
    """
    labels = parse_dim_labels(attributes.get("dim_labels"))
    if labels is None or any(
        len(names) != shape.rank for names, shape in zip(labels, (left, kernel, result), strict=True)
    ):
        return None
    window = parse_window(attributes.get("window"))
    spatial = sorted(set(labels.input) - {"b", "f"})
    if window and len(window) != len(spatial):
        return None
    count = 1
    for name, dimension in zip(spatial, window, strict=False):
        try:
            kernel_size = kernel.dimensions[labels.kernel.index(name)]
            output_size = result.dimensions[labels.output.index(name)]
        except ValueError:
            return None
        input_size = left.dimensions[labels.input.index(name)]
        positions = valid_positions(input_size, kernel_size, output_size, dimension)
        if positions is None:
            return None
        count *= positions
    try:
        features = left.dimensions[labels.input.index("f")] // _group(attributes, "feature_group_count")
        batch = left.dimensions[labels.input.index("b")] // _group(attributes, "batch_group_count")
        output_features = result.dimensions[labels.output.index("f")]
    except ValueError:
        return None
    return MULTIPLY_ADD * features * output_features * batch * count


@lru_cache(maxsize=4096)
def valid_positions(input_size: int, kernel_size: int, output_size: int, window: WindowDimension) -> int | None:
    """Return how many pairs of a kernel and an output position meet an input element along one dimension.

    Padding and the holes of a dilated input are no elements. None where both sizes are beyond any real array's.

    >>> valid_positions(5, 3, 5, WindowDimension(size=3, pad_low=1, pad_high=1))
    13
    """
    dilation = max(window.base_dilation, 1)
    last = (input_size - 1) * dilation
    kernel, output = (kernel_size, max(window.window_dilation, 1)), (output_size, max(window.stride, 1))
    (outer, outer_step), (inner, inner_step) = sorted((kernel, output))
    if outer > _LARGEST_WINDOW:
        return None
    return sum(
        _multiples(inner, inner_step, position * outer_step - window.pad_low, last, dilation)
        for position in range(outer)
    )


def _multiples(count: int, step: int, offset: int, last: int, divisor: int) -> int:
    """Return how many of the first `count` of offset, offset + step, … lie in [0, last] and are multiples."""
    low = max(0, -(offset // step))
    high = min(count - 1, (last - offset) // step)
    if high < low:
        return 0
    common = gcd(step, divisor)
    if offset % common:
        return 0
    period = divisor // common
    first = -(offset // common) * pow(step // common, -1, period) % period if period > 1 else 0
    return (high - first) // period - (low - 1 - first) // period


def elementwise(instruction: Instruction) -> Arithmetic | None:
    """Return the arithmetic of an operation that does the same to every element; None for any other."""
    opcode = instruction.opcode
    if opcode in _ELEMENTWISE:
        return Arithmetic(flops=instruction.shape.element_count)
    if opcode in TRANSCENDENTAL:
        return Arithmetic(transcendentals=instruction.shape.element_count)
    return Arithmetic() if opcode in NO_ARITHMETIC else None


def structured(instruction: Instruction) -> Arithmetic | None:
    """Return the arithmetic of products, convolutions, sorts, FFTs and solvers; None for any other operation."""
    operands = [each.shape for each in instruction.operands]
    attributes = instruction.attributes
    flops: int | None = None
    match instruction.opcode, operands:
        case "dot" | "ragged-dot" | "scaled-dot", [left, _, *_]:
            flops = dot_flops(left, _product_shape(instruction), numbers(attributes.get("lhs_contracting_dims")))
        case "convolution", [left, kernel, *_]:
            flops = convolution_flops(left, kernel, instruction.shape, attributes)
        case "sort", [keys, *_]:
            along = numbers(attributes.get("dimensions")) or (keys.rank - 1,)
            length = keys.dimensions[along[0]] if 0 <= along[0] < keys.rank else 1
            # A comparison sort of every row on its own: n elements, log2(n) rounds.
            flops = keys.element_count * max(length - 1, 0).bit_length()
        case "fft", [data, *_]:
            levels = sum(max(length.bit_length() - 1, 0) for length in numbers(attributes.get("fft_length")))
            flops = _FFT_LEVEL * levels * data.element_count
        case "cholesky", [matrix, *_] if matrix.rank:
            flops = matrix.element_count * matrix.dimensions[-1] // 3
        case "triangular-solve", [matrix, right, *_] if matrix.rank:
            flops = MULTIPLY_ADD * matrix.dimensions[-1] * right.element_count
        case "rng" | "rng-bit-generator", _:
            drawn = sum(leaf.element_count for leaf in instruction.shape.leaves())
            return Arithmetic(transcendentals=drawn)
        case "all-reduce" | "all-reduce-start" | "reduce-scatter", _:
            # Between two participants; how many there are is not known from one program's text.
            flops = sum(shape.element_count for shape in operands)
    return None if flops is None else Arithmetic(flops=flops)


def applications(instruction: Instruction) -> tuple[tuple[str, int], ...] | None:
    """Return (attribute, times) for each computation that an operation applies; None where it applies none.

    A reduction of f32[8,4] to f32[8] applies `to_apply` 24 times: the first of each row needs no partner.
    """
    operands = [each.shape for each in instruction.operands]
    result = first_array(instruction.shape)
    match instruction.opcode, operands:
        case "reduce", [data, *_]:
            return (("to_apply", max(data.element_count - result.element_count, 0)),)
        case "map", _:
            return (("to_apply", result.element_count),)
        case "reduce-window", [_, *_]:
            window = prod(each.size for each in parse_window(instruction.attributes.get("window")))
            return (("to_apply", max(window - 1, 0) * result.element_count),)
        case "scatter", [*_, updates]:
            return (("to_apply", updates.element_count),)
        case "select-and-scatter", [_, source, *_]:
            window = prod(each.size for each in parse_window(instruction.attributes.get("window")))
            return (("select", source.element_count * max(window - 1, 0)), ("scatter", source.element_count))
    return None


def _product_shape(instruction: Instruction) -> Shape:
    shape = instruction.shape
    if instruction.opcode == "ragged-dot":
        # Each row belongs to one group: the group dimension multiplies nothing.
        groups = numbers(instruction.attributes.get("rhs_group_dims"))
        if groups and shape.rank > instruction.operands[0].shape.rank:
            return Shape(shape.element_type, shape.dimensions[1:])
    return shape


def _group(attributes: Mapping[str, str], name: str) -> int:
    found = numbers(attributes.get(name))
    return max(found[0], 1) if found else 1
