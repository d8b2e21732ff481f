"""The names in an operand list, whatever stands around them: shapes, index comments, no percent signs."""

from __future__ import annotations

import re

from xlacompare.hlo.source import UNCLOSED, Brackets, mask_text

# Their parentheses hold a number or a literal, no operands.
LITERAL_OPCODES = frozenset({"parameter", "constant"})
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIZES_AND_LAYOUT = re.compile(r"\[[^\]]*\]|\{[^{}]*\}")


def operand_names(text: str) -> list[str]:
    """Return the operands' names in order, without percent signs.

    An operand that is only a shape has no name and is left out.

    >>> operand_names("f32[2,3]{1,0} %a, /*index=1*/(s32[], f32[4]) b.1, c")
    ['a', 'b.1', 'c']
    """
    if "/*" in text:
        text = _COMMENT.sub("", text)
    if "(" in text:
        pieces = split_operands(text)
    else:
        if "[" in text:
            text = _SIZES_AND_LAYOUT.sub("[]", text)
        pieces = text.split(",")
    names = []
    for piece in pieces:
        words = piece.rsplit(None, 1)
        if words:
            name = words[-1].rpartition("%")[2]
            if name and name[-1] not in "]})":
                names.append(name)
    return names


def split_operands(text: str) -> list[str]:
    """Return the pieces between the commas of the outermost level."""
    brackets = Brackets(mask_text(text))
    mask, pieces, start, at = brackets.mask, [], 0, 0
    while at < len(mask):
        character = mask[at]
        if character in "([{":
            close = brackets.close(at)
            at = close + 1 if close != UNCLOSED else at + 1
            continue
        if character == ",":
            pieces.append(text[start:at])
            start = at + 1
        at += 1
    pieces.append(text[start:])
    return pieces
