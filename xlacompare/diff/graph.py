"""One module as one graph of primitive operations, with the kernels that they stand in.

Nodes are numbers and their properties are columns: a module of 230,000 operations is a real case, and an object for
each would cost more than all the matching. Node numbers are in topological order, but for what a loop carries around.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from xlacompare.hlo import Instruction, Module


class Kind(IntEnum):
    """What a node is. Only operations are counted; the others are how values get around."""

    OPERATION = 0
    PARAMETER = 1
    CARRIED = 2
    """A value that a loop carries, as its body sees it at the start of a trip; reads the value before the first."""
    EXIT = 3
    """A carried value after the loop; reads the carried value and what a trip makes of it."""
    ELEMENT = 4
    """One element of an operation that returns a tuple."""
    LOOP = 5
    """The loop itself, which reads its condition."""
    CHOICE = 6
    """A value that one of several branches makes; reads the predicate and every branch's value."""
    UNKNOWN = 7
    """A value that the text does not define."""


@dataclass(slots=True)
class Kernel:
    """One launch.

    Attributes:
        index: position in schedule order over the whole module.
        name: the instruction's name; with the call sites before it where its computation is inlined more than once.
        instruction: the step of the executable that launches it.
        kernel_class: "own", "library", "copy", "collective" or "other".
        scope: names of the calls, loops and branches that it stands in, outermost first; empty in ENTRY.
        operations: its nodes in the text's order, each once.
        inputs: the values that it reads.
        outputs: the values that it leaves in memory.
        read_bytes: size of what it reads from memory.
        written_bytes: size of what it writes to memory.
    """

    index: int
    name: str
    instruction: Instruction
    kernel_class: str
    scope: tuple[str, ...]
    operations: list[int] = field(default_factory=list)
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    read_bytes: int = 0
    written_bytes: int = 0


@dataclass(slots=True)
class Graph:
    """A flattened module.

    Attributes:
        kinds, labels, loose: per node, its kind and its two labels (see `labels.Label`).
        commutative: per node, whether the order of its operands means nothing.
        operands: per node, the nodes that it reads.
        instructions: per node, the first instruction that computes it.
        places: per node, the kernels that compute it, once per instruction; -1 is outside every kernel.
        doubles: per node, the further instructions that compute the same.
        updates: per carried value, what a trip makes of it.
        parameters: the ENTRY parameters' nodes by number.
        results: the nodes that ENTRY returns, tuples taken apart.
        kernels: every kernel that ENTRY reaches, in schedule order.
    """

    module: Module
    kinds: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    commutative: list[bool] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    doubles: dict[int, list[Instruction]] = field(default_factory=dict)
    updates: dict[int, int] = field(default_factory=dict)
    parameters: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kinds)

    def operations(self) -> list[int]:
        """Return the primitive operations: what is counted and matched."""
        return [node for node, kind in enumerate(self.kinds) if kind == Kind.OPERATION]

    def readers(self) -> list[list[tuple[int, int]]]:
        """Return per node who reads it and at which position; position 0 wherever the order means nothing."""
        readers: list[list[tuple[int, int]]] = [[] for _ in self.kinds]
        commutative = self.commutative
        for node, operands in enumerate(self.operands):
            plain = commutative[node]
            for position, operand in enumerate(operands):
                readers[operand].append((node, 0 if plain else position))
        for carried, update in self.updates.items():
            readers[update].append((carried, 1))
        return readers
