"""Counts of one or several modules side by side, as rows that a terminal table and a Markdown table share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from xlacompare.report.markdown import markdown_table

CensusDocument = Mapping[str, Any]


def census_rows(censuses: Sequence[CensusDocument]) -> list[tuple[str, list[str]]]:
    """Return (label, a cell per census) for each number that a reader compares; rows of nothing but 0 are left out.

    Before optimizations nothing is fused yet and no instruction is a kernel: only the size is shown.
    """
    counted = [None if each["stage"] == "before" else each for each in censuses]
    return [
        ("kernels in ENTRY", [_number(each, "kernels", "entry") for each in counted]),
        *_parts(["own", "library", "copy", "collective", "other"], counted, "kernels", "by_class"),
        ("fusions in ENTRY", [_number(each, "fusions", "entry") for each in counted]),
        *_parts(_kinds(censuses), counted, "fusions", "by_kind"),
        *_parts(["wrapped", "library"], counted, "fusions", label="of these {}"),
        ("kernels reached", [_number(each, "kernels", "reachable") for each in counted]),
        ("kernel launches", [_number(each, "kernels", "weighted") for each in counted]),
        ("runtime steps", [_number(each, "thunks", "weighted") for each in counted]),
        ("instructions", [_number(each, "instructions", "total") for each in censuses]),
    ]


def census_table(titles: Sequence[str], censuses: Sequence[CensusDocument]) -> Table:
    """Return the rows as a table with a column per census."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for title in titles:
        table.add_column(escape(title), justify="right", overflow="fold")
    for label, cells in census_rows(censuses):
        different = len(set(cells)) > 1
        table.add_row(label, *(f"[bold]{cell}[/bold]" if different else cell for cell in cells))
    return table


def census_markdown(titles: Sequence[str], censuses: Sequence[CensusDocument]) -> str:
    """Return the rows as a Markdown table with a column per census."""
    return markdown_table(["", *titles], [[label.strip(), *cells] for label, cells in census_rows(censuses)])


def doubts(census: CensusDocument) -> list[str]:
    """Return what the reader of the text was in doubt about, a sentence each."""
    return [f"line {each['line']}, column {each['column']}: {each['message']}" for each in census["warnings"]]


def _parts(
    names: Sequence[str], counted: Sequence[CensusDocument | None], *keys: str, label: str = "{}"
) -> list[tuple[str, list[str]]]:
    rows = []
    for name in names:
        if any(each is not None and _find(each, *keys).get(name, 0) != 0 for each in counted):
            rows.append((f"  {label.format(name)}", [_number(each, *keys, name) for each in counted]))
    return rows


def _find(census: CensusDocument, *keys: str) -> Any:
    found: Any = census
    for key in keys:
        found = found[key]
    return found


def _kinds(censuses: Sequence[CensusDocument]) -> list[str]:
    return sorted({kind for each in censuses for kind in each["fusions"]["by_kind"]})


def _number(census: CensusDocument | None, *keys: str) -> str:
    """Return a count as text: "unknown" where the program does not tell it, "–" where it has no meaning."""
    if census is None:
        return "–"
    *outer, name = keys
    count = _find(census, *outer).get(name, 0)
    return "unknown" if count is None else f"{count:,}"
