"""What every result offers a script or a notebook, whatever room it comes from.

A result knows its JSON; how it looks is the business of `report`, which is imported when somebody looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlacompare import documents

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType


class Result:
    """The base of results: `to_json_dict` is theirs, the rest follows from it and from `report`."""

    __slots__ = ()

    def to_json_dict(self) -> dict[str, Any]:
        """Return the result's document, or the part of one that it is."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return `to_json_dict` as text."""
        return documents.dumps(self.to_json_dict())

    def to_pandas(self) -> DataFrame:
        """Return the result as a table: a row per scope, module, framework or kernel."""
        from xlacompare.report.frames import to_pandas

        return to_pandas(self)

    def __rich__(self) -> RenderableType:
        from xlacompare.report.render import renderable

        return renderable(self)

    def _repr_html_(self) -> str:
        from xlacompare.report.render import html

        return html(self)
