"""Modules and computations: sequences of instructions that are read when somebody looks at them."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from sys import intern
from typing import NamedTuple

from xlacompare.errors import HloError
from xlacompare.hlo import careful, fast
from xlacompare.hlo.attributes import split_attributes, unquote
from xlacompare.hlo.desugar import expand, is_short_form
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.operands import LITERAL_OPCODES, operand_names
from xlacompare.hlo.source import HloWarning, Source
from xlacompare.hlo.stack_frames import StackFrames

_Row = tuple[str, str, str, str, str]


class Body(NamedTuple):
    """Where a computation's instructions stand: a span of the text, or rows that were read already."""

    start: int
    end: int
    rows: list[_Row] | None = None
    offsets: list[int] | None = None


class Computation:
    """A named sequence of instructions.

    Attributes:
        module: the one that it stands in.
        name: without the percent sign.
        signature: `(p: f32[4]) -> f32[4]` verbatim, empty where the text has none.
        attribute_text: what follows the closing brace, verbatim.
        is_entry: whether it is the module's ENTRY.
        opcodes: of all instructions in order; known without reading any instruction.
        is_bare: whether its instructions stand in the text without a computation around them.
        is_inline: whether it is written inside an attribute of another computation's instruction.
        is_implied: whether the text does not hold it: what the short form of an async operation calls.
        written_as: opcode and attributes, by instruction name, of what was written in that short form.
    """

    __slots__ = (
        "_body",
        "_by_name",
        "_instructions",
        "_parameters",
        "_root_index",
        "_users",
        "attribute_text",
        "is_bare",
        "is_entry",
        "is_implied",
        "is_inline",
        "module",
        "name",
        "opcodes",
        "signature",
        "written_as",
    )

    def __init__(
        self,
        module: Module,
        name: str,
        opcodes: list[str],
        body: Body,
        signature: str = "",
        attribute_text: str = "",
    ) -> None:
        self.module = module
        self.name = name
        self.opcodes = opcodes
        self.signature = signature
        self.attribute_text = attribute_text
        self.is_entry = False
        self.is_bare = False
        self.is_inline = False
        self.is_implied = False
        self.written_as: dict[str, tuple[str, str]] = {}
        self._body = body
        self._instructions: list[Instruction] | None = None
        self._by_name: dict[str, Instruction] = {}
        self._root_index = -1
        self._parameters: tuple[Instruction, ...] | None = None
        self._users: dict[Instruction, tuple[Instruction, ...]] | None = None

    @property
    def instructions(self) -> Sequence[Instruction]:
        """All instructions in the text's order, their operands resolved."""
        if self._instructions is None:
            self._instructions = self._build()
        return self._instructions

    @property
    def root(self) -> Instruction:
        """What the computation returns: the instruction marked ROOT, else the last one.

        Raises:
            HloError: the computation is empty.
        """
        if not self.instructions:
            raise HloError(f"computation %{self.name} has no instructions", file=self.module.file)
        return self.instructions[self._root_index]

    @property
    def parameters(self) -> tuple[Instruction, ...]:
        """Its parameters by number."""
        if self._parameters is None:
            found = [one for one in self.instructions if one.opcode == "parameter"]
            found.sort(key=lambda one: -1 if one.parameter_number is None else one.parameter_number)
            self._parameters = tuple(found)
        return self._parameters

    @property
    def attributes(self) -> Mapping[str, str]:
        """What follows the closing brace, by name."""
        return split_attributes(self.attribute_text)

    @property
    def execution_thread(self) -> str:
        """The thread that runs it, "main" where the text names none."""
        return unquote(self.attributes.get("execution_thread", '"main"'))

    def instruction(self, name: str) -> Instruction | None:
        """Return the instruction of that name, percent sign or not; None where there is none."""
        if self._instructions is None:
            self._instructions = self._build()
        return self._by_name.get(name.removeprefix("%"))

    def users_of(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return the instructions of this computation that read `instruction`, each once, in order."""
        if self._users is None:
            users: dict[Instruction, dict[Instruction, None]] = {}
            for user in self.instructions:
                for operand in user.operands:
                    users.setdefault(operand, {})[user] = None
            self._users = {operand: tuple(readers) for operand, readers in users.items()}
        return self._users.get(instruction, ())

    def line_of(self, instruction: Instruction) -> int:
        """Return the 1-based line of the file at which one of the instructions starts."""
        return self.module.source_text.position(self.offset_of(instruction))[0]

    def offset_of(self, instruction: Instruction) -> int:
        """Return the offset in the text at which one of the instructions starts."""
        index = next(at for at, one in enumerate(self.instructions) if one is instruction)
        return self.row_offset(index)

    def __len__(self) -> int:
        return len(self.opcodes)

    def __repr__(self) -> str:
        return f"<Computation %{self.name}, {len(self.opcodes)} instructions>"

    def take_rows(self) -> list[_Row]:
        """Return the instructions as rows, before they are built. For what rewrites them: see `replace_rows`."""
        return self._rows()

    def replace_rows(self, rows: list[_Row], opcodes: list[str]) -> None:
        """Put other rows in place of those that `take_rows` gave."""
        offsets = [self.row_offset(index) for index in range(len(rows))]
        self._body = Body(self._body.start, self._body.end, rows, offsets)
        self.opcodes = opcodes

    def row_offset(self, index: int) -> int:
        """Return the offset in the text of the instruction at `index`."""
        if self._body.offsets is not None:
            return self._body.offsets[index]
        text, at = self.module.source_text.text, self._body.start
        for _ in range(index):
            at = text.index("\n", at) + 1
        return at + 2

    def _rows(self) -> list[_Row]:
        body = self._body
        if body.rows is None:
            source = self.module.source_text
            rows = fast.read_rows(source.text[body.start : body.end], len(self.opcodes))
            if rows is not None:
                return rows
            parsed = careful.read_body(source, body.start, body.end)
            self._body = body = Body(body.start, body.end, parsed.rows, parsed.offsets)
            self.opcodes = parsed.opcodes
        # Kept only until the instructions exist.
        self._body = Body(body.start, body.end, [], body.offsets)
        return body.rows or []

    def _build(self) -> list[Instruction]:
        rows = self._rows()
        instructions: list[Instruction] = []
        by_name = self._by_name
        pending: list[int] = []
        add = instructions.append
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            for (root, name, shape, operands, attributes), opcode in zip(rows, self.opcodes, strict=True):
                instruction = Instruction(self, name, opcode, intern(shape), operands, attributes)
                if not operands or opcode in LITERAL_OPCODES:
                    instruction.operands = ()
                else:
                    # Right for the printer's own `%a, %b`; anything else misses and is read properly below.
                    try:
                        instruction.operands = tuple(
                            [by_name[operand] for operand in operands.replace("%", "").split(", ")]
                        )
                    except KeyError:
                        pending.append(len(instructions))
                if root:
                    self._root_index = len(instructions)
                by_name[name] = instruction
                add(instruction)
        finally:
            if was_collecting:
                gc.enable()
        self._instructions = instructions
        if len(by_name) != len(instructions):
            self._warn_of_twins(instructions)
        for index in pending:
            self._resolve(index, instructions[index])
        return instructions

    def _resolve(self, index: int, instruction: Instruction) -> None:
        found = []
        for name in operand_names(instruction.operand_text):
            operand = self._by_name.get(name)
            if operand is None:
                self.module.doubt(
                    self.row_offset(index),
                    f"operand %{name} of %{instruction.name} is not in computation %{self.name}",
                )
            else:
                found.append(operand)
        instruction.operands = tuple(found)

    def _warn_of_twins(self, instructions: list[Instruction]) -> None:
        seen: set[str] = set()
        for index, instruction in enumerate(instructions):
            if instruction.name in seen:
                self.module.doubt(
                    self.row_offset(index), f"%{instruction.name} is defined twice in computation %{self.name}"
                )
            seen.add(instruction.name)


class Module:
    """One HLO module.

    Attributes:
        name: from the HloModule line; empty where the text has none.
        header_text: what follows the name on the HloModule line, verbatim.
        tables_text: the FileNames, FunctionNames, FileLocations and StackFrames tables, verbatim.
        computations: in the file's order.
        source_text: the text that it was read from.
        offset: where it starts in that text.
    """

    def __init__(self, source: Source, name: str = "", header_text: str = "", *, offset: int = 0) -> None:
        self.source_text = source
        self.name = name
        self.header_text = header_text
        self.tables_text = ""
        self.offset = offset
        self.computations: list[Computation] = []
        self._by_name: dict[str, Computation] = {}
        self._entry: Computation | None = None
        self._warnings: dict[HloWarning, None] = {}

    @property
    def file(self) -> str | None:
        """The file's path as given; None for text from memory."""
        return self.source_text.file

    @property
    def entry(self) -> Computation:
        """The ENTRY computation; the last one where none is marked.

        Raises:
            HloError: the module has no computation at all.
        """
        if self._entry is not None:
            return self._entry
        if not self.computations:
            raise HloError(f"module {self.name!r} has no computation", file=self.file)
        return self.computations[-1]

    @property
    def warnings(self) -> tuple[HloWarning, ...]:
        """The doubts so far, in the file's order.

        Doubts about one instruction's operands arise when its computation is first looked at; `check` looks
        at all.
        """
        return tuple(sorted(self._warnings))

    def check(self) -> tuple[HloWarning, ...]:
        """Read every instruction and reference of the module, and return all warnings.

        Raises:
            HloError: the module was read with `strict=True` and there is a doubt.
        """
        for computation in self.computations:
            for instruction in computation.instructions:
                _ = instruction.called
        return self.warnings

    def computation(self, name: str) -> Computation | None:
        """Return the computation of that name, percent sign or not; None where there is none."""
        return self._by_name.get(name.removeprefix("%"))

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """The header's attributes, values verbatim."""
        return split_attributes(self.header_text)

    @property
    def is_scheduled(self) -> bool:
        """Whether the order of instructions is the order of execution."""
        return self.attributes.get("is_scheduled") == "true"

    @property
    def entry_computation_layout(self) -> str | None:
        """`{(f32[2]{0})->f32[]}` verbatim; None where the header has none."""
        return self.attributes.get("entry_computation_layout")

    @cached_property
    def stack_frames(self) -> StackFrames:
        """The stack tables; empty ones where the text has none."""
        return StackFrames(self.tables_text)

    def add(self, computation: Computation, *, entry: bool) -> None:
        """Append a computation that was just read."""
        self.computations.append(computation)
        self._by_name[computation.name] = computation
        if entry and self._entry is None:
            self._entry = computation

    def take_from(self, index: int) -> list[Computation]:
        """Remove the computations from `index` on, and return them."""
        taken = self.computations[index:]
        del self.computations[index:]
        self._by_name = {computation.name: computation for computation in self.computations}
        return taken

    def new_computation(self, name: str, rows: list[_Row], opcodes: list[str], offset: int) -> Computation:
        """Return a computation that the text implies at `offset`, under a free name, not yet in `computations`."""
        free, count = name, 0
        while free in self._by_name:
            count += 1
            free = f"{name}.{count}"
        computation = Computation(self, free, opcodes, Body(offset, offset, rows, [offset] * len(rows)))
        computation.is_implied = True
        self._by_name[free] = computation
        return computation

    def finish(self) -> None:
        """Settle what only the whole module tells, once all computations are there: the entry, short async forms."""
        if any(is_short_form(opcode) for opcode in {one for each in self.computations for one in each.opcodes}):
            expand(self)
        if self.computations:
            self._entry = self.entry
            self._entry.is_entry = True

    def doubt(self, offset: int, message: str) -> None:
        """Keep a warning; a strict reader raises instead.

        Raises:
            HloError: the module was read with `strict=True`.
        """
        self._warnings[self.source_text.warning(offset, message)] = None

    def adopt_warnings(self, other: Module) -> None:
        """Take over the warnings of a module that is left out."""
        self._warnings.update(other._warnings)

    def resolve(self, instruction: Instruction, role: str, names: Iterable[str]) -> tuple[Computation, ...]:
        """Return the computations of these names; one that is missing becomes a warning."""
        found = []
        for name in names:
            computation = self._by_name.get(name)
            if computation is None:
                self.doubt(
                    instruction.computation.offset_of(instruction),
                    f"{role}= of %{instruction.name} names computation %{name}, which is not in the module",
                )
            else:
                found.append(computation)
        return tuple(found)

    def __repr__(self) -> str:
        return f"<Module {self.name!r}, {len(self.computations)} computations>"
