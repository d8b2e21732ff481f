"""Which of two is faster, by how much, and is it real: pure functions of medians, no clock and no printing.

The unit of replication is the process. Medians of fresh processes of one program differ by far more than the calls
inside a process let one think, so every interval here is made from one number a process:

- `paired`: rounds in which both ran one after the other; a t interval on the logarithms of the rounds' ratios;
- `welch`: runs that were not interleaved; a Welch t interval on the logarithms of the processes' medians.

A ratio is always the time of `right` over the time of `left`: above one, left is faster.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

MIN_ROUNDS = 6
CONFIDENCE = 0.95
# Looking again after more rounds, until something is seen, sees things: each look then has to be stricter. With the
# eight looks of `looks()` this level keeps false findings over all of them at 5 % (tests/bench/test_stats.py).
SEQUENTIAL_CONFIDENCE = 0.99
MAX_SEQUENTIAL_ROUNDS = 48
POWER = 0.8
EXACT_SIGN_FLIPS = 16
SAMPLED_SIGN_FLIPS = 1 << 16
MAX_ROUNDS_NEEDED = 1000

FASTER, SLOWER, NO_DIFFERENCE, INCONCLUSIVE = "faster", "slower", "no difference", "inconclusive"


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of `right` over the time of `left`, with its interval.

    Attributes:
        estimate: the geometric mean of the rounds' ratios (of the medians' ratio for `welch`).
        low, high: the ends of the interval.
        p: probability of a ratio this far from one if there is no difference (two-sided t).
        sign_flip_p: the same without assuming a normal distribution, by flipping the signs of the rounds; None for
            `welch`.
        rounds: how many rounds it rests on (the smaller number of processes for `welch`).
        confidence: the level of the interval.
        log_sd: standard deviation of the logarithms of the rounds' ratios.
    """

    estimate: float
    low: float
    high: float
    p: float
    sign_flip_p: float | None
    rounds: int
    confidence: float
    log_sd: float

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Summary:
    """Where the samples of one process or the medians of several lie, in seconds."""

    median_s: float
    p5_s: float
    p25_s: float
    p75_s: float
    p95_s: float
    min_s: float
    max_s: float
    n: int

    @property
    def relative_iqr(self) -> float:
        """The width of the middle half over the median."""
        return (self.p75_s - self.p25_s) / self.median_s

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarize(samples_s: Sequence[float]) -> Summary:
    """Return the summary of at least one sample, in seconds."""
    low, p5, p25, median, p75, p95, high = (
        float(q) for q in np.quantile(samples_s, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
    )
    return Summary(median, p5, p25, p75, p95, low, high, len(samples_s))


def paired(left_s: Sequence[float], right_s: Sequence[float], confidence: float = CONFIDENCE) -> Ratio:
    """Return the ratio right/left of medians that were measured in pairs, one pair a round.

    Args:
        left_s: one median a round, in seconds.
        right_s: the other side's, of the same rounds in the same order.
        confidence: of the interval.
    """
    logs = np.log(np.asarray(right_s, float)) - np.log(np.asarray(left_s, float))
    return replace(paired_t(logs, confidence), sign_flip_p=sign_flip_p(logs.tolist()))


def paired_t(logs: NDArray[np.float64], confidence: float = CONFIDENCE) -> Ratio:
    """Return what `paired` returns, without its permutation test, from the logarithms of the rounds' ratios."""
    n = len(logs)
    if n < 2:
        estimate = math.exp(float(logs[0])) if n else math.nan
        return Ratio(estimate, 0.0, math.inf, 1.0, None, n, confidence, math.nan)
    mean, sd = float(logs.mean()), float(logs.std(ddof=1))
    low, high, p = _t_interval(mean, sd / math.sqrt(n), n - 1, confidence)
    return Ratio(math.exp(mean), low, high, p, None, n, confidence, sd)


def welch(left_s: Sequence[float], right_s: Sequence[float], confidence: float = CONFIDENCE) -> Ratio:
    """Return the ratio right/left of the medians of processes that were not measured in pairs."""
    left, right = np.log(np.asarray(left_s, float)), np.log(np.asarray(right_s, float))
    mean = float(right.mean() - left.mean())
    n = min(len(left), len(right))
    if n < 2:
        return Ratio(math.exp(mean), 0.0, math.inf, 1.0, None, n, confidence, math.nan)
    left_var, right_var = float(left.var(ddof=1)) / len(left), float(right.var(ddof=1)) / len(right)
    variance = left_var + right_var
    if variance == 0:
        df = float(len(left) + len(right) - 2)
    else:
        df = variance**2 / (left_var**2 / (len(left) - 1) + right_var**2 / (len(right) - 1))
    low, high, p = _t_interval(mean, math.sqrt(variance), df, confidence)
    return Ratio(math.exp(mean), low, high, p, None, n, confidence, math.sqrt(variance * n))


def _t_interval(mean: float, standard_error: float, df: float, confidence: float) -> tuple[float, float, float]:
    """Return the ends of the interval, as ratios, and the two-sided p of `mean` against zero."""
    if standard_error == 0:
        return math.exp(mean), math.exp(mean), float(mean == 0)
    half = float(special.stdtrit(df, (1 + confidence) / 2)) * standard_error
    p = 2 * float(special.stdtr(df, -abs(mean) / standard_error))
    return math.exp(mean - half), math.exp(mean + half), p


def sign_flip_p(logs: Sequence[float]) -> float:
    """Return the share of sign patterns whose sum is at least as far from zero as the one that was seen.

    Every pattern is counted up to 16 rounds; beyond, 65,536 patterns drawn from a fixed seed, so that the same data
    give the same number.

    >>> sign_flip_p([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    0.03125
    """
    values = np.asarray(logs, float)
    n = len(values)
    if n <= EXACT_SIGN_FLIPS:
        sums = _sign_patterns(n) @ values
    else:
        signs = np.random.default_rng(0).integers(0, 2, size=(SAMPLED_SIGN_FLIPS, n)) * 2 - 1
        sums = np.append(signs @ values, values.sum())
    seen = abs(float(values.sum()))
    # The observed pattern must count itself whatever the order of summation rounded it to.
    return float(np.mean(np.abs(sums) >= seen * (1 - 1e-12)))


@functools.cache
def _sign_patterns(n: int) -> NDArray[np.float64]:
    """Return every pattern of n signs, f64[2^n,n]."""
    bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    return (1 - 2 * bits).astype(np.float64)


def verdict(ratio: Ratio, min_effect: float) -> str:
    """Say what the interval allows to be said about left: "faster", "slower", "no difference" or "inconclusive".

    - faster, slower: the interval leaves one out and the estimate is at least `min_effect` away from it;
    - no difference: the whole interval is closer to one than `min_effect`;
    - inconclusive: anything else, and whatever rests on fewer than six rounds.

    Args:
        ratio: right over left.
        min_effect: the smallest difference that matters, 0.02 for 2 %.
    """
    if ratio.rounds < MIN_ROUNDS:
        return INCONCLUSIVE
    limit = math.log1p(min_effect)
    low, high, middle = math.log(ratio.low), math.log(ratio.high), math.log(ratio.estimate)
    if -limit < low and high < limit:
        return NO_DIFFERENCE
    if low > 0 and middle >= limit:
        return FASTER
    if high < 0 and middle <= -limit:
        return SLOWER
    return INCONCLUSIVE


def rounds_needed(ratio: Ratio, min_effect: float) -> int | None:
    """Return how many rounds would give a verdict four times out of five, at the noise seen; None above 1,000.

    Where the estimate is at least `min_effect` off, the rounds that tell it from one; else the rounds that put the
    whole interval within `min_effect` if there is no difference.
    """
    if not math.isfinite(ratio.log_sd):
        return None
    limit = math.log1p(min_effect)
    effect = abs(math.log(ratio.estimate))
    target = effect if effect >= limit else limit
    for n in range(MIN_ROUNDS, MAX_ROUNDS_NEEDED + 1):
        quantiles = special.stdtrit(n - 1, (1 + ratio.confidence) / 2) + special.stdtrit(n - 1, POWER)
        if float(quantiles) * ratio.log_sd / math.sqrt(n) <= target:
            return n
    return None


def looks(first: int = MIN_ROUNDS) -> list[int]:
    """Return after how many rounds an open-ended run may ask for its verdict: each a third more than the last.

    >>> looks()
    [6, 8, 11, 15, 20, 27, 36, 48]
    """
    found = [first]
    while found[-1] < MAX_SEQUENTIAL_ROUNDS:
        found.append(math.ceil(found[-1] * 4 / 3))
    return found


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(float(np.mean(np.log(np.asarray(values, float)))))
