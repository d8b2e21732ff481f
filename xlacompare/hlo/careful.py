"""The careful half of the reader: the whole grammar, read from the mask.

Accepted here and not by the quick half: instructions wrapped over lines or several on one, nested
instructions as operands, inline computations as attribute values, result shapes left out, `%tuple#0`
operands, any unknown opcode, type or attribute, template placeholders where a name or type should be, and
text that stops in the middle.
"""

from __future__ import annotations

import re
from sys import intern
from typing import NamedTuple

from xlacompare.hlo.attributes import COMPUTATION_ROLES, value_end
from xlacompare.hlo.names import FreeNames
from xlacompare.hlo.nested import NestedOperands
from xlacompare.hlo.operands import LITERAL_OPCODES
from xlacompare.hlo.source import UNCLOSED, Source

Row = tuple[str, str, str, str, str]
_WORD = r"[^\s(){}\[\],=:\"]+"
_BLANK = re.compile(r"\s*")
_START = re.compile(rf"(ROOT\s+)?%?({_WORD})\s*=\s*")
_ATTRIBUTE = re.compile(rf",\s*({_WORD})\s*=\s*")
_TYPE = re.compile(r"[^\s(){}\[\],=\"]+")
_SPACED_GROUP = re.compile(r"\s+(?=[\[{])")
_OPCODE = re.compile(r"\s*([^\s(){}\[\],=:\"]+)\s*\(")
_HEADER = re.compile(rf"(ENTRY(?=[\s{{(]))?\s*(?:%?({_WORD}))?\s*")
_ARROW = re.compile(r"\s*->\s*")
_LAYOUT_INSIDE = re.compile(r"\s*(?:\d|:|\}\s*\{)")
_INLINE = re.compile(rf"\{{\s*(?:\{{|ROOT\s|%?{_WORD}\s*=)")


class Header(NamedTuple):
    """A computation's first line: who it is, and where its body's brace stands."""

    is_entry: bool
    name: str
    signature: str
    brace: int


class Inline(NamedTuple):
    """A computation written as an attribute's value: the name it was given, and its braces."""

    name: str
    start: int
    end: int


class Parsed(NamedTuple):
    """A body's instructions, in the shape that the quick half gives them, and what was odd."""

    rows: list[Row]
    offsets: list[int]
    opcodes: list[str]
    inline: list[Inline]
    doubts: list[tuple[int, str]]
    stop: int


def read_header(source: Source, position: int) -> Header | None:
    """Return the computation header that starts at `position` of the mask; None where none does."""
    mask, brackets = source.mask, source.brackets
    found = _HEADER.match(mask, position)
    if found is None or not (found[1] or found[2]):
        return None
    at = found.end()
    signature_start = at
    if mask.startswith("(", at):
        close = brackets.close(at)
        arrow = _ARROW.match(mask, close + 1) if close != UNCLOSED else None
        if arrow is None:
            return None
        at = _signature_end(source, arrow.end())
    if not mask.startswith("{", at):
        return None
    signature = source.text[signature_start:at].strip()
    return Header(bool(found[1]), found[2] or "", signature, at)


def _signature_end(source: Source, at: int) -> int:
    """Return where the result shape of a signature ends: at the body's brace, if there is one."""
    mask, brackets = source.mask, source.brackets
    while at < len(mask):
        character = mask[at]
        if character == "{":
            if not _LAYOUT_INSIDE.match(mask, at + 1):
                return at
        elif character not in "([":
            if character in ")]},=":
                return at
            at += 1
            continue
        close = brackets.close(at)
        if close == UNCLOSED:
            return at
        at = close + 1
    return at


def read_body(source: Source, start: int, end: int, names: FreeNames | None = None, *, is_bare: bool = False) -> Parsed:
    """Read instructions from `start` to `end` of the mask.

    Args:
        source: the text.
        start: where the first instruction may start.
        end: where the body ends.
        names: what computations are called; inline ones take theirs from it.
        is_bare: stop at the first thing that is no instruction, where a body leaves it out with a doubt.
    """
    return _BodyReader(source, start, end, names or FreeNames()).read(is_bare=is_bare)


class _BodyReader:
    def __init__(self, source: Source, start: int, end: int, names: FreeNames) -> None:
        self.names = names
        self.source = source
        self.text, self.mask, self.brackets = source.text, source.mask, source.brackets
        self.at, self.end = start, end
        self.start = start
        self.parsed = Parsed([], [], [], [], [], end)
        self.nested: NestedOperands | None = None

    def read(self, *, is_bare: bool) -> Parsed:
        mask = self.mask
        while True:
            blank = _BLANK.match(mask, self.at, self.end)
            self.at = blank.end() if blank else self.end
            if self.at >= self.end:
                return self.parsed
            before = self.at
            started = _START.match(mask, self.at, self.end)
            if started is None or not self._instruction(started):
                if is_bare or self._looks_like_the_next_computation(before):
                    return self.parsed._replace(stop=before)
                self._skip_line(before)

    def _looks_like_the_next_computation(self, at: int) -> bool:
        line_start = self.text.rfind("\n", 0, at) + 1
        return line_start == at and read_header(self.source, at) is not None

    def _skip_line(self, start: int) -> None:
        stop = self.mask.find("\n", start, self.end)
        self.at = stop if stop >= 0 else self.end
        self.parsed.doubts.append((start, "expected an instruction; this line is left out"))

    def _instruction(self, started: re.Match[str]) -> bool:
        head = self._shape_and_opcode(started.end())
        if head is None:
            return False
        shape, opcode, opening = head
        close = self.brackets.close(opening)
        if close == UNCLOSED or close >= self.end:
            return False
        rest = self._attributes(close + 1, started[2])
        if rest is None:
            return False
        operands = self.text[opening + 1 : close]
        if opcode not in LITERAL_OPCODES and ("(" in operands or "#" in operands):
            operands = self._nested_operands(opening, close)
        self._emit((started[1] or "", started[2], shape, operands, rest), opcode, started.start())
        return True

    def _emit(self, row: Row, opcode: str, offset: int) -> None:
        self.parsed.rows.append(row)
        self.parsed.opcodes.append(intern(opcode))
        self.parsed.offsets.append(offset)

    def _shape_and_opcode(self, at: int) -> tuple[str, str, int] | None:
        """Return the shape's text, the opcode and the offset of its parenthesis."""
        mask = self.mask
        start = at
        if not mask.startswith("(", at):
            word = _TYPE.match(mask, at, self.end)
            if word is None:
                return None
            at = word.end()
            blank = _BLANK.match(mask, at)
            parenthesis = blank.end() if blank else at
            if mask.startswith("(", parenthesis) and not self._is_buffer(word.group(), parenthesis):
                return "", word.group(), parenthesis
        at = self._skip_groups(at)
        opcode = _OPCODE.match(mask, at, self.end) if at != UNCLOSED else None
        if opcode is None:
            return None
        return self.text[start:at].strip(), opcode[1], opcode.end() - 1

    def _is_buffer(self, word: str, at: int) -> bool:
        """Whether `b(` starts the shape of a buffer: an opcode follows its parenthesis."""
        if word != "b":
            return False
        close = self.brackets.close(at)
        return close != UNCLOSED and _OPCODE.match(self.mask, self._skip_groups(close + 1), self.end) is not None

    def _skip_groups(self, at: int) -> int:
        """Skip the bracketed groups of a shape, and the word between them in `f32[2]sparse{10}`."""
        mask = self.mask
        while at < self.end:
            character = mask[at]
            if character in "([{":
                close = self.brackets.close(at)
                if close == UNCLOSED:
                    return UNCLOSED
                at = close + 1
            elif mask.startswith("sparse{", at):
                at += len("sparse")
            else:
                spaced = _SPACED_GROUP.match(mask, at)
                if spaced is None:
                    break
                at = spaced.end()
        return at

    def _attributes(self, at: int, owner: str) -> str | None:
        """Return the attributes' text from `at`, inline computations as names; None where it breaks off."""
        mask, pieces, start = self.mask, [], at
        while True:
            blank = _BLANK.match(mask, at, self.end)
            after = blank.end() if blank else at
            named = _ATTRIBUTE.match(mask, after, self.end) if after < self.end else None
            if named is None:
                if mask.startswith(",", after):
                    at = after + 1
                    # `[synthetic_call]` and the like: no pair, kept as it is.
                    if mask.startswith("[", at + 1) and self.brackets.close(at + 1) != UNCLOSED:
                        at = self.brackets.close(at + 1) + 1
                    continue
                break
            stop = value_end(self.brackets, named.end())
            if stop == UNCLOSED or stop > self.end or (stop == named.end() and stop >= len(mask)):
                return None
            if named[1] in COMPUTATION_ROLES and _INLINE.match(mask, named.end()):
                pieces.append(self.text[start : named.end()])
                pieces.append(self._inline(named.end(), stop, f"{owner}.{named[1]}"))
                start = stop
            at = stop
        self.at = at
        pieces.append(self.text[start:at].rstrip().rstrip(","))
        return "".join(pieces)

    def _inline(self, start: int, stop: int, name: str) -> str:
        """Note the computations between the braces at `start`; return the references that stand for them."""
        mask = self.mask
        inner = _BLANK.match(mask, start + 1)
        at = inner.end() if inner else start + 1
        if not mask.startswith("{", at):
            return self._inline_one(start, self.brackets.close(start), name)
        references = []
        while 0 <= at < stop:
            close = self.brackets.close(at)
            if close == UNCLOSED:
                break
            references.append(self._inline_one(at, close, name))
            at = mask.find("{", close + 1, stop)
        return "{" + ", ".join(references) + "}"

    def _inline_one(self, start: int, close: int, name: str) -> str:
        free = self.names.free(name)
        self.parsed.inline.append(Inline(free, start + 1, close))
        return f"%{free}"

    def _nested_operands(self, opening: int, close: int) -> str:
        if self.nested is None:
            self.nested = NestedOperands(self.source, self.start, self.end)
        operands, rows = self.nested.read(opening, close)
        for row, opcode, offset in rows:
            self._emit(row, opcode, offset)
        return operands
