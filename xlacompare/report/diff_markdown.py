"""A fusion diff as Markdown, fit for a pull-request comment."""

from __future__ import annotations

from xlacompare.diff import Diff, KernelGroup
from xlacompare.diff.folding import fold
from xlacompare.report.census import census_markdown
from xlacompare.report.diff_rows import fold_title, kernel_cells, most_telling, operation_rows, verdict_words
from xlacompare.report.diff_words import LEGEND, Code, Sentence, answer
from xlacompare.report.markdown import markdown_code, markdown_escape, markdown_table
from xlacompare.report.side_by_side import entry_rows, near_differences

MAX_FOLDS = 60
MAX_OPERATIONS = 60
MAX_TEXT_ROWS = 200


def diff_markdown(diff: Diff, title: str | None = None) -> str:
    """Return the diff as one Markdown document."""
    labels = [markdown_escape(label) for label in diff.labels]
    heading = markdown_escape(title) if title else f"{labels[0]} and {labels[1]}, kernel by kernel"
    parts = [f"## {heading}\n", "".join(f"- {sentence_markdown(one)}\n" for one in answer(diff))]
    parts.append(census_markdown(labels, [one.to_json_dict() for one in diff.censuses]))
    parts.append(f"{LEGEND}\n")
    parts.append("### Kernels side by side\n")
    parts.append(_kernels(diff, labels))
    parts.append(_folded("Parameters", _parameters(diff, labels)))
    opened = most_telling(diff, fold(diff))
    if opened is not None:
        parts.append(_folded("One difference opened, operation by operation", _operations(diff, opened, labels)))
    parts.append(_folded("The two ENTRY computations as text", _text(diff)))
    return "\n".join(parts)


def sentence_markdown(sentence: Sentence) -> str:
    """Return a sentence with its code set apart and everything else escaped."""
    return "".join(markdown_code(part) if isinstance(part, Code) else _plain(part) for part in sentence)


def _plain(text: str) -> str:
    lead = " " if text[:1] == " " else ""
    tail = " " if text[-1:] == " " and text.strip() else ""
    return lead + markdown_escape(text) + tail


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n</details>\n"


def _kernels(diff: Diff, labels: list[str]) -> str:
    rows = []
    folds = fold(diff)
    for one in folds[:MAX_FOLDS]:
        group = one.first
        verdict = " ".join(filter(None, [markdown_escape(verdict_words(diff, group)), fold_title(one)]))
        notes = "".join(f"<br>{markdown_escape(note)} differs" for note in group.notes)
        rows.append([verdict + notes, _cell(diff, 0, group), _cell(diff, 1, group)])
    if len(folds) > MAX_FOLDS:
        rows.append([f"… {len(folds) - MAX_FOLDS} more", "", ""])
    return markdown_table(["verdict", *labels], rows)


def _cell(diff: Diff, side: int, group: KernelGroup) -> str:
    lines = []
    for cell in kernel_cells(diff, side, group):
        tags = f" ({markdown_escape(cell.tags)})" if cell.tags else ""
        lines.append(f"{markdown_code(cell.name)}{tags}: {markdown_escape(cell.inside)}")
        if cell.moves:
            lines.append(markdown_escape(cell.moves))
        if cell.origins:
            lines.append("from " + ", ".join(markdown_code(where) for where in cell.origins))
    return "<br>".join(lines)


def _parameters(diff: Diff, labels: list[str]) -> str:
    rows = [
        [
            markdown_code(pair.shape),
            "-" if pair.left is None else f"{pair.left}: {markdown_code(pair.left_name)}",
            "-" if pair.right is None else f"{pair.right}: {markdown_code(pair.right_name)}",
        ]
        for pair in diff.parameters
    ]
    return markdown_table(["shape", *labels], rows)


def _operations(diff: Diff, group: KernelGroup, labels: list[str]) -> str:
    rows = operation_rows(diff, group)
    cells = [
        [markdown_code(row.left), markdown_code(row.right), markdown_escape(row.remark)]
        for row in rows[:MAX_OPERATIONS]
    ]
    if len(rows) > MAX_OPERATIONS:
        cells.append([f"… {len(rows) - MAX_OPERATIONS} more", "", ""])
    return markdown_table([*labels, "differs"], cells)


def _text(diff: Diff) -> str:
    lines = []
    for row in near_differences(entry_rows(diff), 3):
        if row is None:
            lines.append("  …")
        elif row.same:
            lines.append(f"  {row.left}")
        else:
            lines += [f"- {row.left}"] if row.left is not None else []
            lines += [f"+ {row.right}"] if row.right is not None else []
    if len(lines) > MAX_TEXT_ROWS:
        lines = [*lines[:MAX_TEXT_ROWS], f"  … {len(lines) - MAX_TEXT_ROWS} lines more"]
    text = "\n".join(lines)
    # HLO may hold backticks, in strings and names; the fence must be longer than any run of them.
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}diff\n{text}\n{fence}\n"
