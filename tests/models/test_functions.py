"""Two functions at hand, compared: lambdas, closures, functions of a user's own module."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import xlacompare.analyze as xa
from xlacompare.errors import ParityError, WorkerFailed

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def test_closures_and_nested_arguments() -> None:
    scale = 3.0

    def in_jax(params, x):
        import jax.numpy as jnp

        return {"b": jnp.tanh(x @ params["W"]) * scale, "a": x.sum()}

    def in_tensorflow(params, x):
        import tensorflow as tf

        return {"b": tf.tanh(x @ params["W"]) * scale, "a": tf.reduce_sum(x)}

    difference = xa.compare(in_jax, in_tensorflow, ({"W": X}, X))
    assert difference.to_json_dict()["operations"]["matched"] >= 3


def test_lambdas_of_a_users_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "users_helpers.py").write_text("def double(x):\n    return x * 2.0\n")
    (tmp_path / "users_functions.py").write_text(
        "from users_helpers import double\nadd = lambda x, y: double(x) + y\nworse = lambda x, y: double(x) - y\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import users_functions

    try:
        difference = xa.compare(users_functions.add, users_functions.add, (X, X))
        assert difference.to_json_dict()["operations"]["left_only"] == 0
        with pytest.raises(ParityError, match="output/0"):
            xa.compare(users_functions.add, users_functions.worse, (X, X))
    finally:
        for name in ("users_functions", "users_helpers"):
            sys.modules.pop(name, None)


def test_a_function_that_raises_says_where() -> None:
    with pytest.raises(WorkerFailed, match=r"JAX failed in the stage 'trace': ZeroDivisionError"):
        xa.compare(lambda x: x / (1 // 0), lambda x: x, (X,), frameworks=("jax",))
