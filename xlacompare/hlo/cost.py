"""Static cost: arithmetic and memory traffic of an instruction, a kernel and a module, without running anything.

Nothing unknown is counted as zero: a library call whose arithmetic is not known, a loop of unknown length and
branches that differ leave a sum unknown (None), say so by name, and keep what is known as a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from xlacompare.errors import UsageError
from xlacompare.hlo.control import Branch, branches, is_container, is_free, is_small_call, wrapped_computation
from xlacompare.hlo.cost_bytes import traffic
from xlacompare.hlo.cost_flops import Arithmetic, applications, elementwise, structured
from xlacompare.hlo.cost_library import library_flops
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.module import Computation, Module


@dataclass(frozen=True, slots=True)
class Cost:
    """What something costs per run.

    Attributes:
        known_flops: operations that are known; two for a multiply-add, integers and comparisons as well.
        known_transcendentals: exponentials, logarithms, roots, sines and their like.
        known_bytes_read: bytes read from memory.
        known_bytes_written: bytes written to memory.
        bytes_inside: bytes of values that fusions kept from memory.
        unknown: names of the instructions that are not in the known figures, or not all of them.
    """

    known_flops: int = 0
    known_transcendentals: int = 0
    known_bytes_read: int = 0
    known_bytes_written: int = 0
    bytes_inside: int = 0
    unknown: tuple[str, ...] = ()

    @property
    def flops(self) -> int | None:
        """Operations; None where some are not known."""
        return None if self.unknown else self.known_flops

    @property
    def transcendentals(self) -> int | None:
        """Transcendental functions; None where some are not known."""
        return None if self.unknown else self.known_transcendentals

    @property
    def bytes_read(self) -> int | None:
        """Bytes read; None where some are not known."""
        return None if self.unknown else self.known_bytes_read

    @property
    def bytes_written(self) -> int | None:
        """Bytes written; None where some are not known."""
        return None if self.unknown else self.known_bytes_written

    @property
    def bytes_accessed(self) -> int | None:
        """Bytes read and written; None where some are not known."""
        return None if self.unknown else self.known_bytes_read + self.known_bytes_written

    def __add__(self, other: Cost) -> Cost:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _FIGURES}
        return Cost(**sums, unknown=_joined(self.unknown, other.unknown))

    def times(self, count: int) -> Cost:
        """Return the cost of so many runs."""
        if count == 0:
            return Cost()
        return Cost(**{name: getattr(self, name) * count for name in _FIGURES}, unknown=self.unknown)

    def to_json_dict(self) -> dict[str, Any]:
        """Return the figures, null where unknown, the known parts beside them."""
        return {
            "flops": self.flops,
            "transcendentals": self.transcendentals,
            "read_bytes": self.bytes_read,
            "written_bytes": self.bytes_written,
            "inside_bytes": self.bytes_inside,
            "known_flops": self.known_flops,
            "known_read_bytes": self.known_bytes_read,
            "known_written_bytes": self.known_bytes_written,
            "unknown": list(self.unknown),
        }


# Fusions in fusions, reductions in reductions: as deep as this is read one inside another.
_DEEPEST = 100
_FIGURES = tuple(each.name for each in fields(Cost) if each.name != "unknown")


def instruction_cost(instruction: Instruction) -> Cost:
    """Return the cost of one kernel, or of one operation as if it were a kernel of its own.

    A call, loop or conditional costs what it runs, a loop as often as XLA knows that it does.
    """
    return _Reckoner().instruction(instruction)


def module_cost(module: Module, scope: str = "weighted") -> Cost:
    """Return the sum over a module's kernels.

    Args:
        module: the module.
        scope: "entry" for ENTRY's own kernels; "reachable" for those of calls, loops and conditionals once each;
            "weighted" for loops times their length; "once" for every loop once, also one that was compiled into a
            kernel, which is how XLA's own cost analysis counts.

    Raises:
        UsageError: another scope.
    """
    reckoner = _Reckoner(every_loop_once=scope == "once")
    if scope == "entry":
        kernels = [each for each in module.entry.instructions if not is_free(each.opcode) and not is_container(each)]
        return _total(map(reckoner.instruction, kernels))
    if scope not in ("once", "reachable", "weighted"):
        raise UsageError(f"There is no scope {scope!r}; it is one of entry, reachable, weighted, once.")
    return reckoner.steps(module.entry, weighted=scope == "weighted")


class _Reckoner:
    """Costs of computations, each worked out once, however often it is called."""

    def __init__(self, *, every_loop_once: bool = False) -> None:
        self._every_loop_once = every_loop_once
        self._steps: dict[tuple[Computation, bool], Cost] = {}
        self._arithmetic: dict[Computation, tuple[Arithmetic, tuple[str, ...]]] = {}
        self._depth = 0

    def instruction(self, instruction: Instruction) -> Cost:
        """Return the cost of one instruction."""
        if is_container(instruction) or is_small_call(instruction):
            inner = _run_by(instruction)
            for branch in inner:
                self.steps(branch.computation, weighted=True)
            return self._container(instruction, inner, weighted=True)
        if instruction.opcode == "async-start":
            computation = wrapped_computation(instruction)
            if computation is not None and computation.opcodes:
                return self.instruction(computation.root)
        arithmetic, unknown = self.arithmetic(instruction)
        if unknown:
            return Cost(arithmetic.flops, arithmetic.transcendentals, unknown=(instruction.name,))
        moved = traffic(instruction)
        return Cost(arithmetic.flops, arithmetic.transcendentals, moved.read, moved.written, moved.inside)

    def steps(self, entry: Computation, *, weighted: bool) -> Cost:
        """Return the sum over a computation's steps, and what they run."""
        # An explicit stack: text may nest calls deeper than Python recurses.
        stack = [(entry, weighted)]
        opened: set[tuple[Computation, bool]] = set()
        while stack:
            item = stack[-1]
            if item in opened or item in self._steps:
                stack.pop()
                if item not in self._steps:
                    self._steps[item] = self._sum(*item)
                continue
            opened.add(item)
            computation, with_loops = item
            for each in computation.instructions:
                # A small call is one kernel, and costs what its loop does per launch in every scope.
                inner = with_loops or self._has_its_loops(each)
                found = [(branch.computation, inner) for branch in _run_by(each)]
                stack += [each for each in found if each not in opened]
        return self._steps[entry, weighted]

    def arithmetic(self, instruction: Instruction) -> tuple[Arithmetic, tuple[str, ...]]:
        """Return the arithmetic of one operation, and the names of operations in it that are not known."""
        found = elementwise(instruction) or structured(instruction)
        if found is not None:
            return found, ()
        opcode = instruction.opcode
        if opcode in ("fusion", "fusion-start"):
            computation = wrapped_computation(instruction)
            return self._inside(computation) if computation is not None else (Arithmetic(), (instruction.name,))
        if opcode.removesuffix("-start") == "custom-call":
            flops = library_flops(instruction)
            return (Arithmetic(), (instruction.name,)) if flops is None else (Arithmetic(flops), ())
        applied = applications(instruction)
        if applied is not None:
            return self._applied(instruction, applied)
        if is_free(opcode):
            return Arithmetic(), ()
        return Arithmetic(), (instruction.name,)

    def _sum(self, computation: Computation, weighted: bool) -> Cost:
        costs = []
        for each in computation.instructions:
            if is_free(each.opcode):
                continue
            inner = _run_by(each)
            if inner or is_container(each):
                costs.append(self._container(each, inner, weighted=weighted))
            else:
                costs.append(self.instruction(each))
        return _total(costs)

    def _has_its_loops(self, instruction: Instruction) -> bool:
        return is_small_call(instruction) and not self._every_loop_once

    def _container(self, instruction: Instruction, inner: Iterable[Branch], *, weighted: bool) -> Cost:
        weighted = weighted or self._has_its_loops(instruction)
        # What a circle of calls, which only broken text has, comes back to costs nothing more.
        known = [(branch, self._steps.get((branch.computation, weighted), Cost())) for branch in inner]
        if not known:
            return Cost(unknown=(instruction.name,))
        if not weighted:
            return _total(cost for _, cost in known)
        if any(branch.chosen for branch, _ in known):
            costs = [cost for _, cost in known]
            if all(cost == costs[0] for cost in costs):
                return costs[0]
            least = {name: min(getattr(cost, name) for cost in costs) for name in _FIGURES}
            return Cost(**least, unknown=(instruction.name,))
        parts = [cost.times(branch.times) for branch, cost in known if branch.times is not None]
        if any(branch.times is None for branch, _ in known):
            parts.append(Cost(unknown=(instruction.name,)))
        return _total(parts)

    def _inside(self, computation: Computation) -> tuple[Arithmetic, tuple[str, ...]]:
        """Return the arithmetic of all of a computation's operations."""
        done = self._arithmetic.get(computation)
        if done is not None:
            return done
        # Set first, so that a computation that names itself ends; and nobody fuses that deep.
        self._arithmetic[computation] = (Arithmetic(), (computation.name,))
        if self._depth > _DEEPEST:
            return self._arithmetic[computation]
        self._depth += 1
        flops = transcendentals = 0
        unknown: list[str] = []
        for each in computation.instructions:
            arithmetic, names = self.arithmetic(each)
            flops += arithmetic.flops
            transcendentals += arithmetic.transcendentals
            unknown += names
        self._depth -= 1
        self._arithmetic[computation] = (Arithmetic(flops, transcendentals), tuple(unknown))
        return self._arithmetic[computation]

    def _applied(
        self, instruction: Instruction, applied: Iterable[tuple[str, int]]
    ) -> tuple[Arithmetic, tuple[str, ...]]:
        roles: Mapping[str, tuple[Computation, ...]] = instruction.called_by_role
        flops = transcendentals = 0
        unknown: tuple[str, ...] = ()
        for role, times in applied:
            for computation in roles.get(role, ()):
                arithmetic, names = self._inside(computation)
                flops += arithmetic.flops * times
                transcendentals += arithmetic.transcendentals * times
                unknown += names
        return Arithmetic(flops, transcendentals), unknown


def _run_by(instruction: Instruction) -> tuple[Branch, ...]:
    if is_small_call(instruction):
        return tuple(Branch(each, 1) for each in instruction.called)
    return branches(instruction)


def _total(costs: Iterable[Cost]) -> Cost:
    figures = dict.fromkeys(_FIGURES, 0)
    unknown: dict[str, None] = {}
    for cost in costs:
        for name in _FIGURES:
            figures[name] += getattr(cost, name)
        unknown.update(dict.fromkeys(cost.unknown))
    return Cost(**figures, unknown=tuple(unknown))


def _joined(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(left + right)) if right else left
