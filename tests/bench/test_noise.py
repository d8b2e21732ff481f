"""Each disturbance is named when it is there, and a clean run is called clean."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.bench.made_runs import make_run
from xlacompare.bench.noise import bimodal, column_noise, mad_outliers, noise, rank_drift, tukey_outliers
from xlacompare.bench.run import Worker

QUIET = [1.0, 1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999]


def worker(number: int, calls_s: list[float], **details: Any) -> Worker:
    return Worker("jax", "jax", number, 0, {}, calls_s, 1, 1e-6, 1, details)


def spread(seed: int, width: float, n: int = 25) -> list[float]:
    rng = random.Random(seed)
    return [1e-3 * (1 + width * (rng.random() - 0.5)) for _ in range(n)]


def codes(workers: list[Worker]) -> set[str]:
    return {each.code for each in column_noise("jax", workers)}


def test_a_clean_run_is_clean() -> None:
    assert noise(make_run([1e-3 * value for value in QUIET], [2e-3 * value for value in QUIET])) == []
    assert codes([worker(n, spread(n, 0.02)) for n in range(8)]) == set()


def test_wide_batches() -> None:
    assert "wide" in codes([worker(n, spread(n, 0.4)) for n in range(6)])


def test_a_slow_first_batch() -> None:
    assert "first_batch" in codes([worker(n, [3e-3, *spread(n, 0.02)]) for n in range(6)])


def test_far_batches_are_counted_and_kept() -> None:
    workers = [worker(n, [*spread(n, 0.02), 5e-3, 6e-3, 7e-3]) for n in range(6)]
    (found,) = [each for each in column_noise("jax", workers) if each.code == "outliers"]
    assert "18 of 168" in found.message


def test_two_speeds() -> None:
    workers = [worker(n, spread(n, 0.01, 12) + [2 * value for value in spread(n, 0.01, 12)]) for n in range(6)]
    assert "bimodal" in codes(workers)


def test_processes_that_differ() -> None:
    medians = [1.0, 1.3, 0.8, 1.25, 0.9, 1.1]
    assert "between" in codes([worker(n, [m * value for value in spread(n, 0.01)]) for n, m in enumerate(medians)])


def test_a_drift() -> None:
    assert "drift" in codes([worker(n, [(1 + n / 10) * value for value in spread(n, 0.01)]) for n in range(8)])


def test_an_unsteady_warm_up_and_traces_of_eager_code() -> None:
    details = {"warm_up": {"steady": False}, "counted_while_timing": {"traces": 2}}
    assert {"not_steady", "retraced"} <= codes([worker(n, spread(n, 0.01), **details) for n in range(6)])


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"cpus": 2, "load_average": 3.1}, "load"),
        ({"cpus": 2, "governor": "powersave"}, "governor"),
        ({"cpus": 2, "turbo": True}, "turbo"),
        ({"cpus": 4, "affinity": [0, 1]}, "affinity"),
        ({"cpus": 2, "gpus": [{"utilization.gpu": "37 %"}]}, "gpu_busy"),
    ],
)
def test_the_machines_state(environment: dict[str, Any], code: str) -> None:
    run = make_run([1e-3] * 6, [1e-3] * 6, environment=environment)
    assert [each.code for each in noise(run)] == [code]


def test_outliers_and_groups() -> None:
    assert tukey_outliers([*QUIET, 2.0]) == mad_outliers([*QUIET, 2.0]) == 1
    assert tukey_outliers([1.0] * 5) == mad_outliers([1.0] * 5) == 0
    assert not bimodal([1.0])
    assert not bimodal([1.0] * 10)


def test_rank_drift() -> None:
    assert rank_drift([1, 2, 3, 4, 5, 6]) == pytest.approx(1)
    assert rank_drift([6, 5, 4, 3, 2, 1]) == pytest.approx(-1)
    assert rank_drift([1, 3, 2, 1.5, 2.5, 1.2]) is None
