"""Random draws differ from framework to framework; their mean and variance over many keys do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import REPOSITORY
from xlacompare.frameworks import FRAMEWORKS

DRAWS = 3000
# A draw's mean strays from the true one by this many of its standard errors once in some million.
SIGMAS = 5.0

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow, pytest.mark.xdist_group("zoo")]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("random")
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "JAX_PLATFORMS": "cpu",
        "CUDA_VISIBLE_DEVICES": "-1",
        "XLA_FLAGS": "",
    }
    found = {}
    for framework in FRAMEWORKS:
        out = folder / f"{framework}.npz"
        command = [sys.executable, str(Path(__file__).with_name("random_child.py")), framework, str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        with np.load(out) as stored:
            found[framework] = dict(stored)
    return found


def assert_same_distribution(left: dict[str, Any], right: dict[str, Any], key: str) -> None:
    means, variances = (
        [side[f"{key}:mean"] for side in (left, right)],
        [side[f"{key}:variance"] for side in (left, right)],
    )
    spread = np.sqrt(sum(variances) / DRAWS)
    assert np.all(np.abs(means[0] - means[1]) <= SIGMAS * spread + 1e-6)
    # The variance of a variance is that of the fourth power; these are no heavier-tailed than twice a normal's.
    assert np.all(np.abs(variances[0] - variances[1]) <= SIGMAS * 2 * np.sqrt(2 / DRAWS) * max(map(np.max, variances)))
    assert all(np.all(each > 0) for each in variances)


@pytest.mark.parametrize("prng", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_dropout_has_one_distribution(drawn: dict[str, dict[str, Any]], prng: str) -> None:
    assert_same_distribution(drawn["jax"], drawn["tensorflow"], f"dropout/{prng}/output")


@pytest.mark.parametrize("vectorize", [True, False])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_noise_has_the_stated_spread(drawn: dict[str, dict[str, Any]], framework: str, vectorize: bool) -> None:
    side = drawn[framework]
    # learning rate 0.5, noise multiplier 2, clip norm 1, 8 examples
    stated = (0.5 * 2.0 * 1.0 / 8) ** 2
    for name in ("params/W", "params/b"):
        still = side[f"still/{name}:mean"]
        spread = np.sqrt(stated / DRAWS)
        assert np.all(np.abs(side[f"noise/{vectorize}/{name}:mean"] - still) <= SIGMAS * spread)
        variance = side[f"noise/{vectorize}/{name}:variance"]
        assert np.all(np.abs(variance - stated) <= SIGMAS * stated * np.sqrt(2 / DRAWS))
        assert np.all(side[f"still/{name}:variance"] < 1e-12)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_one_key_draws_the_same_twice(drawn: dict[str, dict[str, Any]], framework: str) -> None:
    repeats = {key: bool(value) for key, value in drawn[framework].items() if key.endswith(":repeats")}
    assert repeats and all(repeats.values())
