"""Sums over what a computation runs, each computation looked at once however often it is called.

Counts are named by words: "thunks", "kernels", "kernel:own", "fusions", "fusion:kLoop", "wrapped", "library",
"collective:all-reduce", "async".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xlacompare.hlo import Computation, Instruction
from xlacompare.hlo.control import branches, is_container, is_free
from xlacompare.hlo.glance import fusions, glance
from xlacompare.kernels import (
    async_work,
    fuses_nothing,
    fusion_class,
    fusion_kind,
    is_wrapped,
    kernel_class,
    opcode_class,
)

# Opcodes whose instructions have to be looked at; of all others the name says everything.
_OTHERS_LOOKED_AT = ("async-start", "call", "call-start", "conditional", "fusion-start", "while")
_LOOKED_AT = frozenset({"fusion", *_OTHERS_LOOKED_AT})


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a computation in the three scopes; a weighted one is None where it is not known."""

    own: Mapping[str, int]
    reachable: Mapping[str, int]
    weighted: Mapping[str, int | None]


def tally(entry: Computation) -> dict[Computation, Tally]:
    """Return the counts of `entry` and of every computation whose instructions are steps that it runs."""
    done: dict[Computation, Tally] = {}
    seen: dict[Computation, list[Instruction]] = {}
    # An explicit stack: text may nest calls deeper than Python recurses.
    stack = [entry]
    while stack:
        computation = stack[-1]
        if computation in seen:
            stack.pop()
            if computation not in done:
                done[computation] = _sums(computation, seen[computation], done)
            continue
        seen[computation] = glance(computation, _OTHERS_LOOKED_AT)
        inner = [branch.computation for each in seen[computation] for branch in branches(each)]
        stack += [each for each in inner if each not in seen]
    return done


def _sums(computation: Computation, looked_at: Iterable[Instruction], done: Mapping[Computation, Tally]) -> Tally:
    own, wrapped_fusions = _own(computation, looked_at)
    reachable = own + wrapped_fusions
    weighted: dict[str, int | None] = dict(reachable)
    for each in looked_at:
        # A computation that calls itself, which only broken text has, is counted where it was entered first.
        inner = [(branch, done[branch.computation]) for branch in branches(each) if branch.computation in done]
        for _, counts in inner:
            reachable.update(counts.reachable)
        if any(branch.chosen for branch, _ in inner):
            _add(weighted, _agreed([counts.weighted for _, counts in inner]), 1)
        else:
            for branch, counts in inner:
                _add(weighted, counts.weighted, branch.times)
    return Tally(own, reachable, weighted)


def _own(computation: Computation, looked_at: Iterable[Instruction]) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of a computation's own instructions, and of the fusions that its async-starts wrap."""
    counts = Counter[str]()
    for opcode, number in Counter(computation.opcodes).items():
        if opcode not in _LOOKED_AT and not is_free(opcode):
            _count_kernel(counts, opcode, opcode_class(opcode), number)
    wrapped_fusions = Counter[str]()
    for instruction in looked_at:
        opcode = instruction.opcode
        if is_container(instruction):
            counts["thunks"] += 1
            counts["async"] += opcode.endswith("-start")
            continue
        _count_kernel(counts, opcode, kernel_class(instruction), 1)
        work = async_work(instruction)
        if (wrapped := fusion_kind(work)) is not None:
            # By the letter of its opcode a start is no fusion of its computation; it reaches one.
            _count_fusions(wrapped_fusions, wrapped, 1)
            wrapped_fusions["wrapped"] += is_wrapped(work)
    # Large modules have tens of thousands of these.
    found = list(fusions(computation))
    counts["wrapped"] += sum(fuses_nothing(kind, inside) for kind, inside in found)
    for kind, number in Counter(kind for kind, _ in found).items():
        _count_kernel(counts, "fusion", fusion_class(kind), number)
        _count_fusions(counts, kind, number)
    return counts, wrapped_fusions


def _count_kernel(counts: Counter[str], opcode: str, kernel: str, number: int) -> None:
    counts["thunks"] += number
    counts["kernels"] += number
    counts[f"kernel:{kernel}"] += number
    if kernel == "collective":
        counts[f"collective:{opcode.removesuffix('-start')}"] += number
    if opcode.endswith("-start"):
        counts["async"] += number


def _count_fusions(counts: Counter[str], kind: str, number: int) -> None:
    counts["fusions"] += number
    counts[f"fusion:{kind}"] += number
    counts["library"] += number * (fusion_class(kind) == "library")


def _add(total: dict[str, int | None], part: Mapping[str, int | None], times: int | None) -> None:
    for key, count in part.items():
        if times == 0 or count == 0:
            continue
        before = total.get(key, 0)
        total[key] = None if before is None or count is None or times is None else before + count * times


def _agreed(alternatives: list[Mapping[str, int | None]]) -> dict[str, int | None]:
    """Return what a conditional runs whichever branch it takes; None for a count that depends on it."""
    agreed: dict[str, int | None] = {}
    for key in sorted({key for counts in alternatives for key in counts}):
        found = {counts.get(key, 0) for counts in alternatives}
        agreed[key] = found.pop() if len(found) == 1 else None
    return agreed
