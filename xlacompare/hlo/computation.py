"""One computation: a sequence of instructions that are read when somebody looks at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from xlacompare.errors import HloError
from xlacompare.hlo import careful, fast
from xlacompare.hlo.attributes import split_attributes, unquote
from xlacompare.hlo.collector import collector_paused
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.operands import LITERAL_OPCODES, operand_names

if TYPE_CHECKING:
    from xlacompare.hlo.module import Module

Row = tuple[str, str, str, str, str]
# Below this the pause costs more than the collections that it saves.
_WORTH_A_PAUSE = 500
_NOTHING: Mapping[str, tuple[str, str]] = MappingProxyType({})


class Body(NamedTuple):
    """Where a computation's instructions stand: a span of the text, or rows that were read already."""

    start: int
    end: int
    rows: list[Row] | None = None
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
        written_as: opcode and attributes, by instruction name, of what was written in that short form; an empty
            opcode for a parameter that the text only implies.
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
        self.written_as: Mapping[str, tuple[str, str]] = _NOTHING
        self._body = body
        self._instructions: list[Instruction] | None = None
        self._by_name: dict[str, Instruction] | None = None
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
        if self._by_name is None:
            self._by_name = {one.name: one for one in self.instructions}
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
        places = [at for at, one in enumerate(self.instructions) if one is instruction]
        # One that was only glanced at is none of those that were read since.
        places += [at for at, one in enumerate(self.instructions) if one.name == instruction.name]
        return self.row_offset(places[0])

    @property
    def unread_text(self) -> str | None:
        """The instructions verbatim, one a line as the printer writes them; None once somebody has read them."""
        if self._instructions is not None or self._body.rows is not None:
            return None
        return self.module.source_text.text[self._body.start : self._body.end]

    def __len__(self) -> int:
        return len(self.opcodes)

    def __repr__(self) -> str:
        return f"<Computation %{self.name}, {len(self.opcodes)} instructions>"

    def take_rows(self) -> list[Row]:
        """Return the instructions as rows, before they are built. For what rewrites them: see `replace_rows`."""
        return self._rows()

    def replace_rows(self, rows: list[Row], opcodes: list[str]) -> None:
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

    def _rows(self) -> list[Row]:
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
        if len(self.opcodes) > _WORTH_A_PAUSE:
            with collector_paused():
                instructions, pending = self._link(self._rows())
        else:
            instructions, pending = self._link(self._rows())
        self._instructions = instructions
        if len(self._by_name or ()) != len(instructions):
            self._warn_of_twins(instructions)
        for index in pending:
            self._resolve(index, instructions[index])
        return instructions

    def _link(self, rows: list[Row]) -> tuple[list[Instruction], list[int]]:
        """Return the instructions, and the indices of those whose operands are not just names of earlier ones."""
        instructions: list[Instruction] = []
        pending: list[int] = []
        by_name: dict[str, Instruction] = {}
        self._by_name = by_name
        add, find = instructions.append, by_name.__getitem__
        for (root, name, shape, operands, attributes), opcode in zip(rows, self.opcodes, strict=True):
            instruction = Instruction(self, name, opcode, intern(shape), operands, attributes)
            if not operands or opcode in LITERAL_OPCODES:
                instruction.operands = ()
            else:
                # Right for the printer's own `%a, %b`; anything else misses and is read properly afterwards.
                try:
                    if "," in operands:
                        instruction.operands = tuple(map(find, operands.replace("%", "").split(", ")))
                    else:
                        instruction.operands = (find(operands[1:] if operands[0] == "%" else operands),)
                except KeyError:
                    pending.append(len(instructions))
            if root:
                self._root_index = len(instructions)
            by_name[name] = instruction
            add(instruction)
        return instructions, pending

    def _resolve(self, index: int, instruction: Instruction) -> None:
        found = []
        for name in operand_names(instruction.operand_text):
            operand = self.instruction(name)
            if operand is None:
                self.module.doubt(
                    self.row_offset(index), f"operand %{name} of %{instruction.name} is not in computation %{self.name}"
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
