"""How one program is timed inside a child: warm-up, calibration, batches. Seconds everywhere.

A *call* is one execution, a *batch* is `number` calls between two readings of the clock.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from typing import Any, Callable, Dict, List, Tuple

WARM_UP_WINDOW = 10
SLOW_WARM_UP_WINDOW = 3
SLOW_CALL_S = 0.25
STEADY_WITHIN = 0.05
CLOCK_READINGS = 1000

Batch = Callable[[int], float]


def batch_timer(program: Any, mode: str) -> Batch:
    """Return a function that times `number` calls of the program and returns the seconds they took together.

    Args:
        program: see `frameworks.program.Program`.
        mode: "latency" waits for the outputs of each call, "throughput" for those of all calls at the end.
    """
    call, wait, clock = program.call, program.wait, time.perf_counter_ns

    def latency(number: int) -> float:
        started = clock()
        for _ in range(number):
            wait(call())
        return (clock() - started) / 1e9

    def throughput(number: int) -> float:
        started = clock()
        # Programs may overtake one another, so the last one's outputs being there does not mean that all are.
        wait([call() for _ in range(number)])
        return (clock() - started) / 1e9

    return {"latency": latency, "throughput": throughput}[mode]


def warm_up(batch: Batch, min_s: float, max_s: float) -> "Dict[str, Any]":
    """Call until two successive windows of calls look alike, and return how it went.

    At least one window and `min_s` seconds; then until median and quartiles of two successive windows agree within
    5 %; at most `max_s` seconds.

    Returns:
        "calls", "seconds", "steady" (False: the limit came first) and "call_s", the last window's median.
    """
    started = time.perf_counter()
    samples: "List[float]" = [batch(1)]
    size = WARM_UP_WINDOW if samples[0] < SLOW_CALL_S else SLOW_WARM_UP_WINDOW
    steady = False
    while not steady:
        elapsed = time.perf_counter() - started
        if elapsed >= max_s:
            break
        samples.append(batch(1))
        if len(samples) >= 2 * size and len(samples) % size == 0 and elapsed >= min_s:
            steady = _alike(samples[-2 * size : -size], samples[-size:])
    return {
        "calls": len(samples),
        "seconds": time.perf_counter() - started,
        "steady": steady,
        "call_s": statistics.median(samples[-size:]),
    }


def _alike(earlier: "List[float]", later: "List[float]") -> bool:
    return all(
        abs(before - after) <= STEADY_WITHIN * before
        for before, after in zip(statistics.quantiles(earlier), statistics.quantiles(later))
    )


def clock_overhead_s() -> float:
    """Return what one reading of the clock takes."""
    clock = time.perf_counter_ns
    started = clock()
    for _ in range(CLOCK_READINGS):
        clock()
    return (clock() - started) / CLOCK_READINGS / 1e9


def calibrate(call_s: float, min_batch_s: float) -> int:
    """Return how many calls make a batch of at least `min_batch_s` and of a thousand readings of the clock."""
    return max(1, math.ceil(max(min_batch_s, 1000 * clock_overhead_s()) / call_s))


def time_batches(batch: Batch, number: int, count: int, min_count: int, max_s: float) -> "List[float]":
    """Return the seconds of `count` batches; fewer, and at least `min_count`, where they take more than `max_s`.

    The garbage collector is off meanwhile: when it runs depends on how many objects a framework makes a call.
    """
    started = time.perf_counter()
    samples: "List[float]" = []
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        while len(samples) < count:
            samples.append(batch(number))
            if len(samples) >= min_count and time.perf_counter() - started > max_s:
                break
    finally:
        if enabled:
            gc.enable()
    return samples


def measure_floor(program: Any, mode: str, seconds: float = 0.1) -> "Tuple[float, float, float]":
    """Return the 5 %, 50 % and 95 % points of the seconds that a program with next to nothing to compute takes."""
    batch = batch_timer(program, mode)
    state = warm_up(batch, seconds / 2, seconds)
    number = max(1, math.ceil(seconds / 50 / state["call_s"]))
    samples = time_batches(batch, number, 50, 10, seconds)
    points = statistics.quantiles([sample / number for sample in samples], n=20, method="inclusive")
    return points[0], points[9], points[18]
