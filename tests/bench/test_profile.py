"""Profiles: kernels joined to their module, rates set against peaks, and real programs whose kernels add up."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from xlacompare.bench import peaks as peaks_module
from xlacompare.bench.peaks import Peaks, machine_peaks
from xlacompare.bench.profile import Profile, Side, pair_times, side_of
from xlacompare.bench.profiler import profile
from xlacompare.bench.request import bench_plan
from xlacompare.cli.main import main
from xlacompare.errors import UsageError
from xlacompare.hlo import read_text
from xlacompare.kernels import kernels
from xlacompare.report.plots_kernels import draw_kernels
from xlacompare.report.profile import profile_markdown, profile_text, remarks

TEXT = """HloModule m, is_scheduled=true
%fused (p: f32[1000]) -> f32[1000] {
  %p = f32[1000]{0} parameter(0)
  %t = f32[1000]{0} multiply(%p, %p)
  %u = f32[1000]{0} multiply(%t, %p)
  ROOT %n = f32[1000]{0} negate(%u)
}
ENTRY %main (x: f32[1000], w: f32[100,100]) -> (f32[1000], f32[100,100]) {
  %x = f32[1000]{0} parameter(0)
  %w = f32[100,100]{1,0} parameter(1)
  %fusion = f32[1000]{0} fusion(%x), kind=kLoop, calls=%fused
  %dot = f32[100,100]{1,0} dot(%w, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %never = f32[1000]{0} tanh(%x)
  ROOT %out = (f32[1000]{0}, f32[100,100]{1,0}) tuple(%fusion, %dot)
}
"""
PEAKS = Peaks(flops_per_s=1e11, bytes_per_s=1e10, measured="here")


def answer(scale: float = 1.0) -> dict[str, object]:
    """Twelve steps: eight alike, four that met another process."""
    usual = [100e-6 * scale, 60e-6 * scale, 5e-6 * scale, {
        "fusion": [10e-6 * scale, 10e-6 * scale, 1], "dot": [50e-6 * scale, 60e-6 * scale, 1],
    }, 99e-6 * scale]  # fmt: skip
    return {"steps": [usual] * 8 + [[9.0, 1.0, 0.0, {"dot": [1.0, 1.0, 1]}, 9.0]] * 2, "untraced_step_s": 90e-6 * scale}


def side(framework: str = "jax", scale: float = 1.0) -> Side:
    return side_of(framework, read_text(TEXT)[0], [answer(scale), answer(scale)], PEAKS)


def test_a_side_adds_up_and_is_deaf_to_disturbed_steps() -> None:
    found = side()
    assert found.step_s == pytest.approx(100e-6)
    assert sum(kernel.time_s for kernel in found.kernels) + found.unaccounted_s == pytest.approx(found.step_s)
    assert found.unaccounted_s == pytest.approx(40e-6)
    assert found.clock_step_s == pytest.approx(99e-6)
    assert found.unseen == ("never",)


def test_a_side_lists_the_censuss_kernels_and_names_what_is_not_there() -> None:
    module = read_text(TEXT)[0]
    found = side_of(
        "jax", module, [{"steps": [[1.0, 0.5, 0.0, {"ghost": [0.5, 0.5, 1]}, 1.0]], "untraced_step_s": 1.0}], None
    )
    assert [kernel.name for kernel in found.kernels] == [kernel.name for kernel in kernels(module)]
    assert found.unlisted == {"ghost": 0.5}


def test_rates_are_set_against_the_peaks() -> None:
    fusion, dot, never = side().kernels
    assert dot.flops == 2 * 100**3
    assert dot.flops_per_s == pytest.approx(4e10)
    assert (dot.of_peak, dot.limit) == (pytest.approx(0.4), "compute")
    assert fusion.bytes_accessed == 8000
    assert (fusion.of_peak, fusion.limit) == (pytest.approx(0.08), "memory")
    assert fusion.inside == ("multiply", "negate")
    assert (never.time_s, never.flops_per_s) == (0.0, None)


def test_pairs_carry_the_diffs_verdicts_costliest_first() -> None:
    groups = [
        {"verdict": "identical", "left": ["fusion"], "right": ["fusion"]},
        {"verdict": "split", "left": ["dot"], "right": ["dot", "never"]},
        {"verdict": "left_only", "left": ["never"], "right": []},
    ]
    found = pair_times(groups, side(), side("tensorflow", 2.0))
    assert [pair.verdict for pair in found] == ["split", "identical", "left_only"]
    assert found[0].difference_s == pytest.approx(50e-6)


def made_profile() -> Profile:
    left, right = side(), side("tensorflow", 10.0)
    groups = [{"verdict": "same_operations", "left": ["dot"], "right": ["dot"]}]
    pairs = pair_times(groups, left, right)
    return Profile("mlp", "grad", "tiny", {"batch": 8}, "cpu", "2026-03-01T12:00:00Z", (left, right), pairs, PEAKS)


def test_the_terminals_report_fits_and_says_what_no_kernel_accounts_for() -> None:
    console = Console(width=80, file=io.StringIO(), color_system=None)
    console.print(profile_text(made_profile()))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "mlp · grad · tiny (batch 8) · cpu · 2 processes × 10 steps" in text
    assert ["50.0", "500", "+450.0", "50%", "same", "operations", "dot", "↔", "dot", "(dot)"] in [
        line.split() for line in text.splitlines()
    ]
    assert "never ran: never" in text


def test_remarks_name_the_share_without_kernels() -> None:
    lazy = side_of("jax", read_text(TEXT)[0], [{"steps": [[1.0, 0.1, 0.0, {}, 1.0]], "untraced_step_s": 0.5}], None)
    said = remarks(Profile("m", "grad", "tiny", {}, "cpu", "", (lazy,)))
    assert "no kernel accounts for 90% of the step" in said[0]
    assert "the profiler itself made the step 100% longer" in said[1]


def test_markdown_and_plot(tmp_path: Path) -> None:
    text = profile_markdown(made_profile())
    assert "## `mlp` grad: time per kernel" in text
    assert "`dot`" in text
    draw_kernels(made_profile(), tmp_path / "kernels.svg")
    assert "dot ↔ dot" in (tmp_path / "kernels.svg").read_text()
    assert len(made_profile().to_pandas()) == 6


def test_peaks_are_kept_and_a_busy_machines_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(peaks_module, "measure_peaks", lambda key: Peaks(2.0, 3.0, key))
    monkeypatch.setattr(peaks_module, "load_average", lambda: 100.0)
    assert "busy" in machine_peaks().measured
    assert not peaks_module.peaks_path().exists()
    monkeypatch.setattr(peaks_module, "load_average", lambda: 0.0)
    first = machine_peaks()
    monkeypatch.setattr(peaks_module, "measure_peaks", lambda key: Peaks(9.0, 9.0, key))
    assert machine_peaks() == first
    assert machine_peaks(anew=True).flops_per_s == 9.0
    peaks_module.peaks_path().write_text("{broken")
    assert machine_peaks().flops_per_s == 9.0


def test_eager_columns_have_no_kernels_to_list() -> None:
    with pytest.raises(UsageError, match="not one XLA module"):
        profile(bench_plan("linear", names=["jax-eager"], rounds=1))


@pytest.mark.jax
@pytest.mark.tensorflow
def test_the_kernels_of_mlps_training_step_are_the_censuss_and_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "profile.json"
    command = ["profile", "mlp", "--variant", "train_step", "--quick", "--no-peaks", "-q", "--json", "-o", str(path)]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(path.read_text())
    assert [side["framework"] for side in document["sides"]] == ["jax", "tensorflow"]
    for found in document["sides"]:
        assert found["unseen"] == []
        assert found["unlisted"] == {}
        assert all(kernel["time_s"] > 0 for kernel in found["kernels"])
        total = sum(kernel["time_s"] for kernel in found["kernels"]) + found["unaccounted_s"]
        # The trace tells the kernels and the step; the process's own clock does not know of the trace.
        assert total == pytest.approx(found["clock_step_s"], rel=0.05)
    for index, name in enumerate(("left", "right")):
        paired = [kernel for pair in document["pairs"] for kernel in pair[name]]
        assert sorted(paired) == sorted(kernel["name"] for kernel in document["sides"][index]["kernels"])
