"""The statistics keep what they promise, on simulated data whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlacompare.bench import stats

SEEDS = 2000
# What fresh processes of one program do on a shared machine, and on a quiet one.
NOISES = (0.11, 0.02)
positive = st.floats(1e-6, 10.0)


def simulate(seed: int, rounds: int, effect: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return medians of two sides whose true ratio is 1 + effect; a drift over the run is common to both."""
    rng = np.random.default_rng(seed)
    drift = np.cumsum(rng.normal(0, noise, rounds))
    left = 1e-3 * np.exp(rng.normal(0, noise, rounds) + drift)
    right = 1e-3 * (1 + effect) * np.exp(rng.normal(0, noise, rounds) + drift)
    return left, right


def verdicts(rounds: int, effect: float, noise: float, min_effect: float = 0.02) -> list[str]:
    return [stats.verdict(ratio, min_effect) for ratio in ratios(rounds, effect, noise)]


def ratios(rounds: int, effect: float, noise: float) -> list[stats.Ratio]:
    """Return `paired`'s answers, without the permutation test that no verdict rests on and that would take minutes."""
    sides = [simulate(seed, rounds, effect, noise) for seed in range(SEEDS)]
    return [stats.paired_t(np.log(right / left)) for left, right in sides]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rounds", [6, 8, 10])
def test_two_identical_programs_are_rarely_told_apart(rounds: int, noise: float) -> None:
    found = verdicts(rounds, 0.0, noise)
    assert sum(verdict in (stats.FASTER, stats.SLOWER) for verdict in found) / SEEDS <= 0.07


@pytest.mark.parametrize("effect", [0.0, 0.57])
@pytest.mark.parametrize("rounds", [6, 8, 10])
def test_the_interval_covers_the_truth(rounds: int, effect: float) -> None:
    covered = sum(ratio.low <= 1 + effect <= ratio.high for ratio in ratios(rounds, effect, 0.11)) / SEEDS
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize(("rounds", "noise"), [(6, 0.02 / math.sqrt(2)), (8, 0.02), (10, 0.02)])
def test_five_per_cent_are_found_at_two_per_cent_of_noise(rounds: int, noise: float) -> None:
    # Six rounds do it where 2 % is the noise of a round's ratio, eight where it is that of each process.
    assert verdicts(rounds, 0.05, noise).count(stats.FASTER) / SEEDS >= 0.95
    assert verdicts(rounds, 1 / 1.05 - 1, noise).count(stats.SLOWER) / SEEDS >= 0.95


def test_looking_again_and_again_finds_nothing_in_noise() -> None:
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(SEEDS):
        logs = rng.normal(0, 0.05, stats.looks()[-1])
        for n in stats.looks():
            ratio = stats.paired_t(logs[:n], stats.SEQUENTIAL_CONFIDENCE)
            if stats.verdict(ratio, 0.02) in (stats.FASTER, stats.SLOWER):
                false += 1
                break
    assert false / SEEDS <= 0.07


def test_welch_keeps_its_level_and_its_coverage() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(SEEDS):
        left, right = np.exp(rng.normal(0, 0.02, 6)), 1.2 * np.exp(rng.normal(0, 0.08, 10))
        ratio = stats.welch(left, right)
        covered += ratio.low <= 1.2 <= ratio.high
    assert 0.93 <= covered / SEEDS <= 0.97


@pytest.mark.parametrize(
    ("low", "estimate", "high", "rounds", "expected"),
    [
        (0.99, 1.0, 1.01, 10, "no difference"),
        (1.001, 1.01, 1.015, 10, "no difference"),  # real, and smaller than what matters
        (1.01, 1.05, 1.09, 10, "faster"),
        (0.90, 0.95, 0.99, 10, "slower"),
        (0.99, 1.05, 1.11, 10, "inconclusive"),
        (1.005, 1.015, 1.025, 10, "inconclusive"),  # real, and whether it matters is open
        (1.40, 1.57, 1.70, 5, "inconclusive"),  # too few rounds for any verdict
    ],
)
def test_verdicts(low: float, estimate: float, high: float, rounds: int, expected: str) -> None:
    ratio = stats.Ratio(estimate, low, high, 0.05, 0.05, rounds, 0.95, 0.1)
    assert stats.verdict(ratio, 0.02) == expected


def test_a_larger_min_effect_says_no_difference_sooner() -> None:
    ratio = stats.Ratio(1.01, 0.97, 1.04, 0.5, 0.5, 10, 0.95, 0.03)
    assert stats.verdict(ratio, 0.02) == "inconclusive"
    assert stats.verdict(ratio, 0.05) == "no difference"


def test_paired_is_the_textbook_t_interval() -> None:
    # logs 0.1, 0.2, 0.3: mean 0.2, sd 0.1, t(2) at 97.5 % is 4.302653
    ratio = stats.paired([1, 1, 1], [math.exp(0.1), math.exp(0.2), math.exp(0.3)])
    half = 4.302652729696142 * 0.1 / math.sqrt(3)
    assert math.log(ratio.estimate) == pytest.approx(0.2)
    assert math.log(ratio.low) == pytest.approx(0.2 - half)
    assert math.log(ratio.high) == pytest.approx(0.2 + half)
    assert ratio.p == pytest.approx(0.0741799, abs=1e-6)
    assert ratio.sign_flip_p == 0.25


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=10))
def test_swapping_sides_inverts_everything(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = stats.paired(left, right), stats.paired(right, left)
    assert one.estimate == pytest.approx(1 / other.estimate)
    assert one.low == pytest.approx(1 / other.high)
    assert one.p == pytest.approx(other.p)
    swapped = {"faster": "slower", "slower": "faster"}
    verdict = stats.verdict(one, 0.02)
    assert stats.verdict(other, 0.02) == swapped.get(verdict, verdict)


@given(st.lists(positive, min_size=6, max_size=12), st.floats(0.5, 2.0))
def test_a_common_drift_cancels(left: list[float], factor: float) -> None:
    right = [value * factor for value in left]
    ratio = stats.paired(left, right)
    assert ratio.estimate == pytest.approx(factor)
    assert ratio.high / ratio.low == pytest.approx(1)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=9))
def test_sign_flip_p_counts_itself_and_is_a_probability(logs: list[float]) -> None:
    p = stats.sign_flip_p(logs)
    assert 2 ** -len(logs) <= p <= 1
    assert stats.sign_flip_p([-value for value in logs]) == p


def test_sign_flip_p_of_many_rounds_is_sampled_and_repeatable() -> None:
    logs = [0.1 + 0.01 * index for index in range(20)]
    assert 0 < stats.sign_flip_p(logs) == stats.sign_flip_p(logs) < 1e-3


def test_rounds_needed_are_enough_in_simulation() -> None:
    ratio = stats.Ratio(1.05, 0.99, 1.11, 0.08, 0.08, 10, 0.95, 0.08)
    needed = stats.rounds_needed(ratio, 0.02)
    assert needed is not None
    assert 20 <= needed <= 30
    found = verdicts(needed, 0.05, 0.08 / math.sqrt(2))
    assert 0.75 <= found.count(stats.FASTER) / SEEDS <= 0.88


def test_rounds_needed_gives_up_above_a_thousand() -> None:
    ratio = stats.Ratio(1.0, 0.5, 2.0, 1.0, 1.0, 6, 0.95, 1.0)
    assert stats.rounds_needed(ratio, 0.01) is None


def test_summary_of_one_sample() -> None:
    summary = stats.summarize([2.0])
    assert (summary.median_s, summary.min_s, summary.max_s, summary.n) == (2.0, 2.0, 2.0, 1)
    assert summary.relative_iqr == 0.0
