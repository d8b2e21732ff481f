"""What becomes a step of the executable, and which computation runs which, how often.

Which instructions XLA launches was checked against the traces of its own CPU runtime and against the launch lists
of its GPU compiler; `docs/counting.md` tells how.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.module import Computation

# Names for buffers that exist already, or values known when the program starts: nothing runs.
FREE_OPCODES = frozenset(
    {
        "add-dependency",
        "after-all",
        "bitcast",
        "constant",
        "get-tuple-element",
        "opt-barrier",
        "parameter",
        "partition-id",
        "replica-id",
        "tuple",
    }
)
# The end of something asynchronous; its start is the launch.
_FREE_ENDINGS = ("-done", "-update")
_SMALL_CALL = re.compile(r'xla_cpu_small_call="?true')
_TRIP_COUNT = re.compile(r'known_trip_count\\*"?\s*:\s*\{\s*\\*"?n\\*"?\s*:\s*\\*"?(\d{1,18})')
_NAMED = {role: re.compile(rf"\b{role}=%?([^\s,{{}}]+)") for role in ("body", "calls", "condition", "to_apply")}


class Branch(NamedTuple):
    """A computation that an instruction runs as steps of its own.

    Attributes:
        computation: the one that is run.
        times: how often per run of the instruction; None where nobody knows.
        chosen: whether it is one of several of which one is run.
    """

    computation: Computation
    times: int | None
    chosen: bool = False


def is_free(opcode: str) -> bool:
    """Whether instructions of this opcode are no step of the executable.

    >>> is_free("bitcast"), is_free("copy-done"), is_free("copy-start")
    (True, True, False)
    """
    return opcode in FREE_OPCODES or opcode.endswith(_FREE_ENDINGS)


def is_small_call(instruction: Instruction) -> bool:
    """Whether a call is compiled with all that it calls into one kernel, as XLA's CPU compiler does with small
    loops since 2025: the runtime launches the call and nothing inside it.
    """
    return instruction.opcode == "call" and _SMALL_CALL.search(instruction.attribute_text) is not None


def trip_count(instruction: Instruction) -> int | None:
    """Return how often a while loop's body runs, None where XLA did not find out."""
    # Bare JSON since 2023, a string with escaped quotes before.
    match = _TRIP_COUNT.search(instruction.attribute_text)
    return int(match[1]) if match else None


def wrapped_computation(instruction: Instruction) -> Computation | None:
    """Return the computation that a fusion holds or an async-start wraps, None where the text lacks it."""
    return _named(instruction, "calls") or next(iter(instruction.called), None)


def is_container(instruction: Instruction) -> bool:
    """Whether the instruction only runs other steps: a call, a loop, a conditional, an asynchronous call."""
    opcode = instruction.opcode
    if opcode == "call":
        return not is_small_call(instruction)
    if opcode in ("while", "conditional", "call-start"):
        return True
    return opcode == "async-start" and wrapped_call(instruction) is not None


def wrapped_call(instruction: Instruction) -> Instruction | None:
    """Return the call that an async-start wraps, None where it wraps something else."""
    computation = wrapped_computation(instruction)
    if computation is None or "call" not in computation.opcodes:
        return None
    root = computation.root
    return root if root.opcode == "call" else None


def branches(instruction: Instruction) -> tuple[Branch, ...]:
    """Return the computations whose instructions are steps that this one runs, in the order in which they run.

    A fusion's computation and what a reduce, map, sort or scatter applies are no such steps: they are inside a
    kernel.
    """
    opcode = instruction.opcode
    if opcode == "while":
        count = trip_count(instruction)
        condition, body = _named(instruction, "condition"), _named(instruction, "body")
        # A loop of known length never evaluates its condition; one of unknown length does so once more than its
        # body.
        found = (Branch(condition, 0 if count is not None else None),) if condition is not None else ()
        return (*found, Branch(body, count)) if body is not None else found
    if opcode == "conditional":
        return tuple(Branch(each, 1, True) for each in instruction.called)
    if opcode == "async-start":
        call = wrapped_call(instruction)
        return branches(call) if call is not None else ()
    if opcode in ("call", "call-start") and not is_small_call(instruction):
        called = _named(instruction, "to_apply")
        return (Branch(called, 1),) if called is not None else ()
    return ()


def _named(instruction: Instruction, role: str) -> Computation | None:
    """Return the computation that an attribute names, None where there is none or it is not in the module."""
    # Cheaper than splitting all attributes, and a census asks this of every fusion and loop.
    match = _NAMED[role].search(instruction.attribute_text)
    found = instruction.computation.module.computation(match[1]) if match else None
    if found is None:
        found = next(iter(instruction.called_by_role.get(role, ())), None)
    return found
