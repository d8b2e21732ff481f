"""A look at some instructions of a computation without reading all of them.

A census needs a few words of each fusion, loop and call. In a text as the printer writes it those are found by
searching; wherever the search does not find exactly as many as there are, the instructions are read properly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlacompare.hlo import fast
from xlacompare.hlo.control import wrapped_computation
from xlacompare.hlo.instruction import Instruction
from xlacompare.hlo.module import Computation

# No word boundary in front: a search for a plain beginning is several times as fast.
_FUSION = re.compile(r"kind=(k\w+), calls=%?([\w.-]+)")
_KIND = re.compile(r"\bkind=(k\w+)")


def glance(computation: Computation, opcodes: Iterable[str]) -> list[Instruction]:
    """Return the instructions of these opcodes, opcode by opcode.

    Where the computation has not been read yet they have no operands: names, shapes and attributes are right.
    """
    found: list[Instruction] = []
    for opcode in opcodes:
        if opcode not in computation.opcodes:
            continue
        text = computation.unread_text
        sketched = None if text is None else _sketch(computation, opcode, text)
        if sketched is None:
            sketched = [each for each in computation.instructions if each.opcode == opcode]
        found += sketched
    return found


def fusions(computation: Computation) -> Iterator[tuple[str, Computation | None]]:
    """Yield kind and fused computation of every fusion; "unknown" and None where the text lacks them."""
    number = computation.opcodes.count("fusion")
    if not number:
        return
    text = computation.unread_text
    found = [] if text is None else _FUSION.findall(text)
    by_name = computation.module.by_name
    if len(found) == number and all(name in by_name for _, name in found):
        for kind, name in found:
            yield kind, by_name[name]
        return
    for each in computation.instructions:
        if each.opcode == "fusion":
            match = _KIND.search(each.attribute_text)
            yield match[1] if match else "unknown", wrapped_computation(each)


def _sketch(computation: Computation, opcode: str, text: str) -> list[Instruction] | None:
    needle, starts = f" {opcode}(", dict[int, None]()
    at = text.find(needle)
    while at >= 0:
        starts[text.rfind("\n", 0, at) + 1] = None
        at = text.find(needle, at + 1)
    if len(starts) != computation.opcodes.count(opcode):
        return None
    found = []
    for start in starts:
        rows = fast.read_rows(text[start : text.find("\n", start) + 1], 1)
        if not rows:
            return None
        _, name, shape, operands, attributes = rows[0]
        instruction = Instruction(computation, name, opcode, shape, operands, attributes)
        instruction.operands = ()
        found.append(instruction)
    return found
