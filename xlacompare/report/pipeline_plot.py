"""The number of kernels on its way through XLA's pipelines, as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlacompare.attribution.passes import PipelineDiff
from xlacompare.attribution.pipeline import NO_PASS, Step
from xlacompare.errors import UsageError

FORMATS = (".svg", ".png")
MAX_LABELS = 40


def check_plot_path(path: Path) -> None:
    """Raise UsageError unless the file's ending is one of `FORMATS`."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: a plot is written as {' or '.join(FORMATS)}; the ending says which.")


def plot_pipelines(pipelines: Sequence[PipelineDiff], path: Path, title: str) -> None:
    """Write the plot: a panel for each pair of pipelines, passes from left to right, kernels upward.

    Raises:
        UsageError: the file's ending is none of `FORMATS`, or there is nothing to plot.
    """
    check_plot_path(path)
    if not pipelines:
        raise UsageError("There are no two pipelines to plot: nothing differs, or no texts between passes are there.")
    # Imported here: it takes longer than all the rest, and most runs plot nothing.
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    # No date and fixed ids, so that the same findings give the same bytes.
    with mpl.rc_context({"svg.hashsalt": "xlacompare"}):
        figure, panels = pyplot.subplots(len(pipelines), 1, figsize=(11, 4.6 * len(pipelines)), squeeze=False)
        for panel, pipeline in zip(panels[:, 0], pipelines, strict=True):
            _draw(panel, pipeline)
        figure.suptitle(plain(title))
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        pyplot.close(figure)


def plain(text: str) -> str:
    """Return text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")


def tick(step: Step) -> str:
    """Return what a state is called under the axis."""
    return f"[{step.pipeline}" if step.name == NO_PASS else step.name


def _draw(panel: object, pipeline: PipelineDiff) -> None:
    stations = pipeline.stations
    positions = range(len(stations))
    draw = panel.step  # type: ignore[attr-defined]
    draw(
        positions, [pipeline.left[each.left].kernels for each in stations], where="mid", label=plain(pipeline.left_name)
    )
    draw(
        positions,
        [pipeline.right[each.right].kernels for each in stations],
        where="mid",
        linestyle="--",
        label=plain(pipeline.right_name),
    )
    for index, parting in enumerate(pipeline.partings):
        panel.axvline(parting.station + 0.5, color="grey", linewidth=0.8, label="parted here" if index == 0 else None)  # type: ignore[attr-defined]
    every = max(1, -(-len(stations) // MAX_LABELS))
    shown = list(positions)[::every]
    names = [plain(tick(pipeline.left[stations[index].left])) for index in shown]
    panel.set_xticks(shown, names, rotation=75, ha="right", fontsize=6)  # type: ignore[attr-defined]
    panel.set_ylabel("kernels, or instructions that would be")  # type: ignore[attr-defined]
    panel.legend(fontsize=8)  # type: ignore[attr-defined]
