"""What bench adds to a call: its loop around a program that does nothing, against the shortest loop there is.

    python benchmarks/overhead.py

The program is called as the adapters call theirs (a method that passes kept arguments on), so that what is measured is
all that stands between the clock and the framework. Under 1 µs a call is what bench promises.
"""

from __future__ import annotations

import time

from xlacompare.worker.tasks.timing import batch_timer

CALLS = 20_000
REPEATS = 25
LIMIT_S = 1e-6


def nothing(*arguments: object) -> None:
    """Stand in for a framework's compiled function."""


class Nothing:
    """A program whose execution takes no time; its methods are shaped as the adapters' are."""

    def __init__(self) -> None:
        self._arguments = (1, 2, 3)
        self._executable = nothing

    def call(self) -> None:
        return self._executable(*self._arguments)

    def wait(self, outputs: object) -> None:
        pass


def bare_s() -> float:
    """Return the seconds a call of the same function in a bare loop."""
    started = time.perf_counter_ns()
    for _ in range(CALLS):
        nothing(1, 2, 3)
    return (time.perf_counter_ns() - started) / CALLS / 1e9


def main() -> int:
    failed = False
    for mode in ("latency", "throughput"):
        batch = batch_timer(Nothing(), mode)
        pairs = [(batch(CALLS) / CALLS, bare_s()) for _ in range(REPEATS)]
        # The best of each: what other processes add to a loop is not bench's doing.
        added = min(timed for timed, _ in pairs) - min(bare for _, bare in pairs)
        failed |= added > LIMIT_S
        print(f"{mode}: bench adds {added * 1e9:.0f} ns a call (limit {LIMIT_S * 1e9:.0f} ns)")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
