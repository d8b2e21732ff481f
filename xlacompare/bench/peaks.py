"""What this machine's cores can do at best, measured once and kept: arithmetic on f32 and memory traffic."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xlacompare.bench.machine import cpu_model, load_average
from xlacompare.bench.run import write_text_whole

MATRIX_SIDE = 1024
# Larger than any cache, so that memory is what is measured.
STREAM_ELEMENTS = 1 << 24
REPEATS = 7
QUIET_LOAD = 0.5


@dataclass(frozen=True, slots=True)
class Peaks:
    """The best that was seen on this machine.

    Attributes:
        flops_per_s: f32 operations a second, of a product of two f32[1024,1024].
        bytes_per_s: bytes read and written a second, of a sum of two f32[16777216].
        measured: on what: the processor and how many of its cores.
    """

    flops_per_s: float
    bytes_per_s: float
    measured: str

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def machine_peaks(*, anew: bool = False) -> Peaks:
    """Return this machine's peaks; measured in about a second the first time, or if `anew`, and kept.

    What a busy machine shows is no peak: it is used, and measured again the next time.
    """
    path, key = peaks_path(), machine_key()
    kept = _read(path)
    if not anew and key in kept:
        return Peaks(measured=key, **kept[key])
    peaks = measure_peaks(key)
    if (load_average() or 0.0) > QUIET_LOAD * (os.cpu_count() or 1):
        return replace(peaks, measured=f"{key}, while it was busy")
    kept[key] = {"flops_per_s": peaks.flops_per_s, "bytes_per_s": peaks.bytes_per_s}
    write_text_whole(path, json.dumps(kept, indent=2) + "\n")
    return peaks


def measure_peaks(key: str = "") -> Peaks:
    """Measure the peaks now, with as many threads as this process may use cores."""
    left = np.random.default_rng(0).random((MATRIX_SIDE, MATRIX_SIDE), dtype=np.float32)
    product = np.empty_like(left)
    matmul_s = _best(lambda: np.matmul(left, left, out=product))
    one, other, total = (np.ones(STREAM_ELEMENTS, np.float32) for _ in range(3))
    chunks = np.array_split(np.arange(STREAM_ELEMENTS), _cores())
    bounds = [(int(chunk[0]), int(chunk[-1]) + 1) for chunk in chunks]
    with ThreadPoolExecutor(_cores()) as pool:

        def stream() -> None:
            list(pool.map(lambda b: np.add(one[b[0] : b[1]], other[b[0] : b[1]], out=total[b[0] : b[1]]), bounds))

        stream_s = _best(stream)
    return Peaks(2 * MATRIX_SIDE**3 / matmul_s, 3 * 4 * STREAM_ELEMENTS / stream_s, key)


def peaks_path() -> Path:
    """Return the file that keeps the peaks: in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xlacompare" / "peaks.json"


def machine_key() -> str:
    return f"{cpu_model()}, {_cores()} of {os.cpu_count()} cores"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _best(work: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def _read(path: Path) -> dict[str, Any]:
    # A cache that cannot be read is measured again.
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
