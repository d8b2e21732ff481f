"""Instructions written as operands of others, and `%tuple#0`, short for a get-tuple-element.

Both become instructions of their own, in front of the one that reads them, under names that the text leaves
free.
"""

from __future__ import annotations

import re

from xlacompare.hlo.names import FreeNames
from xlacompare.hlo.operands import LITERAL_OPCODES
from xlacompare.hlo.source import UNCLOSED, Source

_Row = tuple[str, str, str, str, str]
_NEXT = re.compile(r"[,(\[{]")
_CALL = re.compile(r"(?:(?:^|\s)|(?<=[\]}]))([^\s(){}\[\],=:\"%]+)\Z")
_ELEMENT = re.compile(r"(?:^|.*[\s%])([^\s%#]+)((?:#\d{1,9})+)\s*\Z", re.DOTALL)
_NAME = re.compile(r"[^\s(){}\[\],=:\"%]+(?=\s*=)")


class _Frame:
    """An operand list being read: its own instruction's shape and opcode, and the pieces so far."""

    __slots__ = ("at", "close", "offset", "opcode", "piece_start", "pieces", "shape", "substitute")

    def __init__(self, opening: int, close: int, shape: str, opcode: str, offset: int) -> None:
        self.at = self.piece_start = opening + 1
        self.close = close
        self.shape = shape
        self.opcode = opcode
        self.offset = offset
        self.pieces: list[str] = []
        self.substitute = ""


class NestedOperands:
    """Reads one computation's operand lists that hold more than names. No recursion: nesting may be deep."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.text, self.mask, self.brackets = source.text, source.mask, source.brackets
        self._names = FreeNames(set(_NAME.findall(self.mask, start, end)))
        self._elements: dict[str, str] = {}
        self._found: list[tuple[_Row, str, int]] = []

    def read(self, opening: int, close: int) -> tuple[str, list[tuple[_Row, str, int]]]:
        """Return the operands between two parentheses as names, and the instructions found among them."""
        self._found = []
        top = _Frame(opening, close, "", "", opening)
        stack = [top]
        while stack:
            frame = stack[-1]
            found = _NEXT.search(self.mask, frame.at, frame.close)
            if found is None:
                self._end_piece(frame, frame.close)
                stack.pop()
                if stack:
                    stack[-1].substitute = self._finish(frame)
                continue
            where = found.start()
            if found.group() == ",":
                self._end_piece(frame, where)
                frame.at = frame.piece_start = where + 1
                continue
            close_at = self.brackets.close(where)
            frame.at = where + 1 if close_at == UNCLOSED else close_at + 1
            inner = self._nested_frame(frame, where, close_at) if found.group() == "(" else None
            if inner is not None:
                stack.append(inner)
        return ", ".join(top.pieces), self._found

    def _nested_frame(self, frame: _Frame, opening: int, close: int) -> _Frame | None:
        """Return the frame of the nested instruction whose parenthesis is at `opening`, if any."""
        if close == UNCLOSED or frame.substitute:
            return None
        before = self.mask[max(frame.piece_start, opening - 256) : opening]
        call = _CALL.search(before)
        if call is None or (call[1] == "b" and self.mask[close + 1 : frame.close].split(",", 1)[0].strip()):
            return None
        start = opening - len(call[1])
        shape = self.text[frame.piece_start : start].strip()
        inner = _Frame(opening, close, shape, call[1], start)
        if inner.opcode in LITERAL_OPCODES:
            frame.substitute = self._finish(inner, literal=self.text[opening + 1 : close])
            return None
        return inner

    def _end_piece(self, frame: _Frame, stop: int) -> None:
        if frame.substitute:
            frame.pieces.append(frame.substitute)
            frame.substitute = ""
            return
        piece = self.text[frame.piece_start : stop].strip()
        element = _ELEMENT.match(self.mask[frame.piece_start : stop].rstrip()) if "#" in piece[-64:] else None
        if element is not None:
            piece = self._element(element[1], element[2], frame.piece_start)
        if piece or frame.pieces or stop != frame.close:
            frame.pieces.append(piece)

    def _finish(self, frame: _Frame, literal: str | None = None) -> str:
        operands = ", ".join(frame.pieces) if literal is None else literal
        name = self._names.free(frame.opcode)
        self._found.append((("", name, frame.shape, operands, ""), frame.opcode, frame.offset))
        return f"%{name}"

    def _element(self, name: str, indices: str, offset: int) -> str:
        for index in indices[1:].split("#"):
            key = f"{name}#{index}"
            if key not in self._elements:
                self._elements[key] = self._names.free("get-tuple-element")
                row = ("", self._elements[key], "", f"%{name}", f", index={index}")
                self._found.append((row, "get-tuple-element", offset))
            name = self._elements[key]
        return f"%{name}"
