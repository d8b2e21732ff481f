"""The canonical texts of the two ENTRY computations beside one another."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from xlacompare.diff import Diff
from xlacompare.diff.canonical import TextRow, canonical_lines, text_rows

# Equal lines further than this from a difference are left out.
CONTEXT = 3


def entry_rows(diff: Diff) -> list[TextRow]:
    """Return the rows of the two ENTRY computations."""
    return text_rows(canonical_lines(diff.left.entry), canonical_lines(diff.right.entry))


def side_by_side(diff: Diff, context: int | None = CONTEXT) -> RenderableType:
    """Return the text diff of the two ENTRY computations; equal lines far from a difference are left out.

    Args:
        context: equal lines to keep around a difference; None keeps all.
    """
    rows = entry_rows(diff)
    if all(row.same for row in rows):
        return Text("The two ENTRY computations are equal line by line (names, layouts and metadata aside).")
    table = Table(box=None, pad_edge=False, expand=True, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("", width=1)
    for label in diff.labels:
        table.add_column(Text(label), ratio=1, overflow="fold")
    for row in near_differences(rows, context):
        if row is None:
            table.add_row("", Text("…", style="dim"), Text("…", style="dim"))
        elif row.same:
            table.add_row("", Text(row.left or "", style="dim"), Text(row.right or "", style="dim"))
        else:
            sign = "|" if row.left is not None and row.right is not None else "<" if row.right is None else ">"
            table.add_row(sign, Text(row.left or "", style="red"), Text(row.right or "", style="green"))
    return table


def near_differences(rows: list[TextRow], context: int | None) -> list[TextRow | None]:
    """Return the rows near a difference; None stands for a run of rows that was left out."""
    if context is None:
        return list(rows)
    keep: set[int] = set()
    for index, row in enumerate(rows):
        if not row.same:
            keep.update(range(max(0, index - context), min(len(rows), index + context + 1)))
    shown: list[TextRow | None] = []
    for index, row in enumerate(rows):
        if index in keep:
            shown.append(row)
        elif not shown or shown[-1] is not None:
            shown.append(None)
    return shown
