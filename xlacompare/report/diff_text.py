"""A fusion diff on a terminal: the answer, then the kernels side by side, then one group opened."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from xlacompare.diff import Diff, KernelGroup
from xlacompare.diff.folding import Fold, fold
from xlacompare.report.census import census_table
from xlacompare.report.diff_rows import fold_title, kernel_cells, most_telling, operation_rows, verdict_words
from xlacompare.report.diff_words import LEGEND, Code, Sentence, answer
from xlacompare.report.side_by_side import side_by_side

MAX_FOLDS = 60
MAX_PARAMETERS = 24
MAX_OPERATIONS = 60
_STYLES = {"identical": "green", "same_operations": "green", "left_only": "red", "right_only": "red"}


def diff_text(diff: Diff, *, text_diff: bool = False) -> RenderableType:
    """Return a diff for a terminal of 60 columns or more.

    Args:
        text_diff: show the canonical texts of the two ENTRY computations as well.
    """
    folds = fold(diff)
    parts: list[RenderableType] = [
        Text(f"{diff.labels[0]} and {diff.labels[1]}, kernel by kernel", style="bold"),
        Text(),
    ]
    for sentence in answer(diff):
        parts.append(_bullet(sentence_text(sentence)))
    parts += [Text(), census_table(diff.labels, [one.to_json_dict() for one in diff.censuses])]
    parts += [Text(), Text(LEGEND, style="dim")]
    parts += [Text(), Text("Parameters", style="bold"), _parameters(diff)]
    parts += [Text(), Text("Kernels side by side", style="bold"), _kernels(diff, folds)]
    opened = most_telling(diff, folds)
    if opened is not None:
        parts += [Text(), _opened_title(diff, opened), _operations(diff, opened)]
    if text_diff:
        parts += [Text(), Text("ENTRY, in canonical form", style="bold"), side_by_side(diff)]
    return Group(*parts)


def sentence_text(sentence: Sentence) -> Text:
    """Return a sentence with its code set apart; nothing in it is read as markup."""
    text = Text()
    for part in sentence:
        text.append(str(part), style="cyan" if isinstance(part, Code) else "")
    return text


def _bullet(text: Text) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    table.add_row("-", text)
    return table


def _parameters(diff: Diff) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("shape", overflow="fold")
    for label in diff.labels:
        table.add_column(Text(label), overflow="fold")
    for pair in diff.parameters[:MAX_PARAMETERS]:
        table.add_row(
            Text(pair.shape), Text(_parameter(pair.left, pair.left_name)), Text(_parameter(pair.right, pair.right_name))
        )
    if len(diff.parameters) > MAX_PARAMETERS:
        table.add_row(Text(f"… {len(diff.parameters) - MAX_PARAMETERS} more", style="dim"), "", "")
    return table


def _parameter(number: int | None, name: str) -> str:
    return "-" if number is None else f"{number}: {name}"


def _kernels(diff: Diff, folds: Sequence[Fold]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True, padding=(0, 1, 1, 0))
    table.add_column("verdict", width=12, overflow="fold")
    for label in diff.labels:
        table.add_column(Text(label), ratio=1, overflow="fold")
    for one in folds[:MAX_FOLDS]:
        group = one.first
        verdict = Text(verdict_words(diff, group), style=_STYLES.get(group.verdict, "yellow"))
        if one.times > 1:
            verdict.append(f"\n{fold_title(one)}", style="bold")
        for note in group.notes:
            verdict.append(f"\n{note} differs", style="dim")
        table.add_row(verdict, _cell(diff, 0, group), _cell(diff, 1, group))
    if len(folds) > MAX_FOLDS:
        table.add_row(Text(f"… {len(folds) - MAX_FOLDS} more", style="dim"), "", "")
    return table


def _cell(diff: Diff, side: int, group: KernelGroup) -> Text:
    text = Text()
    for index, cell in enumerate(kernel_cells(diff, side, group)):
        text.append("\n" if index else "")
        text.append(cell.name, style="cyan")
        if cell.tags:
            text.append(f" ({cell.tags})")
        text.append(f"\n  {cell.inside}" if cell.inside else "")
        if cell.moves:
            text.append(f"\n  {cell.moves}")
        if cell.origins:
            text.append("\n  from " + ", ".join(cell.origins), style="dim")
    return text


def _opened_title(diff: Diff, group: KernelGroup) -> Text:
    names = [" + ".join(kernel.name for kernel in diff.kernels(group, side)[:4]) or "nothing" for side in (0, 1)]
    return Text(f"Opened: {names[0]} against {names[1]}", style="bold")


def _operations(diff: Diff, group: KernelGroup) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in (*diff.labels, "differs"):
        table.add_column(Text(column), overflow="fold")
    rows = operation_rows(diff, group)
    for row in rows[:MAX_OPERATIONS]:
        style = "yellow" if row.remark else ""
        table.add_row(Text(row.left), Text(row.right), Text(row.remark, style=style))
    if len(rows) > MAX_OPERATIONS:
        table.add_row(Text(f"… {len(rows) - MAX_OPERATIONS} more", style="dim"), "", "")
    return table
