"""One text being read: positions in it, its masked twin, its brackets.

The careful half of the reader never looks at strings and comments. It works on a *mask*: the same text, of
the same length, in which the inside of every string is filled with a letter and every comment with spaces. A
bracket, comma or newline in the mask is therefore structure, and its offset is good in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from xlacompare.errors import HloError

# An unterminated string or comment is taken as far as it can go, so that no alternative ever fails after a
# long scan: that keeps the masking linear on any input. Single-quoted strings stay on one line, or an
# apostrophe in a log line would swallow a module.
_STRING_OR_COMMENT = re.compile(
    r'"[^"\\]*(?:\\.?[^"\\]*)*(?:"|\Z)'
    r"|'[^'\\\n]*(?:\\[^\n]?[^'\\\n]*)*'?"
    r"|/\*.*?(?:\*/|\Z)"
    r"|//[^\n]*",
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_BRACKET = re.compile(r"[()\[\]{}]")
_OPENERS = {")": "(", "]": "[", "}": "{"}
UNCLOSED = -1
_MAX_REMASKS = 8


class HloWarning(NamedTuple):
    """A doubt that the tolerant reader had: 1-based line and column, and what was seen and done about it."""

    line: int
    column: int
    message: str


def mask_text(text: str) -> str:
    """Return `text` with the inside of strings filled and comments blanked; offsets and line breaks stay."""
    return _STRING_OR_COMMENT.sub(_mask_match, text)


def _mask_match(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] == "/":
        return " " * len(found) if "\n" not in found else _NOT_NEWLINE.sub(" ", found)
    if len(found) == 1:
        return '"'
    closed = found[-1] == found[0]
    return '"' + "s" * (len(found) - 2) + ('"' if closed else "s")


class Brackets:
    """Where each bracket of a mask closes. One linear pass at most over any part of it, whatever is asked."""

    __slots__ = ("_closes", "mask")

    def __init__(self, mask: str) -> None:
        self.mask = mask
        self._closes: dict[int, int] = {}

    def close(self, position: int) -> int:
        """Return the offset of the bracket that closes the one at `position`, or `UNCLOSED`."""
        known = self._closes.get(position)
        return self._scan(position) if known is None else known

    def _scan(self, start: int) -> int:
        closes, stack = self._closes, [start]
        mask, at = self.mask, start + 1
        while stack:
            found = _BRACKET.search(mask, at)
            if found is None:
                break
            where, bracket = found.start(), found.group()
            at = where + 1
            opener = _OPENERS.get(bracket)
            if opener is None:
                known = closes.get(where)
                if known is None:
                    stack.append(where)
                elif known != UNCLOSED:
                    at = known + 1
                continue
            if mask[stack[-1]] == opener:
                closes[stack.pop()] = where
            elif opener == "{":
                # A brace ends what was left open inside it; a stray `)` or `]` ends nothing.
                while stack and mask[stack[-1]] != "{":
                    closes[stack.pop()] = UNCLOSED
                if stack:
                    closes[stack.pop()] = where
        for unclosed in stack:
            closes[unclosed] = UNCLOSED
        return closes[start]


class Source:
    """The text of one file, with whatever was derived from it so far."""

    __slots__ = ("_brackets", "_mask", "_newlines", "_remasks", "file", "strict", "text")

    def __init__(self, text: str, file: str | None, strict: bool) -> None:
        self.text = text
        self.file = file
        self.strict = strict
        self._mask: str | None = None
        self._remasks = 0
        self._brackets: Brackets | None = None
        self._newlines: list[int] | None = None

    @property
    def mask(self) -> str:
        """The masked twin of the whole text."""
        if self._mask is None:
            self._mask = mask_text(self.text)
        return self._mask

    def remask(self, offset: int) -> None:
        """Take `offset` as outside of every string, whatever quotes stood in the text before it.

        For HLO in the middle of something else, where an odd quote would hide it all. Only a few times per text: each
        costs a pass over the rest.
        """
        if self.mask[offset] == self.text[offset] or self._remasks == _MAX_REMASKS:
            return
        self._remasks += 1
        self._mask = " " * offset + mask_text(self.text[offset:])
        self._brackets = None

    @property
    def brackets(self) -> Brackets:
        """The brackets of the mask."""
        if self._brackets is None:
            self._brackets = Brackets(self.mask)
        return self._brackets

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        if self._newlines is None:
            self._newlines = [found.start() for found in re.finditer("\n", self.text)]
        before = bisect_left(self._newlines, offset)
        line_start = self._newlines[before - 1] + 1 if before else 0
        return before + 1, offset - line_start + 1

    def warning(self, offset: int, message: str) -> HloWarning:
        """Return a warning at an offset; a strict reader raises it as an `HloError` instead."""
        if self.strict:
            raise self.error(offset, message)
        return HloWarning(*self.position(offset), message)

    def error(self, offset: int, message: str) -> HloError:
        """Return an error with file, line, column and the line itself."""
        line, column = self.position(offset)
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line_text = self.text[start : end if end >= 0 else len(self.text)]
        return HloError(message, file=self.file, line=line, column=column, line_text=line_text)
