"""TensorFlow: run a program under its profiler. Tried with tensorflow 2.21."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import tensorflow as tf

from xlacompare.frameworks.trace_events import KEPT_STATS, STEP, TraceEvent, is_kept, trace_files


def profiled(program: Any, steps: int, folder: Path) -> "Tuple[List[TraceEvent], List[float]]":
    """Run the program `steps` times, waiting for each; return the trace's events and each step's seconds by a clock."""
    clocked = []
    # Tracing every Python call would slow down what is measured.
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    tf.profiler.experimental.start(str(folder), options)
    for number in range(steps):
        with tf.profiler.experimental.Trace(STEP, number=number):
            start = time.perf_counter()
            program.wait(program.call())
            clocked.append(time.perf_counter() - start)
    tf.profiler.experimental.stop()
    return [event for path in trace_files(folder) for event in read_trace(path)], clocked


def read_trace(path: Path) -> "List[TraceEvent]":
    """Return the kept events of a trace, read with the protobuf that TensorFlow ships: jaxlib is not needed."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace()
    space.ParseFromString(path.read_bytes())
    found = []
    line_number = 0
    for plane in space.planes:
        event_names = {key: value.name for key, value in plane.event_metadata.items()}
        stat_names = {key: value.name for key, value in plane.stat_metadata.items()}
        for line in plane.lines:
            line_number += 1
            for event in line.events:
                name, stats = event_names[event.metadata_id], _stats(event, stat_names)
                if is_kept(name, stats):
                    start = line.timestamp_ns + event.offset_ps / 1e3
                    found.append(TraceEvent(line_number, name, start, start + event.duration_ps / 1e3, stats))
    return found


def _stats(event: Any, names: "Dict[int, str]") -> "Dict[str, Any]":
    stats = {}
    for stat in event.stats:
        name = names[stat.metadata_id]
        if name in KEPT_STATS:
            kind = stat.WhichOneof("value")
            value = getattr(stat, kind)
            # A text may be kept once, as the name of a statistic that is never used as one.
            stats[name] = names[value] if kind == "ref_value" else value
    return stats
