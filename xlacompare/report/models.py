"""The list of model pairs as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from xlacompare.catalogue import CatalogueEntry


def models_table(entries: Sequence[CatalogueEntry]) -> Table:
    """Return a table of the model pairs, a row each."""
    variants = max((entry.variants for entry in entries), key=len, default=())
    caption = f"--variant {'|'.join(variants)}; the first size is the default; -v says more"
    table = Table(box=None, pad_edge=False, header_style="bold", caption=caption, caption_justify="left")
    for column in ("model", "what", "sizes", "its own options", "runs here"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        table.add_row(
            escape(entry.name),
            escape(entry.summary),
            escape(" ".join(entry.sizes)),
            escape(" ".join(_option(name) for name in entry.options)),
            _runs(entry),
        )
    return table


def models_details(entries: Sequence[CatalogueEntry]) -> Text:
    """Return a paragraph for each model pair with everything that is known of it."""
    text = Text()
    for entry in entries:
        text.append(entry.name, style="bold").append(f": {entry.summary}\n")
        lines = {
            "variants": ", ".join(entry.variants),
            "sizes": ", ".join(entry.sizes),
            "options": ", ".join(f"{_option(name)} {_choices(value)}" for name, value in entry.options.items()),
            "from": entry.origin,
            "note": " ".join(entry.notes),
            "runs here": "yes" if entry.runnable else f"no: {entry.why_not}",
        }
        for label, value in lines.items():
            if value:
                text.append(f"  {label}: {value}\n")
    return text


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _choices(value: object) -> str:
    """Return an option's default, or all its choices (the first is the default)."""
    return "|".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _runs(entry: CatalogueEntry) -> str:
    return "yes" if entry.runnable else f"no: {escape(entry.why_not or '')}"
