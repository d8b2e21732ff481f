"""Did both frameworks compute the same? Asked before anything about them is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from xlacompare.errors import ParityError


@dataclass(frozen=True)
class Parity:
    """How far apart the outputs of two programs are.

    Attributes:
        ok: every output agrees within the tolerance.
        max_abs: the largest absolute difference of any element.
        max_rel: the largest difference of any output, relative to that output's largest magnitude.
        tolerance: "|a - b| <= atol + rtol * max|b|" with its numbers.
        worst: the name of the output that is farthest off.
        compared_at: what was set for the comparison alone, so that no random numbers are drawn ({"dropout": 0.0}).
    """

    ok: bool
    max_abs: float
    max_rel: float
    tolerance: str
    worst: str
    compared_at: Mapping[str, Any] = field(default_factory=dict)

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare_outputs(
    left: Mapping[str, np.ndarray[Any, Any]],
    right: Mapping[str, np.ndarray[Any, Any]],
    *,
    rtol: float,
    atol: float,
    names: tuple[str, str] = ("JAX", "TensorFlow"),
    compared_at: Mapping[str, Any] | None = None,
) -> Parity:
    """Return the parity of two sets of named outputs that agree within the tolerance.

    `compared_at` is what was set for the comparison alone; it only goes into the result.

    Raises:
        ParityError: names, shapes or types differ, a value is NaN, or an output is farther off than allowed.
    """
    if set(left) != set(right):
        only = sorted(set(left) ^ set(right))
        raise ParityError(f"{names[0]} and {names[1]} return different outputs: {', '.join(only)} on one side alone.")
    worst, worst_excess, max_abs, max_rel = "", -1.0, 0.0, 0.0
    for name in sorted(left):
        a, b = left[name], right[name]
        _check_alike(name, a, b, names)
        if not a.size:
            continue
        difference = float(np.max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))))
        magnitude = float(np.max(np.abs(np.asarray(b, np.float64))))
        max_abs = max(max_abs, difference)
        max_rel = max(max_rel, difference / magnitude if magnitude else float(difference > 0))
        excess = difference / (atol + rtol * magnitude)
        if excess > worst_excess:
            worst, worst_excess = name, excess
    tolerance = f"|a - b| <= {atol:g} + {rtol:g} * max|b|"
    if worst_excess > 1:
        raise ParityError(
            f"{names[0]} and {names[1]} do not compute the same: output {worst!r} is off by "
            f"{worst_excess:.3g} times the tolerance ({tolerance}; largest difference {max_abs:.3g}, relative "
            f"{max_rel:.3g}). The two implementations differ; nothing about them is compared until they agree."
        )
    return Parity(True, max_abs, max_rel, tolerance, worst, dict(compared_at or {}))


def _check_alike(name: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], names: tuple[str, str]) -> None:
    if a.shape != b.shape or a.dtype != b.dtype:
        raise ParityError(
            f"output {name!r} is {a.dtype}{list(a.shape)} in {names[0]} and {b.dtype}{list(b.shape)} in {names[1]}."
        )
    for side, values in zip(names, (a, b), strict=True):
        if not np.all(np.isfinite(values)):
            kind = "NaN" if np.isnan(values).any() else "an infinity"
            raise ParityError(
                f"output {name!r} of {side} holds {kind}: equality says nothing there. Look at the inputs "
                "(--seed, --size) or the model before comparing what was compiled."
            )
