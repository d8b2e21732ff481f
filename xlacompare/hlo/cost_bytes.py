"""Bytes that a kernel reads from memory and writes to it, and those that a fusion keeps to itself."""

from __future__ import annotations

from typing import NamedTuple

from xlacompare.hlo.control import FREE_OPCODES, wrapped_computation
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.module import Computation
from xlacompare.hlo.shape import Shape

_RENAMING = frozenset({"bitcast", "get-tuple-element", "tuple"})


class Traffic(NamedTuple):
    """Bytes read, bytes written, and bytes of values in between that never reach memory."""

    read: int = 0
    written: int = 0
    inside: int = 0


def traffic(instruction: Instruction) -> Traffic:
    """Return the bytes of a kernel or a single operation, each operand read once."""
    if instruction.opcode in ("fusion", "fusion-start"):
        computation = wrapped_computation(instruction)
        if computation is not None and computation.opcodes:
            return _fusion(computation)
    return _single(instruction)


def shape_bytes(shape: Shape) -> int:
    """Return the bytes of an array, or of a tuple's arrays."""
    return shape.byte_size


def _single(instruction: Instruction) -> Traffic:
    result = instruction.shape.byte_size
    operands = list(dict.fromkeys(instruction.operands))
    sizes = [each.shape.byte_size for each in instruction.operands]
    opcode = instruction.opcode
    if opcode in FREE_OPCODES or opcode.endswith(("-done", "-update")):
        return Traffic()
    if opcode in ("slice", "dynamic-slice"):
        return Traffic(result + sum(sizes[1:]), result)
    if opcode == "gather":
        return Traffic(min(result, sizes[0] if sizes else result) + sum(sizes[1:]), result)
    if opcode == "dynamic-update-slice" and len(sizes) > 1:
        # The array itself is changed in place.
        return Traffic(sum(sizes[1:]), sizes[1])
    if opcode == "scatter" and len(sizes) >= 3:
        count = (len(sizes) - 1) // 2
        updates, indices = sum(sizes[count + 1 :]), sizes[count]
        # What is updated is read and written in place, as far as the updates reach.
        return Traffic(2 * updates + indices, updates)
    if opcode.endswith("-start"):
        # The shape of a start repeats its operands beside its result, and may hold a context.
        result = _start_result(instruction)
    return Traffic(sum(each.shape.byte_size for each in operands), result)


def _start_result(instruction: Instruction) -> int:
    parts = instruction.shape.tuple_shapes
    return parts[1].byte_size if len(parts) > 1 else instruction.shape.byte_size


def _fusion(computation: Computation) -> Traffic:
    read = sum(_parameter_read(computation, parameter) for parameter in computation.parameters)
    read += sum(
        each.shape.byte_size for each in computation.instructions if each.opcode == "constant" and each.shape.rank
    )
    root = computation.root
    results = list(root.operands) if root.opcode == "tuple" else [root]
    written = sum(_written(each) for each in results)
    outside = {*results, root}
    inside = sum(
        each.shape.byte_size
        for each in computation.instructions
        if each not in outside and each.opcode not in _RENAMING and each.opcode not in ("parameter", "constant")
    )
    return Traffic(read, written, inside)


def _written(result: Instruction) -> int:
    while result.opcode == "bitcast" and result.operands:
        result = result.operands[0]
    if result.opcode == "dynamic-update-slice" and len(result.operands) > 1:
        return result.operands[1].shape.byte_size
    return result.shape.byte_size


def _parameter_read(computation: Computation, value: Instruction) -> int:
    """Return how much of a parameter the fusion reads: parts where only parts are looked at."""
    whole = value.shape.byte_size
    parts = 0
    pending = [value]
    while pending:
        current = pending.pop()
        for user in computation.users_of(current):
            first = bool(user.operands) and user.operands[0] is current
            if user.opcode in _RENAMING and user.opcode != "tuple":
                pending.append(user)
            elif first and user.opcode in ("slice", "dynamic-slice", "gather"):
                parts += user.shape.byte_size
            elif first and user.opcode == "dynamic-update-slice" and current not in user.operands[1:]:
                continue
            else:
                return whole
    return min(parts, whole)
