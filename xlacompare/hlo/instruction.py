"""One instruction, and where in the user's program it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlacompare.hlo.attributes import (
    COMPUTATION_ROLES,
    parse_backend_config,
    parse_metadata,
    referenced_names,
    split_attributes,
    unquote,
)
from xlacompare.hlo.shape import Shape, parse_shape

if TYPE_CHECKING:
    from xlacompare.hlo.computation import Computation


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in the user's program.

    Attributes:
        file: path as the framework wrote it.
        line: 1-based, 0 where the text gave none.
        function: the enclosing function's name, empty where the text gave none.
        column: 1-based, 0 where the text gave none.
    """

    file: str
    line: int = 0
    function: str = ""
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Instruction:
    """One instruction. Compared by identity: names are only unique inside one computation.

    What costs something to know (shape, attributes, called, metadata, …) is worked out when first asked for,
    then kept.

    Attributes:
        name: without the percent sign.
        opcode: as written, known or not.
        computation: the one that it stands in.
        operands: the instructions that it reads, in order. Names that nothing defines are left out, with a
            warning on the module.
        operand_text: what stood between the opcode's parentheses, verbatim.
        attribute_text: what stood after them, verbatim, starting with the comma.
        shape_text: the result shape, verbatim; empty where the text left it out.
        shape: parsed; unknown where the text left it out.
        attributes: name to verbatim value, in the text's order.
        called: computations that attributes name, in the text's order.
        called_by_role: the same by attribute name ("calls", "body", …).
        metadata: op_name, op_type, source_file, source_line, stack_frame_id, …
        users: instructions of the same computation that read this one, each once.
    """

    __slots__ = (
        "attribute_text",
        "attributes",
        "called",
        "called_by_role",
        "computation",
        "metadata",
        "name",
        "opcode",
        "operand_text",
        "operands",
        "shape",
        "shape_text",
        "users",
    )

    attributes: Mapping[str, str]
    called: tuple[Computation, ...]
    called_by_role: Mapping[str, tuple[Computation, ...]]
    metadata: Mapping[str, str | int]
    operands: tuple[Instruction, ...]
    shape: Shape
    users: tuple[Instruction, ...]

    def __init__(
        self,
        computation: Computation,
        name: str,
        opcode: str,
        shape_text: str,
        operand_text: str,
        attribute_text: str,
    ) -> None:
        self.computation = computation
        self.name = name
        self.opcode = opcode
        self.shape_text = shape_text
        self.operand_text = operand_text
        self.attribute_text = attribute_text

    def __getattr__(self, name: str) -> object:
        # Called for slots that were never set: a lazy attribute is worked out once and then costs what a slot
        # costs.
        work_out = _LAZY.get(name)
        if work_out is None:
            raise AttributeError(f"'Instruction' object has no attribute {name!r}")
        value = work_out(self)
        setattr(self, name, value)
        return value

    @property
    def is_root(self) -> bool:
        """Whether this is what its computation returns."""
        return self.computation.root is self

    @property
    def line(self) -> int:
        """1-based line of the file at which it starts."""
        return self.computation.line_of(self)

    @property
    def fusion_kind(self) -> str | None:
        """ "kLoop", "kInput", "kOutput", "kCustom", …; None where no kind is written."""
        return self.attributes.get("kind")

    @property
    def custom_call_target(self) -> str | None:
        """The library function that a custom call names; None where none is written."""
        target = self.attributes.get("custom_call_target")
        return None if target is None else unquote(target)

    @property
    def backend_config(self) -> object:
        """Parsed JSON where it is JSON, else text; None where there is none. Parsed anew at each call."""
        value = self.attributes.get("backend_config")
        return None if value is None else parse_backend_config(value)

    @property
    def parameter_number(self) -> int | None:
        """The number of a parameter; None for any other instruction, or where no number can be read."""
        text = self.operand_text.strip()
        if self.opcode != "parameter" or not (text.isascii() and text.isdigit() and len(text) < 10):
            return None
        return int(text)

    @property
    def literal(self) -> str | None:
        """The text of a constant's value, `{...}` where the dump left it out; None for other instructions."""
        return self.operand_text.strip() if self.opcode == "constant" else None

    @property
    def source(self) -> SourceLocation | None:
        """Where in the user's program this came from; None where the dump says nothing."""
        frames = self.source_frames
        return frames[0] if frames else None

    @property
    def source_frames(self) -> tuple[SourceLocation, ...]:
        """The chain of callers, innermost first; in older dumps the inline location alone."""
        metadata = self.metadata
        frame = metadata.get("stack_frame_id")
        if isinstance(frame, int):
            frames = self.computation.module.stack_frames.chain(frame)
            if frames:
                return frames
        file, line = metadata.get("source_file"), metadata.get("source_line")
        if not isinstance(file, str) or not file:
            return ()
        column = metadata.get("source_column")
        return (
            SourceLocation(file, line if isinstance(line, int) else 0, column=column if isinstance(column, int) else 0),
        )

    def __repr__(self) -> str:
        return f"<Instruction %{self.name} = {self.shape_text} {self.opcode}(…)>"


def _shape(instruction: Instruction) -> Shape:
    return parse_shape(instruction.shape_text)


def _attributes(instruction: Instruction) -> Mapping[str, str]:
    return split_attributes(instruction.attribute_text) if instruction.attribute_text else {}


def _metadata(instruction: Instruction) -> Mapping[str, str | int]:
    text = instruction.attribute_text
    if "metadata=" not in text:
        return {}
    value = instruction.attributes.get("metadata")
    return {} if value is None else parse_metadata(value)


def _called_by_role(instruction: Instruction) -> Mapping[str, tuple[Computation, ...]]:
    text = instruction.attribute_text
    # Nearly every instruction calls nothing, and this is cheaper than splitting its attributes.
    if not any(role in text for role in COMPUTATION_ROLES):
        return {}
    module = instruction.computation.module
    found: dict[str, tuple[Computation, ...]] = {}
    for role, value in instruction.attributes.items():
        if role in COMPUTATION_ROLES:
            found[role] = module.resolve(instruction, role, referenced_names(value))
    return found


def _called(instruction: Instruction) -> tuple[Computation, ...]:
    return tuple(computation for group in instruction.called_by_role.values() for computation in group)


def _operands(instruction: Instruction) -> tuple[Instruction, ...]:
    # Only while the computation is being built can operands be unset: whoever asks then asks too early.
    raise AttributeError(f"the operands of %{instruction.name} are not resolved yet")


def _users(instruction: Instruction) -> tuple[Instruction, ...]:
    return instruction.computation.users_of(instruction)


_LAZY = {
    "attributes": _attributes,
    "called": _called,
    "called_by_role": _called_by_role,
    "metadata": _metadata,
    "operands": _operands,
    "shape": _shape,
    "users": _users,
}
