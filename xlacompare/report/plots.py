"""Plots of a run: the rounds in pairs with the ratio's interval, and the phases. SVG or PNG, by the file's name.

Every process is a point. No bars of means: what is to be seen is the pairing, the drift and the spread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlacompare.bench.analysis import Comparison, comparisons
from xlacompare.bench.run import Run
from xlacompare.errors import UsageError
from xlacompare.report.quantities import seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png")
# Okabe and Ito's colours, which people of every kind of sight tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    # The same run gives the same bytes.
    "svg.hashsalt": "xlacompare",
}
PHASES = (
    ("import", "import"),
    ("build", "build"),
    ("trace", "trace"),
    ("lower", "lower"),
    ("compile", "compile"),
    ("first_run", "first run"),
)
NOTHING_S = 1e-3


@contextlib.contextmanager
def drawing(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Yield a figure of this size in inches and write it to `path` afterwards.

    Raises:
        UsageError: the file's name ends in something else than .svg or .png.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: plots are written as .svg or .png; end the file's name in one of them.")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        # A figure of its own, without pyplot: nothing global is left behind.
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata: Any = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(path, dpi=160, metadata=metadata)


def draw_rounds(run: Run, path: Path) -> None:
    """Draw each process's median by round, the two of a round joined, and the ratios with their intervals."""
    pairs = comparisons(run)
    with drawing(path, 8.0, 3.6 + 0.25 * len(pairs)) as figure:
        figure.suptitle(title(run))
        grid = figure.add_gridspec(2, 1, height_ratios=(3, 0.6 + 0.4 * len(pairs)))
        _strips(figure.add_subplot(grid[0]), run)
        if pairs:
            _ratios(figure.add_subplot(grid[1]), run, pairs)


def draw_phases(run: Run, path: Path) -> None:
    """Draw the seconds of each phase, a row a phase, a point a process, on a logarithmic axis."""
    phases = [*PHASES, ("steady", "one call")]
    with drawing(path, 8.0, 1.0 + 0.42 * len(phases)) as figure:
        figure.suptitle(title(run))
        axes = figure.add_subplot()
        for index, column in enumerate(run.plan.columns):
            shift = (index - (len(run.plan.columns) - 1) / 2) * 0.22
            points = [
                (value, row + shift)
                for row, (phase, _) in enumerate(phases)
                for worker in run.of_column(column.name)
                # A phase that a column does not have takes microseconds all the same.
                if (value := worker.median_s if phase == "steady" else worker.phases_s[phase]) > NOTHING_S
                or phase in ("steady", "first_run")
            ]
            xs, ys = zip(*points, strict=True)
            axes.scatter(xs, ys, s=14, alpha=0.7, color=_colour(index), label=column.name, linewidths=0)
        axes.set_xscale("log")
        axes.set_yticks(range(len(phases)), [title for _, title in phases])
        axes.invert_yaxis()
        axes.set_xlabel("seconds (logarithmic), one point a process")
        axes.grid(axis="x", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=len(run.plan.columns))
        if any(worker.details.get("derived") for worker in run.workers):
            axes.annotate(
                "TensorFlow's compile: first call − steady median",
                (1, 0),
                xycoords="axes fraction",
                xytext=(0, 4),
                textcoords="offset points",
                ha="right",
                fontsize=7,
                color="0.4",
            )


def title(run: Run) -> str:
    return f"{run.plan.model} · {run.plan.variant} · {run.plan.size_name} · {run.plan.mode}"


def _strips(axes: Axes, run: Run) -> None:
    names = [column.name for column in run.plan.columns]
    factor, unit = _unit(max(max(run.medians_s(name)) for name in names))
    for number in range(run.rounds):
        values = [worker.median_s / factor for worker in run.workers if worker.round == number]
        axes.plot([number + 1] * len(values), values, color="0.75", linewidth=1, zorder=1)
    for index, name in enumerate(names):
        workers = run.of_column(name)
        xs = [worker.round + 1 for worker in workers]
        for worker in workers:
            axes.scatter(
                [worker.round + 1] * len(worker.calls_s),
                [call / factor for call in worker.calls_s],
                s=3,
                color=_colour(index),
                alpha=0.18,
                linewidths=0,
                zorder=0,
            )
        axes.scatter(xs, [w.median_s / factor for w in workers], s=26, color=_colour(index), label=name, zorder=2)
    axes.set_xlabel("round (large point: median of a process; small: its batches)")
    axes.set_ylabel(f"{unit} a call")
    axes.set_xticks(range(1, run.rounds + 1) if run.rounds <= 20 else range(5, run.rounds + 1, 5))
    medians = [median / factor for name in names for median in run.medians_s(name)]
    if max(medians) > 8 * min(medians):
        axes.set_yscale("log")
    else:
        # One batch that met another process shall not press all else flat.
        axes.set_ylim(0.85 * min(medians), 1.15 * max(medians))
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=len(names))


def _ratios(axes: Axes, run: Run, pairs: Sequence[Comparison]) -> None:
    effect = run.plan.min_effect
    axes.axvspan(1 / (1 + effect), 1 + effect, color="0.92", linewidth=0)
    axes.axvline(1, color="0.5", linewidth=1)
    for row, pair in enumerate(pairs):
        ratio = pair.ratio
        if run.rounds > 1:
            axes.plot([ratio.low, ratio.high], [row, row], color=_colour(row + 1), linewidth=2)
        axes.scatter([ratio.estimate], [row], color=_colour(row + 1), s=30, zorder=3)
        said = f"{ratio.estimate:.3g}: {pair.left} {pair.verdict}"
        at = (ratio.estimate, row)
        axes.annotate(said, at, xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8)
    axes.set_xscale("log")
    reach = max([2 * effect, *[abs(edge - 1) for pair in pairs for edge in _edges(pair)]])
    if reach < 0.5:
        # So near to one, a logarithm is a straight line, and plain numbers are easier to read.
        axes.set_xscale("linear")
        axes.set_xlim(1 - 1.25 * reach, 1 + 1.25 * reach)
    else:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        edges = [edge for pair in pairs for edge in _edges(pair)]
        axes.set_xlim(0.7 * min(1, *edges), 1.4 * max(1, *edges))
    axes.set_ylim(len(pairs) - 0.5, -0.9)
    axes.set_yticks(range(len(pairs)), [f"{pair.right} / {pair.left}" for pair in pairs])
    level = f"{pairs[0].ratio.confidence:.0%}"
    axes.set_xlabel(f"time ratio with its {level} interval (grey: differences below {effect:.0%})")


def _edges(pair: Comparison) -> tuple[float, ...]:
    ratio = pair.ratio
    return (ratio.estimate,) if ratio.rounds < 2 else (ratio.low, ratio.estimate, ratio.high)


def _unit(value_s: float) -> tuple[float, str]:
    """Return (the seconds of a unit, its name) in which a duration has one to three digits before the point."""
    unit = seconds(value_s).split()[1]
    return {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit], unit


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]
