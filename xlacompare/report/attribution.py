"""An attribution as text and as Markdown: the answer in words, then the tables that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from xlacompare.attribution.cells import MEASURES, Cell, EmptyCell
from xlacompare.attribution.result import Attribution
from xlacompare.report.attribution_words import (
    MEASURE_WORDS,
    amount,
    answer,
    compiler_sentences,
    doubt_sentences,
    environment_sentence,
    frontend_sentences,
    option_sentences,
    parting_sentences,
)
from xlacompare.report.diff_markdown import sentence_markdown
from xlacompare.report.diff_text import sentence_text
from xlacompare.report.diff_words import Sentence
from xlacompare.report.markdown import markdown_escape, markdown_table

EMPTY = "empty"


def attribution_text(found: Attribution) -> RenderableType:
    """Return an attribution for a terminal."""
    parts: list[RenderableType] = [Text(f"{found.title}: whose doing?", style="bold"), Text()]
    parts += [_bullet(sentence) for sentence in answer(found)]
    parts += [Text(), Text("Every program under every compiler", style="bold"), _table(*cell_rows(found))]
    header, rows = share_rows(found)
    if rows:
        parts += [Text(), Text("Whose part of each number", style="bold"), _table(header, rows)]
    for title, sentences in sections(found):
        parts += [Text(), Text(title, style="bold"), *[_bullet(sentence) for sentence in sentences]]
    return Group(*parts)


def attribution_markdown(found: Attribution) -> str:
    """Return an attribution as one Markdown document."""
    lines = [f"## {markdown_escape(found.title)}: whose doing?", ""]
    lines += [f"- {sentence_markdown(sentence)}" for sentence in answer(found)]
    lines += ["", "### Every program under every compiler", "", _markdown_table(*cell_rows(found))]
    header, rows = share_rows(found)
    if rows:
        lines += ["### Whose part of each number", "", _markdown_table(header, rows)]
    for title, sentences in sections(found):
        lines += [f"### {title}", "", *[f"- {sentence_markdown(sentence)}" for sentence in sentences], ""]
    return "\n".join(lines).rstrip() + "\n"


def sections(found: Attribution) -> list[tuple[str, list[Sentence]]]:
    """Return the parts below the tables that have something to say: title and sentences."""
    partings = [sentence for pipeline in found.pipelines for sentence in parting_sentences(pipeline)]
    all_sections: list[tuple[str, Iterable[Sentence]]] = [
        ("What the frontends did differently", frontend_sentences(found)),
        ("What the compilers did differently", compiler_sentences(found)),
        ("Pass by pass", partings),
        ("Options", option_sentences(found)),
        ("What is in doubt, and what could not be said", doubt_sentences(found)),
        ("Environments", [environment_sentence(each) for each in found.environments]),
    ]
    filled = [(title, list(sentences)) for title, sentences in all_sections]
    return [(title, sentences) for title, sentences in filled if sentences]


def cell_rows(found: Attribution) -> tuple[list[str], list[list[str]]]:
    """Return the table of cells, header and rows; a measure that no cell knows has no column."""
    known = [name for name in MEASURES if any(_number(cell, name) is not None for cell in found.cells)]
    rows = []
    for cell in found.cells:
        row = [cell.frontend, cell.compiler]
        if isinstance(cell, EmptyCell):
            row += [EMPTY, *[""] * len(known)]
        else:
            row += [*[amount(name, cell.numbers.get(name)) for name in known], cell.signature[:8]]
        rows.append(row)
    return ["program", "compiler", *[MEASURE_WORDS[name] for name in known], "signature"], rows


def share_rows(found: Attribution) -> tuple[list[str], list[list[str]]]:
    """Return the table of shares of the main verdict, header and rows; a number that does not differ has no row."""
    if not found.verdicts:
        return [], []
    verdict = found.verdicts[0]
    header = ["", verdict.left, verdict.right, "difference", "frontends", "compilers", "interaction"]
    rows = []
    for share in verdict.shares:
        numbers = (share.left, share.right, share.difference, share.frontend, share.compiler, share.interaction)
        if any(numbers[2:]):
            rows.append([MEASURE_WORDS[share.measure], *[amount(share.measure, number) for number in numbers]])
    return header, rows


def _number(cell: Cell | EmptyCell, name: str) -> float | None:
    return cell.numbers.get(name) if isinstance(cell, Cell) else None


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, title in enumerate(header):
        table.add_column(Text(title), justify="left" if index < 2 else "right", no_wrap=index < 2)
    for row in rows:
        table.add_row(*[Text(value) for value in row])
    return table


def _bullet(sentence: Sentence) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    table.add_row("-", sentence_text(sentence))
    return table


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(
        [markdown_escape(each) for each in header], [[markdown_escape(each) for each in row] for row in rows]
    )
