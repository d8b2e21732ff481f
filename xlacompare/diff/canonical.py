"""A computation as text in canonical form: names by order, attributes sorted, metadata and layouts left out.

Two texts of the same program then differ in nothing, and difflib has something to say about two programs.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from xlacompare.hlo import Computation, Instruction

_LEFT_OUT_WORDS = """
    metadata backend_config frontend_attributes sharding parameter_replication origin original_value statistics
    control-predecessors calls to_apply body condition branch_computations true_computation false_computation
    called_computations comparator select scatter"""
_LEFT_OUT = frozenset(_LEFT_OUT_WORDS.split())
# difflib is quadratic where texts are unlike: beyond this many lines a computation is compared in its head alone.
MAX_LINES = 4000


@dataclass(frozen=True, slots=True)
class TextRow:
    """Two lines beside one another; None where one side has none. `same` is whether they are equal."""

    left: str | None
    right: str | None
    same: bool


def canonical_lines(computation: Computation, limit: int = MAX_LINES) -> list[str]:
    """Return a computation's instructions, one a line, parameters first by number, then in the text's order."""
    instructions = list(computation.parameters)
    instructions += [one for one in computation.instructions if one.opcode != "parameter"]
    counts: dict[str, int] = {}
    names: dict[Instruction, str] = {}
    lines: list[str] = []
    for instruction in instructions[:limit]:
        stem = "p" if instruction.opcode == "parameter" else instruction.opcode
        number = counts[stem] = counts.get(stem, -1) + 1
        names[instruction] = f"%{stem}.{number}"
    for instruction in instructions[:limit]:
        lines.append(_line(instruction, names))
    if len(instructions) > limit:
        lines.append(f"… {len(instructions) - limit} instructions more")
    return lines


def _line(instruction: Instruction, names: dict[Instruction, str]) -> str:
    if instruction.opcode in ("parameter", "constant"):
        inside = instruction.operand_text.strip()
    else:
        inside = ", ".join(names.get(operand, "%?") for operand in instruction.operands)
    parts = [f"{name}={value}" for name, value in sorted(instruction.attributes.items()) if name not in _LEFT_OUT]
    for role, computations in sorted(instruction.called_by_role.items()):
        inner = [_opcodes(called) for called in computations]
        parts.append(f"{role}={{{'; '.join(inner)}}}")
    root = "ROOT " if instruction.is_root else ""
    return ", ".join([f"{root}{names[instruction]} = {instruction.shape} {instruction.opcode}({inside})", *parts])


def _opcodes(computation: Computation, limit: int = 16) -> str:
    inside = [opcode for opcode in computation.opcodes if opcode not in ("parameter", "bitcast", "constant")]
    return " ".join(inside[:limit]) + (" …" if len(inside) > limit else "")


def text_rows(left: Sequence[str], right: Sequence[str]) -> list[TextRow]:
    """Return two texts line by line beside one another, as difflib aligns them."""
    rows: list[TextRow] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [TextRow(one, other, True) for one, other in zip(left[a:b], right[c:d], strict=True)]
            continue
        for at in range(max(b - a, d - c)):
            rows.append(TextRow(left[a + at] if a + at < b else None, right[c + at] if c + at < d else None, False))
    return rows
