"""One module: its header, its tables and its computations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from xlacompare.errors import HloError
from xlacompare.hlo.attributes import split_attributes
from xlacompare.hlo.collector import collector_paused
from xlacompare.hlo.computation import Body, Computation, Row
from xlacompare.hlo.desugar import expand, is_short_form
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.names import FreeNames
from xlacompare.hlo.source import HloWarning, Source
from xlacompare.hlo.stack_frames import StackFrames

__all__ = ["Computation", "Module"]


class Module:
    """One HLO module.

    Attributes:
        name: from the HloModule line; empty where the text has none.
        header_text: what follows the name on the HloModule line, verbatim.
        computations: in the file's order.
        by_name: the same by name; of two with one name, the later.
        source_text: the text that it was read from.
        offset: where it starts in that text.
    """

    def __init__(self, source: Source, name: str = "", header_text: str = "", *, offset: int = 0) -> None:
        self.source_text = source
        self.name = name
        self.header_text = header_text
        self._tables: list[str] = []
        self.offset = offset
        self.computations: list[Computation] = []
        self.by_name: dict[str, Computation] = {}
        self._entry: Computation | None = None
        self._names: FreeNames | None = None
        self._warnings: dict[HloWarning, None] = {}

    @property
    def file(self) -> str | None:
        """The file's path as given; None for text from memory."""
        return self.source_text.file

    @property
    def tables_text(self) -> str:
        """The FileNames, FunctionNames, FileLocations and StackFrames tables, verbatim."""
        return "".join(self._tables)

    def add_table(self, text: str) -> None:
        """Append one of the tables that was just read."""
        self._tables.append(text.rstrip() + "\n\n")

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
        self.build()
        for computation in self.computations:
            for instruction in computation.instructions:
                _ = instruction.called
        return self.warnings

    def build(self) -> None:
        """Read the instructions of all computations now: quicker for who wants them all than one after the other."""
        with collector_paused():
            for computation in self.computations:
                _ = computation.instructions

    def computation(self, name: str) -> Computation | None:
        """Return the computation of that name, percent sign or not; None where there is none."""
        return self.by_name.get(name.removeprefix("%"))

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
        self.by_name[computation.name] = computation
        if entry and self._entry is None:
            self._entry = computation

    def take_from(self, index: int) -> list[Computation]:
        """Remove the computations from `index` on, and return them."""
        taken = self.computations[index:]
        del self.computations[index:]
        self.by_name = {computation.name: computation for computation in self.computations}
        return taken

    def new_computation(self, name: str, rows: list[Row], opcodes: list[str], offset: int) -> Computation:
        """Return a computation that the text implies at `offset`, under a free name, not yet in `computations`."""
        if self._names is None:
            self._names = FreeNames(set(self.by_name))
        free = self._names.free(name)
        computation = Computation(self, free, opcodes, Body(offset, offset, rows, [offset] * len(rows)))
        computation.is_implied = True
        self.by_name[free] = computation
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
            computation = self.by_name.get(name)
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
