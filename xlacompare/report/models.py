"""The list of model pairs as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from xlacompare.catalogue import CatalogueEntry


def models_table(entries: Sequence[CatalogueEntry]) -> Table:
    """Return a table of the model pairs, a row each."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("model", "what", "variants", "sizes", "runs here"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        table.add_row(
            escape(entry.name),
            escape(entry.summary),
            " ".join(entry.variants),
            " ".join(map(escape, entry.sizes)),
            "yes" if entry.runnable else f"no: {escape(entry.why_not or '')}",
        )
    return table
