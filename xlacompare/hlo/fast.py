"""The quick half of the reader: computations in the form that XLA's own printer writes.

    %name (p: f32[4]) -> f32[4] {                     one line, at the left margin
      ROOT %x = f32[4]{0} add(%p, %p), metadata={…}   one instruction a line, indented by two
    }

Everything else (wrapped or nested instructions, inline computations, stray comments, hand-indented text) is
left to `careful.py`. A computation is taken here only if that cannot change its meaning: after the strings
are cut out, every line of it must match, hold one ` = ` and no second call-like parenthesis, and leave no
brace open.
"""

from __future__ import annotations

import re
from sys import intern
from typing import NamedTuple

_HEADER = re.compile(r"(ENTRY )?%?([\w.-]+) (?:(\([^\n]*\) -> [^\n]*) )?\{\n")
_TAIL = re.compile(
    r'\}((?:,[ \t]*[A-Za-z_][\w.-]*=(?:"[^"\\\n]*"|[\w.-]+|\{[^{}"\'/\n]*\}))*)[ \t]*(?://[^\n]*)?(?:\n\s*|\Z)'
)
_SHAPE = r'(?:[a-z]\w*\[[^\]\n]*\](?:\{[^}\n]*\})?|\([^\n"]*?\))'
_OPCODE = re.compile(r"  (?:ROOT )?%?[\w.-]+ = " + _SHAPE + r" ([a-z][\w-]*)\((?:[^(\n]*(?<![a-z0-9_.-])\()*[^(\n]*\n")
# Parentheses inside operands (tuple shapes, tilings, complex numbers), three deep.
_OPERANDS = r'[^()\n"]*(?:\([^()\n"]*(?:\([^()\n"]*(?:\([^()\n"]*\)[^()\n"]*)*\)[^()\n"]*)*\)[^()\n"]*)*'
_ROW = re.compile(r"  (ROOT )?%?([\w.-]+) = (" + _SHAPE + r") [a-z][\w-]*\((" + _OPERANDS + r")\)(?:([^\n]+)|)\n")
_OPEN_AT_LINE_END = re.compile(r"\{[ \t\r]*\n")


class FastComputation(NamedTuple):
    """What the quick look at one computation found; its instructions are read when somebody asks."""

    is_entry: bool
    name: str
    signature: str
    attribute_text: str
    start: int
    end: int
    opcodes: list[str]
    next_position: int


def take_computation(text: str, position: int) -> FastComputation | None:
    """Return the computation that starts at `position`; None where it is not in the printer's form."""
    line_end = text.find("\n", position)
    # Looked at before the regular expression, which would try every arrow of a line that ends otherwise.
    if line_end < 1 or text[line_end - 1] != "{":
        return None
    header = _HEADER.match(text, position)
    if header is None:
        return None
    start = header.end()
    end = text.find("\n}", start - 1) + 1
    tail = _TAIL.match(text, end) if end > 0 else None
    if tail is None:
        return None
    opcodes = _opcodes(text[start:end])
    if opcodes is None:
        return None
    entry, name, signature = header.groups("")
    return FastComputation(bool(entry), name, signature, tail[1], start, end, opcodes, tail.end())


def _opcodes(body: str) -> list[str] | None:
    lines = body.count("\n")
    outside = _cut_strings(body)
    if not lines or outside is None or outside.count(" = ") != lines or _OPEN_AT_LINE_END.search(outside):
        return None
    opcodes = _OPCODE.findall(outside)
    return list(map(intern, opcodes)) if len(opcodes) == lines else None


def _cut_strings(body: str) -> str | None:
    """Return the body without its strings; None where strings or comments could hide something."""
    if "\\" in body:
        body = body.replace("\\\\", "").replace('\\"', "")
    parts = body.split('"')
    if len(parts) > 1:
        if len(parts) % 2 == 0 or "\n" in "".join(parts[1::2]):
            return None
        body = "".join(parts[::2])
    if "'" in body or "//" in body or "#" in body or body.count("/*") != body.count("/*index="):
        return None
    return body


def read_rows(body: str, lines: int) -> list[tuple[str, str, str, str, str]] | None:
    """Return (root, name, shape, operands, attributes) per line; None where a line needs more care."""
    rows: list[tuple[str, str, str, str, str]] = _ROW.findall(body)
    return rows if len(rows) == lines else None
