"""When two sets of outputs are the same, and what is said when they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from xlacompare.errors import ParityError
from xlacompare.parity import Parity, compare_outputs


def compared(left: dict[str, Any], right: dict[str, Any], rtol: float = 1e-3, atol: float = 1e-6) -> Parity:
    def arrays(values: dict[str, Any]) -> dict[str, Any]:
        return {name: np.asarray(value, np.float32) for name, value in values.items()}

    return compare_outputs(arrays(left), arrays(right), rtol=rtol, atol=atol)


def test_equal_outputs() -> None:
    parity = compared({"loss": 1.0, "grad/W": [1, 2]}, {"loss": 1.0, "grad/W": [1, 2]})
    assert (parity.ok, parity.max_abs, parity.max_rel) == (True, 0.0, 0.0)


def test_within_the_tolerance_says_how_far() -> None:
    parity = compared({"a": [100.0, 1.0], "b": [1.0]}, {"a": [100.05, 1.0], "b": [1.0]})
    assert parity.ok
    assert parity.worst == "a"
    assert parity.max_abs == pytest.approx(0.05, rel=1e-3)
    assert parity.max_rel == pytest.approx(0.0005, rel=1e-2)


def test_small_elements_of_a_large_output_are_held_to_its_scale() -> None:
    assert compared({"a": [100.0, 1e-9]}, {"a": [100.0, 2e-9]}).ok


def test_the_worst_output_is_named() -> None:
    with pytest.raises(ParityError, match="output 'grad/b' is off by 10 times the tolerance"):
        compared({"grad/W": [1.0], "grad/b": [1.0]}, {"grad/W": [1.0005], "grad/b": [1.0101]}, rtol=1e-3, atol=0)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({"a": 1}, {"b": 1}, "different outputs: a, b on one side alone"),
        ({"a": [1, 2]}, {"a": [1]}, r"'a' is float32\[2\] in JAX and float32\[1\] in TensorFlow"),
        ({"a": np.nan}, {"a": np.nan}, "'a' of JAX holds NaN"),
        ({"a": 1}, {"a": np.inf}, "'a' of TensorFlow holds an infinity"),
    ],
)
def test_what_cannot_be_compared(left: dict[str, Any], right: dict[str, Any], message: str) -> None:
    with pytest.raises(ParityError, match=message):
        compared(left, right)


def test_types_must_be_the_same() -> None:
    with pytest.raises(ParityError, match=r"float64\[1\] in JAX and float32\[1\] in TensorFlow"):
        compare_outputs({"a": np.ones(1)}, {"a": np.ones(1, np.float32)}, rtol=1, atol=1)


def test_an_output_without_elements() -> None:
    assert compared({"a": np.zeros((0, 3))}, {"a": np.zeros((0, 3))}).ok


finite = stnp.arrays(np.float32, 4, elements=st.floats(-1e6, 1e6, width=32))


@given(finite, finite)
def test_the_verdict_is_the_stated_inequality(left: Any, right: Any) -> None:
    rtol, atol = 1e-2, 1e-3
    difference = np.abs(left.astype(np.float64) - right).max()
    within = difference <= atol + rtol * np.abs(right.astype(np.float64)).max()
    try:
        agreed = compare_outputs({"a": left}, {"a": right}, rtol=rtol, atol=atol).ok
    except ParityError:
        agreed = False
    assert agreed == within
