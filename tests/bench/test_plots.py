"""Plots are written whole, name what they show, and are the same bytes for the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.made_runs import make_run
from xlacompare.bench.run import Run
from xlacompare.errors import UsageError
from xlacompare.report.plots import draw_phases, draw_rounds

CLOSE = make_run([1.0e-3, 1.02e-3, 0.99e-3], [1.05e-3, 1.06e-3, 1.01e-3])
FAR = make_run([1.0e-5, 1.2e-5, 0.9e-5], [2.0e-4, 2.2e-4, 2.1e-4])
ONE_ROUND = make_run([1.0e-3], [2.0e-3])


@pytest.mark.parametrize("draw", [draw_rounds, draw_phases])
@pytest.mark.parametrize("run", [CLOSE, FAR, ONE_ROUND], ids=["close", "far", "one round"])
def test_svg(draw: Callable[[Run, Path], None], run: Run, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw(run, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    for word in ("linear", "jax", "tensorflow"):
        assert word in text


def test_png(tmp_path: Path) -> None:
    draw_rounds(CLOSE, tmp_path / "made" / "rounds.png")
    assert (tmp_path / "made" / "rounds.png").read_bytes().startswith(b"\x89PNG")


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"svg or \.png"):
        draw_rounds(CLOSE, tmp_path / "rounds.jpeg")
