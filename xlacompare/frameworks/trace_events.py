"""A profiler's event, as both frameworks' traces (xplane) hold it, cut down to what kernel times need."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, NamedTuple

STEP = "xlacompare_step"
# Which other events a stretch of work came from (XLA's names of these statistics).
KEPT_STATS = ("hlo_op", "hlo_module", "_pt", "_p", "_ct", "_c")
KEPT_NAMES = ("ThreadpoolListener::", "end: ", STEP)


class TraceEvent(NamedTuple):
    """One event of a trace.

    Attributes:
        line: which thread or stream it is on.
        name: as the profiler shows it.
        start_ns, end_ns: on the trace's own clock.
        stats: those of `KEPT_STATS` that it has.
    """

    line: int
    name: str
    start_ns: float
    end_ns: float
    stats: "Dict[str, Any]"


def is_kept(name: str, stats: "Dict[str, Any]") -> bool:
    """Return whether an event bears on kernel times."""
    return "hlo_op" in stats or name.startswith(KEPT_NAMES)


def trace_files(folder: Path) -> "List[Path]":
    """Return the traces that a profiler left in its folder, a host each."""
    return sorted(folder.glob("plugins/profile/*/*.xplane.pb"))
