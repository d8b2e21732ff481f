"""Measured time per kernel, as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from xlacompare.bench.profile import KernelTime, PairTime, Profile, Side
from xlacompare.report.bench import aligned
from xlacompare.report.markdown import markdown_code, markdown_escape, markdown_table
from xlacompare.report.quantities import plain, rate, seconds, significant

SHOWN_PAIRS = 20
SHOWN_KERNELS = 8
SIDE_HEADER = ("", "step", "kernels busy", "hand-off", "no kernel", "unaccounted", "untraced")
PAIR_HEADER = ("left µs", "right µs", "difference", "share", "verdict")
KERNEL_HEADER = ("µs", "share", "FLOP/s", "bytes/s", "of peak", "kernel")


class Lines:
    """Lines that are cut at the console's width, as tables are, instead of being wrapped."""

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style in self.lines:
            yield Text(text, style=style, no_wrap=True, overflow="ellipsis")


def profile_text(profile: Profile, *, ascii_only: bool = False, verbose: bool = False) -> RenderableType:
    """Return a profile for a terminal; `verbose` shows every kernel."""
    lines: list[tuple[str, str]] = []
    table = aligned([SIDE_HEADER, *[_side_row(side) for side in profile.sides]])
    lines += [(table[0], "dim"), *[(row, "") for row in table[1:]], ("", "")]
    if profile.pairs:
        lines += _pair_lines(profile, len(profile.pairs) if verbose else SHOWN_PAIRS)
    for side in profile.sides:
        lines += _kernel_lines(side, len(side.kernels) if verbose else SHOWN_KERNELS)
    said = [Text(plain(text) if ascii_only else text) for text in remarks(profile)]
    title = Text(plain(_title(profile)) if ascii_only else _title(profile), style="bold")
    return Group(title, Lines([(plain(text) if ascii_only else text, style) for text, style in lines]), *said)


def profile_markdown(profile: Profile) -> str:
    """Return a profile as Markdown, every kernel in it."""
    parts = [
        f"## {markdown_code(profile.model)} {markdown_escape(profile.variant)}: time per kernel",
        markdown_escape(_title(profile)),
        _markdown_rows(SIDE_HEADER, [_side_row(side) for side in profile.sides]),
    ]
    if profile.pairs:
        left, right = profile.sides
        rows = [
            [*map(markdown_escape, _pair_row(profile, pair)), _names(pair.left), _names(pair.right)]
            for pair in profile.pairs
        ]
        header = [*PAIR_HEADER, f"left: {left.framework}", f"right: {right.framework}"]
        parts.append(markdown_table(header, rows))
    for side in profile.sides:
        rows = [
            [*map(markdown_escape, _kernel_row(side, kernel)), markdown_code(kernel.name), ", ".join(kernel.inside)]
            for kernel in sorted(side.kernels, key=lambda kernel: -kernel.time_s)
        ]
        parts.append(f"### {side.framework}\n\n" + markdown_table([*KERNEL_HEADER, "inside"], rows))
    parts.append("\n".join(f"- {markdown_escape(text)}" for text in remarks(profile)))
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def remarks(profile: Profile) -> list[str]:
    """Return the sentences under the tables: what accounts for the step, how near the peaks are, what is odd."""
    found = []
    for side in profile.sides:
        share = side.unaccounted_s / side.step_s
        if share > 0.5:
            found.append(
                f"{side.framework}: no kernel accounts for {share:.0%} of the step; faster kernels cannot help there. "
                "Use --size large before blaming fusion."
            )
        overhead = side.step_s / side.untraced_step_s - 1
        if overhead > 0.25:
            found.append(f"{side.framework}: the profiler itself made the step {overhead:.0%} longer.")
        if side.unseen:
            found.append(f"{side.framework}: never ran: {', '.join(side.unseen)}.")
        if side.unlisted:
            found.append(f"{side.framework}: in the trace and not in the census: {', '.join(side.unlisted)}.")
    if profile.peaks is not None:
        peaks = profile.peaks
        found.append(
            f"peaks of {peaks.measured}: {rate(peaks.flops_per_s, 'FLOP/s')} (f32 matrix product), "
            f"{rate(peaks.bytes_per_s, 'B/s')} (memory); above 100% of the memory's, caches served it."
        )
    return found


def _title(profile: Profile) -> str:
    size = ", ".join(f"{name} {value}" for name, value in profile.size.items())
    counts = [sum(process["steps"] for process in side.processes) for side in profile.sides]
    processes = len(profile.sides[0].processes)
    ran = f"{processes} process{'es' if processes != 1 else ''} × {counts[0] // processes} steps"
    return f"{profile.model} · {profile.variant} · {profile.size_name} ({size}) · {profile.device} · {ran}"


def _side_row(side: Side) -> tuple[str, ...]:
    return (
        side.framework,
        seconds(side.step_s),
        seconds(side.busy_s),
        seconds(side.handoff_s),
        seconds(side.idle_s),
        f"{side.unaccounted_s / side.step_s:.0%}",
        seconds(side.untraced_step_s),
    )


def _pair_lines(profile: Profile, most: int) -> list[tuple[str, str]]:
    left, right = profile.sides
    shown = profile.pairs[:most]
    table = [(*_pair_row(profile, pair), f"{_side_names(pair.left)} ↔ {_side_names(pair.right)}") for pair in shown]
    header, *numbers = aligned([(*PAIR_HEADER, f"{left.framework} ↔ {right.framework}"), *table], left=(4, 5))
    inside = {kernel.name: kernel.inside for side in profile.sides for kernel in side.kernels}
    lines = [(header, "dim")]
    for number, pair in zip(numbers, shown, strict=True):
        what = ", ".join(inside.get((pair.left or pair.right)[0], ())[:3])
        lines.append((f"{number}  ({what})", ""))
    if len(shown) < len(profile.pairs):
        rest = profile.pairs[len(shown) :]
        spent = [sum(getattr(pair, f"{side}_s") for pair in rest) for side in ("left", "right")]
        lines.append(
            (f"and {len(rest)} more: {seconds(spent[0])} left, {seconds(spent[1])} right (-v shows them)", "dim")
        )
    return [*lines, ("", "")]


def _pair_row(profile: Profile, pair: PairTime) -> tuple[str, ...]:
    left, right = profile.sides
    difference = f"{pair.difference_s * 1e6:+.1f}"
    share = max(pair.left_s / left.step_s, pair.right_s / right.step_s)
    return (_micro(pair.left_s), _micro(pair.right_s), difference, f"{share:.0%}", pair.verdict.replace("_", " "))


def _kernel_lines(side: Side, most: int) -> list[tuple[str, str]]:
    ordered = sorted(side.kernels, key=lambda kernel: -kernel.time_s)[:most]
    rows = [_kernel_row(side, kernel) for kernel in ordered]
    header, *table = aligned([KERNEL_HEADER[:-1], *rows], left=())
    lines = [(f"{header}  {side.framework}: {len(side.kernels)} kernels", "dim")]
    for row, kernel in zip(table, ordered, strict=True):
        lines.append((f"{row}  {kernel.name} ({', '.join(kernel.inside[:4])})", ""))
    return [*lines, ("", "")]


def _kernel_row(side: Side, kernel: KernelTime) -> tuple[str, ...]:
    return (
        _micro(kernel.time_s),
        f"{kernel.time_s / side.step_s:.1%}",
        "–" if kernel.flops_per_s is None else rate(kernel.flops_per_s, ""),
        "–" if kernel.bytes_per_s is None else rate(kernel.bytes_per_s, ""),
        "–" if kernel.of_peak is None else f"{kernel.of_peak:.0%} {kernel.limit}",
    )


def _micro(value_s: float) -> str:
    return significant(value_s * 1e6) if value_s else "–"


def _side_names(names: Sequence[str]) -> str:
    if not names:
        return "–"
    return names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(markdown_code(name) for name in names) or "–"


def _markdown_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, [[markdown_escape(cell) for cell in row] for row in rows])
