"""A run as text for a terminal of 80 columns, and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from xlacompare.bench import stats
from xlacompare.bench.analysis import ColumnSummary, Comparison, comparisons, summarize_columns
from xlacompare.bench.noise import noise
from xlacompare.bench.run import Run
from xlacompare.report.markdown import markdown_code, markdown_escape, markdown_table
from xlacompare.report.quantities import bytes_, plain, seconds, seconds_range

DISPATCH_ADVICE = "dominated by Python dispatch; use {larger} or --mode throughput before blaming fusion"
STEADY_HEADER = ("", "median", "p25…p75", "processes", "floor", "")
PHASE_HEADER = ("", "import", "trace", "lower", "compile", "first run", "peak mem", "cores")
SHOWN_PHASES = ("import", "trace", "lower", "compile", "first_run")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a report and how it looks, in rich's words."""

    text: str
    style: str = ""


def bench_text(run: Run, *, ascii_only: bool = False, verbose: bool = False) -> RenderableType:
    """Return a run for a terminal; `ascii_only` for one that shows no more than ASCII."""
    lines = bench_lines(run, verbose=verbose)
    return Group(
        *[Text(plain(line.text) if ascii_only else line.text, style=line.style, overflow="fold") for line in lines]
    )


def bench_lines(run: Run, *, verbose: bool = False) -> list[Line]:
    """Return the lines of the terminal's report."""
    summaries, pairs = summarize_columns(run), comparisons(run)
    steady = aligned([STEADY_HEADER, *[_steady_row(summary) for summary in summaries]])
    phases = aligned([PHASE_HEADER, *[_phase_row(summary) for summary in summaries]])
    lines = [Line(_title(run), "bold"), Line(_setting(run), "dim")]
    lines += [Line(steady[0], "dim"), *map(Line, steady[1:]), Line("")]
    lines += [Line(phases[0], "dim"), *map(Line, phases[1:]), Line("")]
    for pair in pairs:
        lines.append(Line(comparison_sentence(run, pair), "dim" if pair.dispatch_bound else _style(pair.verdict)))
    lines += [Line(text) for text in remarks(run, summaries, pairs)]
    disturbances = noise(run)
    shown = disturbances if verbose else disturbances[:6]
    lines += [Line(f"! {each.message}: {each.remedy}.", "yellow") for each in shown]
    if len(shown) < len(disturbances):
        lines.append(Line(f"! and {len(disturbances) - len(shown)} more (-v shows them)", "yellow"))
    lines += [Line(f"! {difference}", "yellow") for difference in run.fairness.get("differences", ())]
    return lines


def bench_markdown(run: Run) -> str:
    """Return a run as Markdown, fit for a pull request's comment."""
    summaries, pairs = summarize_columns(run), comparisons(run)
    steady_rows = [[markdown_escape(cell) for cell in _steady_row(summary)] for summary in summaries]
    phase_rows = [[markdown_escape(cell) for cell in _phase_row(summary)] for summary in summaries]
    parts = [
        f"## {markdown_code(run.plan.model)} {markdown_escape(run.plan.variant)}: time",
        markdown_escape(_setting(run)),
        markdown_table(STEADY_HEADER, steady_rows),
        "\n".join(f"- **{markdown_escape(comparison_sentence(run, pair))}**" for pair in pairs),
        markdown_table(PHASE_HEADER, phase_rows),
        "\n".join(f"- {markdown_escape(text)}" for text in remarks(run, summaries, pairs)),
        "\n".join(f"- ⚠ {markdown_escape(f'{each.message}: {each.remedy}')}" for each in noise(run)),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def comparison_sentence(run: Run, pair: Comparison) -> str:
    """Return what the run says about two columns, with the interval and the verdict."""
    ratio = pair.ratio
    level = f"{ratio.confidence:.0%}"
    if run.plan.self_check:
        subject = f"{run.plan.self_check} against itself: ratio {ratio.estimate:.3f}"
    else:
        subject = f"{pair.left} is {_times(ratio.estimate)} than {pair.right}"
    if run.rounds < stats.MIN_ROUNDS:
        interval = f"   {level} CI {_interval(ratio)}" if run.rounds > 1 else ""
        return f"{subject}{interval}   → indicative, no verdict ({run.rounds} of at least {stats.MIN_ROUNDS} rounds)"
    needed = ""
    if pair.verdict == stats.INCONCLUSIVE:
        count = "more than 1000" if pair.rounds_needed is None else f"≈ {pair.rounds_needed}"
        needed = f" at --min-effect {100 * run.plan.min_effect:.3g}%"
        needed += f" ({count} rounds needed)"
    return f"{subject}   {level} CI {_interval(ratio)}   p {_p(ratio.p)}   → {pair.verdict}{needed}"


def remarks(run: Run, summaries: Sequence[ColumnSummary], pairs: Sequence[Comparison]) -> list[str]:
    """Return the sentences under the tables: parity, what is derived, dispatch, what the self check says."""
    found = []
    bound = [summary.name for summary in summaries if summary.dispatch_bound]
    if bound:
        larger = "a larger --batch" if run.plan.size_name == "large" else "--size large"
        found.append(f"{', '.join(bound)}: {DISPATCH_ADVICE.format(larger=larger)}.")
    if run.plan.self_check and pairs:
        found.append(_resolution(run, pairs[0]))
    if any(summary.derived for summary in summaries):
        found.append("* derived: first call - steady median.")
    if run.parity:
        worst = max(run.parity.values(), key=lambda parity: parity["max_rel"])
        equal = worst["max_abs"] == 0
        found.append("outputs are equal to the bit." if equal else f"outputs agree: max rel {worst['max_rel']:.1g}.")
    if run.census:
        counts = ", ".join(f"{each['kernels']} in {name}" for name, each in run.census.items())
        found.append(f"kernels: {counts}; why: xlacompare diff {run.plan.model} --variant {run.plan.variant}")
    if not run.complete:
        found.append(f"stopped after {run.rounds} of {run.plan.most_rounds} rounds.")
    if run.looks:
        found.append(
            f"the verdict was asked for after {', '.join(map(str, run.looks))} rounds, each time at "
            f"{run.plan.confidence:.0%}, which keeps false findings at 5 % over all looks."
        )
    return found


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Return table rows as lines: the cells of the columns `left` to the left, the others right, two spaces between."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _title(run: Run) -> str:
    plan = run.plan
    size = ", ".join(f"{name} {value}" for name, value in plan.program.get("size", {}).items())
    rounds = f"{run.rounds} round{'s' if run.rounds != 1 else ''} × {_batches(run)} batches"
    return f"{plan.model} · {plan.variant} · {plan.size_name} ({size}) · {plan.mode} · {rounds}"


def _setting(run: Run) -> str:
    plan = run.plan
    cores = f"pinned to {','.join(map(str, plan.cpus))}" if plan.cpus else f"{run.environment.get('cpus')} cores"
    dtypes = "/".join(run.fairness.get("dtypes", ())) or "?"
    numbers = ", ".join(f"{summary.name} {summary.number}" for summary in summarize_columns(run))
    return f"{plan.device} ({cores}) · {dtypes} · calls a batch: {numbers}"


def _batches(run: Run) -> str:
    counts = [len(worker.batches_s) for worker in run.workers]
    return str(counts[0]) if len(set(counts)) == 1 else f"{min(counts)}…{max(counts)}"


def _steady_row(summary: ColumnSummary) -> tuple[str, ...]:
    return (
        summary.name,
        seconds(summary.median_s),
        seconds_range(summary.p25_s, summary.p75_s),
        seconds_range(summary.low_s, summary.high_s),
        seconds(summary.floor_s),
        "dispatch-bound" if summary.dispatch_bound else "",
    )


def _phase_row(summary: ColumnSummary) -> tuple[str, ...]:
    cells = []
    for phase in SHOWN_PHASES:
        value = summary.phases_s[phase]
        # A phase that a column does not have takes microseconds all the same.
        text = "–" if phase in ("trace", "lower", "compile") and value < 1e-3 else seconds(value)
        cells.append(text + (" *" if phase in summary.derived else ""))
    used = "–" if summary.cores_used is None else f"{summary.cores_used:.1f}"
    return (summary.name, *cells, bytes_(summary.peak_rss_bytes), used)


def _times(ratio: float) -> str:
    return f"{ratio:.2f}× faster" if ratio >= 1 else f"{1 / ratio:.2f}× slower"


def _interval(ratio: stats.Ratio) -> str:
    low, high = ratio.low, ratio.high
    if ratio.estimate < 1:
        low, high = 1 / ratio.high, 1 / ratio.low
    return f"[{low:.2f}, {high:.2f}]"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _style(verdict: str) -> str:
    return {stats.FASTER: "bold green", stats.SLOWER: "bold red", stats.NO_DIFFERENCE: "bold"}.get(verdict, "")


def _resolution(run: Run, pair: Comparison) -> str:
    half = (pair.ratio.high / pair.ratio.low) ** 0.5 - 1
    sentence = f"in {run.rounds} rounds this machine, as it was, tells apart times that differ by {half:.1%} or more"
    if pair.verdict in (stats.FASTER, stats.SLOWER):
        return f"{sentence}; it told two equals apart, which one run in twenty does by chance: run the check again."
    return f"{sentence}; smaller differences need more --rounds or a quieter machine."
