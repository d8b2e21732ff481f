"""Options tried one at a time, and cells that are timed: minutes, so only among the slow tests."""

from __future__ import annotations

import pytest

from xlacompare.attribution import attribute
from xlacompare.attribution.options import candidates, own_flags
from xlacompare.dump import dump_request
from xlacompare.report.attribution import attribution_markdown


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((), (), []),
        (("--xla_a=1",), ("--xla_a=1",), []),
        (("--xla_a=1", "--xla_b"), ("--xla_a=2",), ["--xla_a=1", "--xla_b"]),
        (("--xla_a=1", "--xla_a=1"), (), ["--xla_a=1"]),
    ],
)
def test_flags_of_one_side_alone(ours: tuple[str, ...], theirs: tuple[str, ...], expected: list[str]) -> None:
    assert own_flags(ours, theirs) == expected


@pytest.mark.slow
@pytest.mark.jax
@pytest.mark.tensorflow
def test_the_switch_of_a_library_explains_its_kernels() -> None:
    found = attribute(dump_request("mlp", variant="train_step"), try_flags=True, time=True)
    trials = {(trial.column, trial.flag): trial for trial in found.trials}
    library = trials["jax", "--xla_cpu_experimental_ynn_fusion_type="]
    # Five products that jaxlib gives to a library and TensorFlow does not, on both sides.
    assert library.explained == library.before - library.after == 10
    # TensorFlow is tried with what JAX sets for itself.
    assert ("tensorflow", "--xla_cpu_enable_fast_min_max=false") in trials
    cells = [cell for cell in found.cells if hasattr(cell, "numbers")]
    assert all(0 < (cell.numbers["run_s"] or 0) < 1 for cell in cells)
    report = attribution_markdown(found)
    assert f"explains 10 of the {library.before} kernels" in report
    assert "seconds a run" in report
    # No flag is tried that is in force already.
    assert not set(candidates(cells[0], cells[0], (), ())) & {
        f"--{name}={value}" for name, value in cells[0].options.items()
    }
