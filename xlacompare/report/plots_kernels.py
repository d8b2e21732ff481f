"""A plot of a profile: time per kernel, left against right. SVG or PNG, by the file's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlacompare.bench.profile import PairTime, Profile, Side
from xlacompare.report.plots import COLOURS, drawing

MOST_ROWS = 24


def draw_kernels(profile: Profile, path: Path) -> None:
    """Draw a row for each pair of kernels, a dot for each side joined by a line, and what no kernel accounts for."""
    pairs = list(profile.pairs) or _of_one_side(profile.sides[0])
    shown, rest = pairs[:MOST_ROWS], pairs[MOST_ROWS:]
    rows: list[tuple[str, float, float]] = [(_label(pair), pair.left_s, pair.right_s) for pair in shown]
    if rest:
        rows.append((f"{len(rest)} more", sum(pair.left_s for pair in rest), sum(pair.right_s for pair in rest)))
    unaccounted = [side.unaccounted_s for side in profile.sides]
    rows.append(("no kernel accounts for", unaccounted[0], unaccounted[-1]))
    with drawing(path, 8.0, 1.3 + 0.26 * len(rows)) as figure:
        figure.suptitle(f"{profile.model} · {profile.variant} · {profile.size_name}: time per kernel")
        axes = figure.add_subplot()
        for row, (_, left_s, right_s) in enumerate(rows):
            axes.plot([left_s * 1e6, right_s * 1e6], [row, row], color="0.8", linewidth=1.5, zorder=1)
        for index, side in enumerate(profile.sides):
            label = f"{side.framework} (step {side.step_s * 1e6:.4g} µs)"
            xs = [(right_s if index else left_s) * 1e6 for _, left_s, right_s in rows]
            axes.scatter(xs, range(len(rows)), color=COLOURS[index], s=26, zorder=2, label=label)
        axes.set_yticks(range(len(rows)), [name for name, _, _ in rows], fontsize=7)
        axes.invert_yaxis()
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, 1.4 * max(max(left_s, right_s) for _, left_s, right_s in rows) * 1e6)
        axes.grid(axis="x", color="0.92", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel("µs of a step (linear below 1, then logarithmic)")
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _of_one_side(side: Side) -> list[PairTime]:
    ordered = sorted(side.kernels, key=lambda kernel: -kernel.time_s)
    return [PairTime("left_only", (kernel.name,), (), kernel.time_s, kernel.time_s) for kernel in ordered]


def _label(pair: PairTime) -> str:
    names = [_short(pair.left), _short(pair.right)]
    return " ↔ ".join(name for name in names if name)


def _short(names: Sequence[str]) -> str:
    if not names:
        return ""
    name = names[0] if len(names[0]) <= 28 else names[0][:27] + "…"
    return name if len(names) == 1 else f"{name} +{len(names) - 1}"
