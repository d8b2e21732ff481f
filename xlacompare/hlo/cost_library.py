"""Library calls whose arithmetic is known from their target; all others are unknown, never zero."""

from __future__ import annotations

import json
from collections.abc import Mapping

from xlacompare.hlo.cost_flops import convolution_flops, dot_flops, first_array
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.shape import Shape

# Calls of the compiler's own that only mark something.
_NO_ARITHMETIC = frozenset(
    {
        "AllocateBuffer",
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
    }
)
_GEMM = ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8", "__onednn$matmul", "__triton_gemm")
_CONVOLUTION = ("__cudnn$conv", "__onednn$convolution", "__onednn$conv")


def library_flops(instruction: Instruction) -> int | None:
    """Return the operations of a custom call, None where its target says nothing about them."""
    target = instruction.custom_call_target or ""
    if target in _NO_ARITHMETIC:
        return 0
    operands = [each.shape for each in instruction.operands]
    if len(operands) >= 2 and target in _GEMM:
        return dot_flops(operands[0], first_array(instruction.shape), _contracting(instruction))
    if len(operands) >= 2 and target.startswith(_CONVOLUTION):
        return _convolution(target, operands, first_array(instruction.shape), instruction.attributes)
    return _lapack(target, operands)


def _contracting(instruction: Instruction) -> tuple[int, ...]:
    """Return the left operand's contracted dimensions from a GEMM call's configuration; its last by default."""
    config = instruction.backend_config
    found = _find(config, "lhs_contracting_dimensions")
    if isinstance(found, list):
        return tuple(int(each) for each in found if str(each).isdigit())
    rank = instruction.operands[0].shape.rank
    # Without a configuration a GEMM multiplies rows by columns, unless it says that the left one is transposed.
    transposed = _find(config, "transpose_a") is True
    return (rank - 2 if transposed and rank > 1 else rank - 1,) if rank else ()


def _find(config: object, name: str) -> object:
    """Return the first value of that name anywhere in a parsed configuration."""
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if name in value:
                return value[name]
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, str) and value.startswith("{"):
            try:
                pending.append(json.loads(value))
            except ValueError:
                continue
    return None


def _convolution(target: str, operands: list[Shape], result: Shape, attributes: Mapping[str, str]) -> int | None:
    # The window of a backward call is the forward convolution's, so its shapes are put back in their roles.
    left, right = operands[0], operands[1]
    if "BackwardInput" in target:
        return convolution_flops(result, right, left, attributes)
    if "BackwardFilter" in target:
        return convolution_flops(left, result, right, attributes)
    return convolution_flops(left, right, result, attributes)


def _lapack(target: str, operands: list[Shape]) -> int | None:
    """Return the textbook operation counts of the solvers that JAX calls by name."""
    if not operands or operands[0].rank < 2:
        return None
    matrix = operands[0]
    rows, columns = matrix.dimensions[-2:]
    batch = matrix.element_count // max(rows * columns, 1)
    name = target.lower()
    if "potrf" in name:
        return batch * rows**3 // 3
    if "getrf" in name:
        short, long = min(rows, columns), max(rows, columns)
        return batch * (short * short * long - short**3 // 3)
    if "trsm" in name and len(operands) > 1:
        return operands[0].dimensions[-1] * operands[1].element_count
    return None
