"""Stored documents against one another, as text and as Markdown: what differs in machine and versions first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from xlacompare.bench.across import CAVEAT, Comparison, Difference, Measure
from xlacompare.report.bench import aligned
from xlacompare.report.markdown import markdown_escape, markdown_table
from xlacompare.report.profile import Lines
from xlacompare.report.quantities import bytes_, plain, seconds

HEADER = ("", "before", "after", "change", "verdict", "95% CI")
LONGEST_NAME = 34
SHOWN_KERNELS = 12


def comparison_text(comparison: Comparison, *, ascii_only: bool = False, verbose: bool = False) -> RenderableType:
    """Return a comparison for a terminal; `verbose` shows counts that are the same and every kernel."""

    def fit(text: str) -> str:
        return plain(text) if ascii_only else text

    parts: list[RenderableType] = [Text(fit(_title(comparison)), style="bold")]
    parts += [Text(fit(line), style="yellow") for line in difference_lines(comparison)]
    for number in range(1, len(comparison.files)):
        parts.append(Text(fit(f"{comparison.files[0]} → {comparison.files[number]}"), style="dim"))
        parts.append(Lines([(fit(text), style) for text, style in _lines(comparison, number, verbose)]))
    if any(measure.unit == "s" for measure in comparison.measures):
        parts.append(Text(f"{CAVEAT}; times are medians of processes (Welch).", style="dim"))
    return Group(*parts)


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown."""
    parts = [f"## {markdown_escape(_title(comparison))}"]
    if lines := difference_lines(comparison):
        parts.append("\n".join(f"- {markdown_escape(line)}" for line in lines))
    for number in range(1, len(comparison.files)):
        rows = [
            [markdown_escape(cell) for cell in (each.column, *_row(each))] for each in shown(comparison, number, True)
        ]
        parts.append(f"### {markdown_escape(comparison.files[number])}\n\n" + markdown_table(("", *HEADER), rows))
    parts.append(f"*{CAVEAT}*")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def difference_lines(comparison: Comparison) -> list[str]:
    """Return a line for each thing that is not the same, those that make the comparison doubtful first."""

    def line(difference: Difference) -> str:
        return f"{difference.what}: {' → '.join(difference.values)}"

    forced = [f"! not the same thing, compared by --force: {line(each)}" for each in comparison.identity]
    machine = [line(each) for each in comparison.machine]
    return [*forced, *(machine or ["same machine, versions and flags, as far as they are recorded."])]


def shown(comparison: Comparison, number: int, verbose: bool) -> Sequence[Measure]:
    """Return the measures of one document that are worth a line."""
    measures = [measure for measure in comparison.measures if measure.document == number]
    if verbose:
        return measures
    found: list[Measure] = []
    kernels = 0
    seen: set[tuple[str, str, float | None, float | None]] = set()
    for measure in measures:
        # A scope that counts what the narrower one counts adds nothing; nor do opcodes that are as they were.
        key = (measure.column, measure.metric.partition(" (")[0], measure.before, measure.after)
        repeated = measure.unit == "count" and key in seen
        seen.add(key)
        kernels += measure.metric.startswith("kernel ")
        if not repeated and (not measure.metric.startswith("kernel ") or kernels <= SHOWN_KERNELS):
            found.append(measure)
    return found


def _title(comparison: Comparison) -> str:
    what = {"bench": "time", "profile": "time per kernel", "dump": "what XLA made", "census": "what XLA made"}
    return f"{comparison.model} {what[comparison.kind]}, {len(comparison.files)} documents".strip()


def _row(measure: Measure) -> tuple[str, ...]:
    change = "–"
    if measure.before and measure.after is not None:
        change = f"{measure.after / measure.before - 1:+.1%}"
    interval = "–"
    if measure.ratio is not None and measure.ratio.low > 0:
        # The ratio is before over after; the change is told the other way about.
        low, high = 1 / measure.ratio.high - 1, 1 / measure.ratio.low - 1
        interval = f"[{low:+.1%}, {high:+.1%}]" if high < 1 else f"[{low:+.0%}, {high:+.0%}]"
    name = measure.metric if len(measure.metric) <= LONGEST_NAME else measure.metric[: LONGEST_NAME - 1] + "…"
    values = (_value(measure, measure.before), _value(measure, measure.after))
    return (name, *values, change, measure.verdict or "", interval)


def _lines(comparison: Comparison, number: int, verbose: bool) -> list[tuple[str, str]]:
    """Return a table's lines with their styles, each column's measures under its name."""
    measures = shown(comparison, number, verbose)
    header, *rows = aligned([HEADER, *[_row(measure) for measure in measures]], left=(0, 4))
    lines, column = [(header, "dim")], None
    for measure, row in zip(measures, rows, strict=True):
        if measure.column != column:
            column = measure.column
            lines.append((column, "bold"))
        lines.append((row, ""))
    return lines


def _value(measure: Measure, value: float | None) -> str:
    if value is None:
        return "–"
    if measure.unit == "count":
        return str(int(value))
    return seconds(value) if measure.unit == "s" else bytes_(value)
