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

_HEADER = re.compile(r"(ENTRY )?%?([\w.-]+) (?:(\([^\n]*\) -> [^\n]*) )?\{\n")
_TAIL = re.compile(
    r'\}((?:,[ \t]*[A-Za-z_][\w.-]*=(?:"[^"\\\n]*"|[\w.-]+|\{[^{}"\'/\n]*\}))*)[ \t]*(?://[^\n]*)?(?:\n\s*|\Z)'
)
# One line: what stands before ` = ` holds no brace, the shape is an array or a tuple, an opcode's parenthesis follows.
_OPCODE = re.compile(r"  [^={}\n]+= (?:[^ ({\n]+(?:\{[^ \n]*)?|\([^\n]*?\)) ([a-z][^ (\n]*)\(.*\n")
_CALL_LIKE = re.compile(r"[a-z0-9_.-]\(")
# Operands with parentheses inside (tuple shapes, tilings, complex numbers), two deep; deeper ones get more care.
_OPERANDS = r"[^()\n]*(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)[^()\n]*)*"
_ROW = re.compile(
    r"  (ROOT )?%?([^ {}=\n]+) = ([^ ({\n]+(?:\{[^ \n]*)?|\([^\n]*?\)) [a-z][^ (\n]*\((" + _OPERANDS + r")\)(.*)\n"
)
_OPEN_AT_LINE_END = re.compile(r"\{[ \t\r]*\n")


# Entry mark, name, signature and attributes; where the body starts and ends; its opcodes; where to go on.
Quick = tuple[str, str, str, str, int, int, list[str], int]


def take_computation(text: str, position: int) -> Quick | int:
    """Return the computation that starts at `position`, or an offset where it is not in the printer's form.

    Its instructions are not read, only checked: see `read_rows`. Before the offset no computation in this form can
    start, so that nobody searches the same stretch for its end again and again.
    """
    line_end = text.find("\n", position)
    # Looked at before the regular expression, which would try every arrow of a line that ends otherwise.
    if line_end < 1 or text[line_end - 1] != "{":
        return position
    header = _HEADER.match(text, position)
    if header is None:
        return position
    start = header.end()
    end = text.find("\n}", start - 1) + 1
    if end <= 0:
        return len(text)
    attributes, next_position = "", end + 3
    if not text.startswith("}\n\n", end):
        tail = _TAIL.match(text, end)
        if tail is None:
            return end
        attributes, next_position = tail[1], tail.end()
    opcodes = _opcodes(text[start:end])
    if opcodes is None:
        return end
    entry, name, signature = header.groups("")
    return entry, name, signature, attributes, start, end, opcodes, next_position


def _opcodes(body: str) -> list[str] | None:
    lines = body.count("\n")
    outside = _cut_strings(body)
    if not lines or outside is None or _OPEN_AT_LINE_END.search(outside):
        return None
    opcodes = _OPCODE.findall(outside)
    if len(opcodes) != lines:
        return None
    # A second call-like parenthesis on a line is an instruction nested in another's operands. Counting those that
    # follow a space or another parenthesis clears almost every text; the expression decides about the rest.
    others = outside.count("(") - lines
    if others and others != outside.count(" (") + outside.count("((") and len(_CALL_LIKE.findall(outside)) != lines:
        return None
    return list(map(intern, opcodes))


def _cut_strings(body: str) -> str | None:
    """Return the body without its strings; None where strings or comments could hide something."""
    if "\\" in body:
        body = body.replace("\\\\", "").replace('\\"', "")
    parts = body.split('"')
    if len(parts) > 1:
        if len(parts) % 2 == 0 or "\n" in "".join(parts[1::2]):
            return None
        body = "".join(parts[::2])
    # Printed comments are `/*index=5*/` alone; a slash anywhere else may hide what follows it.
    if "'" in body or "#" in body:
        return None
    if "/" in body and (body.count("/") != 2 * body.count("/*index=") or "//" in body):
        return None
    return body


def read_rows(body: str, lines: int) -> list[tuple[str, str, str, str, str]] | None:
    """Return (root, name, shape, operands, attributes) per line; None where a line needs more care."""
    rows: list[tuple[str, str, str, str, str]] = _ROW.findall(body)
    return rows if len(rows) == lines else None
