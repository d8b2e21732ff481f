"""The tables between the header and the first computation that tell where instructions came from."""

from __future__ import annotations

import re

from xlacompare.hlo.attributes import unescape
from xlacompare.hlo.instruction import SourceLocation

TABLE_NAMES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_TABLE = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*$", re.MULTILINE)
_NAME_ROW = re.compile(r'^[ \t]*(\d{1,9})[ \t]+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_FIELDS_ROW = re.compile(r"^[ \t]*(\d{1,9})[ \t]+\{([^{}\n]*)\}", re.MULTILINE)
_FIELD = re.compile(r"(\w+)=(\d{1,18})")


class StackFrames:
    """Frames by id, as `metadata={stack_frame_id=…}` names them. Ids that the tables lack give nothing."""

    def __init__(self, text: str) -> None:
        parts = _TABLE.split(text)
        tables = dict(zip(parts[1::2], parts[2::2], strict=True))
        self.file_names = _names(tables.get("FileNames", ""))
        self.function_names = _names(tables.get("FunctionNames", ""))
        self._locations = _fields(tables.get("FileLocations", ""))
        self._frames = _fields(tables.get("StackFrames", ""))

    def chain(self, frame_id: int) -> tuple[SourceLocation, ...]:
        """Return the locations of a frame and its callers, innermost first."""
        found = []
        seen = set()
        while frame_id in self._frames and frame_id not in seen:
            seen.add(frame_id)
            frame = self._frames[frame_id]
            location = self._location(frame.get("file_location_id", 0))
            if location is not None:
                found.append(location)
            # XLA writes the parent's id plus one: a frame that names itself has its predecessor as parent,
            # and 1 is none.
            frame_id = frame.get("parent_frame_id", 0) - 1
        return tuple(found)

    def _location(self, location_id: int) -> SourceLocation | None:
        fields = self._locations.get(location_id)
        if fields is None:
            return None
        return SourceLocation(
            file=self.file_names.get(fields.get("file_name_id", 0), ""),
            line=fields.get("line", 0),
            function=self.function_names.get(fields.get("function_name_id", 0), ""),
            column=fields.get("column", 0),
        )


def _names(table: str) -> dict[int, str]:
    return {int(number): unescape(name) for number, name in _NAME_ROW.findall(table)}


def _fields(table: str) -> dict[int, dict[str, int]]:
    return {
        int(number): {name: int(value) for name, value in _FIELD.findall(fields)}
        for number, fields in _FIELDS_ROW.findall(table)
    }
