"""JAX: run a program under its profiler. Tried with jax 0.10.2."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, List, Tuple

import jax
from jax.profiler import ProfileData

from xlacompare.frameworks.trace_events import KEPT_STATS, STEP, TraceEvent, is_kept, trace_files


def profiled(program: Any, steps: int, folder: Path) -> "Tuple[List[TraceEvent], List[float]]":
    """Run the program `steps` times, waiting for each; return the trace's events and each step's seconds by a clock."""
    clocked = []
    options = jax.profiler.ProfileOptions()
    # Tracing every Python call would slow down what is measured.
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    with jax.profiler.trace(str(folder), profiler_options=options):
        for number in range(steps):
            with jax.profiler.TraceAnnotation(STEP, number=number):
                start = time.perf_counter()
                program.wait(program.call())
                clocked.append(time.perf_counter() - start)
    return [event for path in trace_files(folder) for event in read_trace(path)], clocked


def read_trace(path: Path) -> "List[TraceEvent]":
    """Return the kept events of a trace, read with jaxlib's reader; TensorFlow's traces have the same form."""
    found = []
    line_number = 0
    for plane in ProfileData.from_file(str(path)).planes:
        for line in plane.lines:
            line_number += 1
            for event in line.events:
                stats = {key: value for key, value in event.stats if key in KEPT_STATS}
                if is_kept(event.name, stats):
                    end = event.start_ns + event.duration_ns
                    found.append(TraceEvent(line_number, event.name, event.start_ns, end, stats))
    return found
