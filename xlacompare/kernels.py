"""The kernels of a module in the order in which they run: what each is, what is inside, how often it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from xlacompare.errors import UsageError
from xlacompare.hlo import Computation, Instruction, Module
from xlacompare.hlo.control import Branch, branches, is_container, is_free, is_small_call, wrapped_computation

SCOPES = ("entry", "reachable", "weighted")
CLASSES = ("own", "library", "copy", "collective", "other")

_KIND = re.compile(r"\bkind=(k\w+)")
_COLLECTIVE = re.compile(
    r"(?:all-gather|all-reduce|all-to-all|collective-broadcast|collective-permute|ragged-all-to-all|reduce-scatter)"
    r"(?:-start)?$"
)
_LIBRARY = frozenset(
    {"cholesky", "convolution", "custom-call", "dot", "fft", "ragged-dot", "scaled-dot", "triangular-solve"}
)
_OTHER = re.compile(r"(?:infeed|outfeed|send|recv|domain|async-start|get-dimension-size|set-dimension-size)$")


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One launch of the executable; or, where steps are asked for, a step that only runs others.

    Attributes:
        instruction: what stands in the schedule; for an asynchronous one, its start.
        work: the instruction that does the work; differs from `instruction` where that is an async-start.
        kernel_class: "own" (compiled by XLA), "library", "copy", "collective", "other"; "container" for a step
            that only runs others.
        fusion_kind: "kLoop", "kInput", "kOutput", "kCustom"; None for what is no fusion.
        times: launches per run of the module; 0 for the condition of a loop of known length, None where a loop's
            length or the branch taken is not known.
        caller: the call, loop or conditional that runs it; None for a kernel of ENTRY itself.
    """

    instruction: Instruction
    work: Instruction
    kernel_class: str
    fusion_kind: str | None
    times: int | None
    caller: Instruction | None = None

    @property
    def name(self) -> str:
        """The name under which a profiler shows it."""
        return self.instruction.name

    @property
    def inside(self) -> Computation | None:
        """The fused computation, or what a small call was compiled from; None for a single instruction."""
        if self.fusion_kind is not None or is_small_call(self.work):
            return wrapped_computation(self.work)
        return None

    @property
    def is_wrapped(self) -> bool:
        """Whether it is a fusion of a single operation, which fuses nothing."""
        return self.fusion_kind is not None and is_wrapped(self.work)

    @property
    def is_library(self) -> bool:
        """Whether a library or another code generator than XLA's fusion emitter makes it."""
        return self.kernel_class == "library"


def kernels(module: Module, scope: str = "entry") -> list[Kernel]:
    """Return the kernels of a scope in the order in which they run.

    Args:
        module: the module; before optimizations its instructions are no kernels yet.
        scope: "entry" for those of ENTRY only; "reachable" or "weighted" for those that calls, loops and
            conditionals run as well, each call site once, with `Kernel.times` told.

    Raises:
        UsageError: another scope.
    """
    return [step for step in steps(module, scope) if step.kernel_class != "container"]


def steps(module: Module, scope: str = "entry") -> list[Kernel]:
    """Return the steps of a scope: its kernels, and in their place the calls, loops and conditionals, each before
    what it runs. On CPU these are the events of the runtime's trace, by the same names.

    Raises:
        UsageError: another scope.
    """
    if scope not in SCOPES:
        raise UsageError(f"There is no scope {scope!r}; it is one of {', '.join(SCOPES)}.")
    if scope == "entry":
        return [_step(each, 1, None) for each in module.entry.instructions if not is_free(each.opcode)]
    return list(_reachable(module.entry))


def is_kernel(instruction: Instruction) -> bool:
    """Whether the instruction is one launch: a step of the executable that is not only there to run others."""
    return not is_free(instruction.opcode) and not is_container(instruction)


def fusion_kind(instruction: Instruction) -> str | None:
    """Return a fusion's kind, None for another instruction; "unknown" where the text lacks it."""
    if instruction.opcode not in ("fusion", "fusion-start"):
        return None
    match = _KIND.search(instruction.attribute_text)
    return match[1] if match else "unknown"


def is_wrapped(fusion: Instruction) -> bool:
    """Whether a fusion holds one operation beside its parameters and belongs to no library.

    XLA puts single operations into fusions so that its emitter takes them; nothing was fused.
    """
    return fuses_nothing(fusion_kind(fusion), wrapped_computation(fusion))


def fuses_nothing(kind: str | None, inside: Computation | None) -> bool:
    """Whether a fusion of this kind and content is a wrapped single operation."""
    if inside is None or kind == "kCustom":
        return False
    return len(inside.opcodes) - inside.opcodes.count("parameter") == 1


def kernel_class(instruction: Instruction) -> str:
    """Return who makes the kernel of an instruction that is one: "own", "library", "copy", "collective", "other"."""
    work = async_work(instruction)
    kind = fusion_kind(work)
    return opcode_class(work.opcode) if kind is None else fusion_class(kind)


def fusion_class(kind: str) -> str:
    """Return the class of fusions of a kind: kCustom ones are made by a library or another code generator."""
    return "library" if kind == "kCustom" else "own"


def opcode_class(opcode: str) -> str:
    """Return the class of single instructions of an opcode that is no fusion's.

    >>> opcode_class("dot"), opcode_class("copy-start"), opcode_class("all-reduce"), opcode_class("sort")
    ('library', 'copy', 'collective', 'own')
    """
    if _COLLECTIVE.match(opcode):
        return "collective"
    if opcode in ("copy", "copy-start"):
        return "copy"
    if opcode.removesuffix("-start") in _LIBRARY:
        return "library"
    return "other" if _OTHER.match(opcode) else "own"


def async_work(instruction: Instruction) -> Instruction:
    """Return the instruction that an async-start stands for; any other instruction itself."""
    if instruction.opcode != "async-start":
        return instruction
    computation = wrapped_computation(instruction)
    return computation.root if computation is not None and computation.opcodes else instruction


def _step(instruction: Instruction, times: int | None, caller: Instruction | None) -> Kernel:
    if is_container(instruction):
        return Kernel(instruction, instruction, "container", None, times, caller)
    work = async_work(instruction)
    return Kernel(instruction, work, kernel_class(instruction), fusion_kind(work), times, caller)


class _Frame(NamedTuple):
    """A computation that is being walked through or waits for it."""

    computation: Computation
    times: int | None
    caller: Instruction | None
    instructions: Iterator[Instruction]


def _reachable(entry: Computation) -> Iterator[Kernel]:
    # An explicit stack: text may nest calls deeper than Python recurses, and may even call in circles.
    stack = [_Frame(entry, 1, None, iter(entry.instructions))]
    running = {entry}
    while stack:
        frame = stack[-1]
        running.add(frame.computation)
        for instruction in frame.instructions:
            if is_free(instruction.opcode):
                continue
            step = _step(instruction, frame.times, frame.caller)
            yield step
            if step.kernel_class != "container":
                continue
            inner = [
                _Frame(
                    each.computation,
                    _times(frame.times, each),
                    instruction,
                    iter(each.computation.instructions),
                )
                for each in branches(instruction)
                if each.computation not in running
            ]
            if inner:
                # The first to run comes to lie on top.
                stack += reversed(inner)
                break
        else:
            stack.pop()
            running.discard(frame.computation)


def _times(outer: int | None, branch: Branch) -> int | None:
    if outer == 0 or branch.times == 0:
        return 0
    # Which branch of a conditional runs is not known before it does.
    return None if outer is None or branch.times is None or branch.chosen else outer * branch.times
