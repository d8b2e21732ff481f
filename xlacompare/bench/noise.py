"""What disturbed a run, and what to do about it; warnings never change a verdict or an exit code."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import special

from xlacompare.bench import stats
from xlacompare.bench.run import Run, Worker

WIDE_IQR, VERY_WIDE_IQR = 0.10, 0.25
LOAD_PER_CPU = 0.5
FIRST_BATCH_FACTOR = 1.5
TUKEY_FACTOR, TUKEY_SHARE = 3.0, 0.05
MAD_FACTOR, MAD_SHARE = 5.0, 0.05
GAP_SHARE = 0.2
DRIFT_P = 0.01
BETWEEN_OVER_WITHIN = 3.0


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One disturbance: a code for scripts, what was seen, and the remedy."""

    code: str
    column: str | None
    message: str
    remedy: str

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def noise(run: Run) -> list[Disturbance]:
    """Return what disturbed the run, the machine's state first, then each column's samples."""
    found = machine_noise(run)
    for column in run.plan.columns:
        workers = run.of_column(column.name)
        if workers:
            found += column_noise(column.name, workers)
    return found


def machine_noise(run: Run) -> list[Disturbance]:
    """Return what the machine's state at the start, and other processes, may have done to the run."""
    environment = run.environment
    cpus = environment.get("cpus") or 1
    load, governor, affinity = (environment.get(key) for key in ("load_average", "governor", "affinity"))
    found = []
    if load is not None and load > LOAD_PER_CPU * cpus:
        message = f"load average {load:g} at start ({cpus} cpus)"
        found.append(Disturbance("load", None, message, "rerun on a quiet machine, or raise --rounds"))
    if governor not in (None, "performance"):
        message = f"the cpu governor is {governor}"
        found.append(Disturbance("governor", None, message, "cpupower frequency-set -g performance"))
    if environment.get("turbo"):
        message = "the processor may change its clock (turbo)"
        found.append(Disturbance("turbo", None, message, "switch turbo off for small differences"))
    if affinity is not None and len(affinity) < cpus:
        message = f"only {len(affinity)} of {cpus} cpus may be used"
        found.append(Disturbance("affinity", None, message, "compare with runs of the same set"))
    for gpu in environment.get("gpus", ()):
        if (busy := gpu.get("utilization.gpu", "0 %")).split()[0] not in ("0", "[N/A]"):
            found.append(Disturbance("gpu_busy", None, f"the GPU was {busy} busy at start", "end what else uses it"))
    return found


def column_noise(name: str, workers: list[Worker]) -> list[Disturbance]:
    """Return what the samples of one column show."""
    found = []
    summaries = [stats.summarize(worker.calls_s) for worker in workers]
    iqr = statistics.median(summary.relative_iqr for summary in summaries)
    if iqr > WIDE_IQR:
        much = "very " if iqr > VERY_WIDE_IQR else ""
        found.append(
            Disturbance(
                "wide",
                name,
                f"{name}: batches are {much}spread out (middle half: {iqr:.0%} of the median)",
                "rerun on a quiet machine, or --cpus to pin both sides",
            )
        )
    found += _within(name, workers)
    found += _between(name, workers)
    unsteady = sum(not worker.details.get("warm_up", {}).get("steady", True) for worker in workers)
    if unsteady:
        found.append(
            Disturbance(
                "not_steady",
                name,
                f"{name}: {unsteady} of {len(workers)} processes were not steady when the warm-up ended",
                "rerun on a quiet machine",
            )
        )
    traces = sum(worker.details.get("counted_while_timing", {}).get("traces", 0) for worker in workers)
    if traces:
        found.append(
            Disturbance(
                "retraced",
                name,
                f"{name}: {traces} graphs were traced while it was timed",
                "that is a part of its time",
            )
        )
    return found


def _within(name: str, workers: list[Worker]) -> list[Disturbance]:
    """Return what single batches show: the first one, far ones, two groups."""
    found = []
    late = sum(worker.calls_s[0] > FIRST_BATCH_FACTOR * worker.median_s for worker in workers)
    if late > len(workers) / 2:
        found.append(
            Disturbance(
                "first_batch",
                name,
                f"{name}: the first batch was slow in {late} of {len(workers)} processes",
                "the program needs a longer warm-up than it got",
            )
        )
    samples = sum(len(worker.calls_s) for worker in workers)
    tukey, mad = (sum(count(worker.calls_s) for worker in workers) for count in (tukey_outliers, mad_outliers))
    if tukey > TUKEY_SHARE * samples or mad > MAD_SHARE * samples:
        found.append(
            Disturbance(
                "outliers",
                name,
                f"{name}: far-off batches, all kept ({tukey} of {samples} by Tukey, {mad} by MAD)",
                "look for another process that wakes up now and then",
            )
        )
    split = sum(bimodal(worker.calls_s) for worker in workers)
    if split > len(workers) / 2:
        found.append(
            Disturbance(
                "bimodal",
                name,
                f"{name}: the batches of {split} of {len(workers)} processes fall into two groups",
                "look at the samples: two speeds have no one median",
            )
        )
    return found


def _between(name: str, workers: list[Worker]) -> list[Disturbance]:
    """Return what the processes' medians show: more spread than their batches explain, or a drift."""
    found: list[Disturbance] = []
    medians = [worker.median_s for worker in workers]
    if len(medians) < 3:
        return found
    between = statistics.stdev(math.log(median) for median in medians)
    within = statistics.median(
        # The standard error of a median, from the spread of the batches.
        stats.summarize(worker.calls_s).relative_iqr / 1.35 * 1.25 / math.sqrt(len(worker.calls_s))
        for worker in workers
    )
    if between > BETWEEN_OVER_WITHIN * within and between > 0.02:
        found.append(
            Disturbance(
                "between",
                name,
                f"{name}: processes differ by {between:.1%}, far more than inside each ({within:.1%})",
                "the interval holds; more --rounds narrow it",
            )
        )
    if len(medians) >= stats.MIN_ROUNDS and (drift := rank_drift(medians)) is not None:
        found.append(
            Disturbance(
                "drift",
                name,
                f"{name}: later rounds were {'slower' if drift > 0 else 'faster'} (rank correlation {drift:+.2f})",
                "the pairing cancels what is common to both; let the machine settle first",
            )
        )
    return found


def tukey_outliers(samples: list[float]) -> int:
    """Return how many samples lie more than three widths of the middle half outside it."""
    summary = stats.summarize(samples)
    reach = TUKEY_FACTOR * (summary.p75_s - summary.p25_s)
    return sum(not summary.p25_s - reach <= sample <= summary.p75_s + reach for sample in samples)


def mad_outliers(samples: list[float]) -> int:
    """Return how many samples are more than five (scaled) median absolute deviations off the median."""
    middle = statistics.median(samples)
    deviation = 1.4826 * statistics.median(abs(sample - middle) for sample in samples)
    return sum(abs(sample - middle) > MAD_FACTOR * deviation for sample in samples) if deviation else 0


def bimodal(samples: list[float]) -> bool:
    """Return whether the sorted samples have one wide gap with at least a fifth of them on either side.

    >>> bimodal([1.0, 1.01, 1.02, 1.03, 1.04, 2.0, 2.01, 2.02, 2.03, 2.04])
    True
    >>> bimodal([1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 3.0])
    False
    """
    ordered = np.sort(np.asarray(samples, float))
    edge = max(2, math.ceil(GAP_SHARE * len(ordered)))
    if len(ordered) < 2 * edge:
        return False
    gaps = np.diff(ordered)[edge - 1 : len(ordered) - edge]
    widest = int(np.argmax(gaps)) + edge
    lower, upper = ordered[:widest], ordered[widest:]
    spread = max(float(np.std(lower)), float(np.std(upper)), 1e-12)
    return float(gaps.max()) > 3 * spread and float(gaps.max()) > WIDE_IQR * float(np.median(ordered))


def rank_drift(medians: list[float]) -> float | None:
    """Return the rank correlation of the medians with their round, or None where chance explains it."""
    n = len(medians)
    if min(medians) == max(medians):
        return None
    ranks = np.argsort(np.argsort(medians))
    correlation = float(np.corrcoef(np.arange(n), ranks)[0, 1])
    if abs(correlation) >= 1:
        return correlation
    t = correlation * math.sqrt((n - 2) / (1 - correlation**2))
    p = 2 * float(special.stdtr(n - 2, -abs(t)))
    return correlation if p < DRIFT_P else None
