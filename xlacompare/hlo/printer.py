"""HLO text from a module: what was read, in the form of XLA's printer.

Shapes, operands and attributes come out as they were written, so that whoever accepted the original accepts this.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlacompare.hlo.computation import Computation
    from xlacompare.hlo.instruction import Instruction
    from xlacompare.hlo.module import Module

_REFERENCE = re.compile(r"%[^\s,{}=]+")


def print_module(module: Module) -> str:
    """Return text that reads back as the same module.

    >>> from xlacompare.hlo import read_text
    >>> print(print_module(read_text("HloModule m\\nENTRY e { ROOT p = f32[] parameter(0) }")[0]).strip())
    HloModule m
    <BLANKLINE>
    ENTRY %e {
      ROOT %p = f32[] parameter(0)
    }
    """
    out: list[str] = []
    if module.name or module.header_text:
        out.append(f"HloModule {module.name}{module.header_text}\n\n")
    if module.tables_text:
        out.append(module.tables_text + "\n")
    inline = {f"%{one.name}": one for one in module.computations if one.is_inline}
    for computation in module.computations:
        if computation.is_inline or computation.is_implied:
            continue
        if not computation.is_bare:
            entry = "ENTRY " if computation.is_entry else ""
            signature = f"{computation.signature} " if computation.signature else ""
            out.append(f"{entry}%{computation.name} {signature}{{\n")
        _print_body(computation, inline, out)
        out.append("\n" if computation.is_bare else f"}}{computation.attribute_text}\n\n")
    return "".join(out)


def _print_body(computation: Computation, inline: dict[str, Computation], out: list[str]) -> None:
    """Write a body, and the bodies written inside its attributes, with an explicit stack."""
    cut = bool(inline)
    pieces = _body_pieces(computation, cut=cut)[::-1]
    while pieces:
        piece = pieces.pop()
        inner = inline.get(piece) if cut else None
        if inner is None:
            out.append(piece)
        else:
            pieces.append("  }")
            pieces.extend(_body_pieces(inner, cut=cut)[::-1])
            pieces.append("{\n")


def _body_pieces(computation: Computation, *, cut: bool) -> list[str]:
    """Return a body in pieces; with `cut`, each reference in an attribute is a piece of its own."""
    pieces: list[str] = []
    for instruction in computation.instructions:
        opcode, attributes = computation.written_as.get(
            instruction.name, (instruction.opcode, instruction.attribute_text)
        )
        if not opcode:
            continue
        pieces.append(_head(instruction, opcode, root=computation.root is instruction and not computation.is_bare))
        at = 0
        if cut:
            for found in _REFERENCE.finditer(attributes):
                pieces.append(attributes[at : found.start()])
                pieces.append(found.group())
                at = found.end()
        pieces.append(attributes[at:])
        pieces.append("\n")
    return pieces


def _head(instruction: Instruction, opcode: str, *, root: bool) -> str:
    shape = f"{instruction.shape_text} " if instruction.shape_text else ""
    mark = "ROOT " if root else ""
    return f"  {mark}%{instruction.name} = {shape}{opcode}({instruction.operand_text})"
