"""Run one program under its framework's profiler, and say how long each kernel took in each step."""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any, Dict

from xlacompare.frameworks import profile_adapter
from xlacompare.frameworks.trace_events import STEP
from xlacompare.worker.tasks.kernel_times import main_module, step_times
from xlacompare.worker.tasks.program import build
from xlacompare.worker.tasks.timing import batch_timer, warm_up

# The profiler's own start disturbs the first steps.
DISCARDED_STEPS = 3
LEAST_STEPS = 5
UNTRACED_STEPS = 20


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return each step's kernels, the step's time without the profiler, and what it ran on.

    A step is [step_s, busy_s, handoff_s, {kernel: [time_s, span_s, count]}, clock_s]: all but the last by the trace.
    """
    if request.get("cpus"):
        os.sched_setaffinity(0, request["cpus"])
    framework, program = build(request, reporter)
    for stage in ("trace", "lower", "compile"):
        reporter.stage(stage)
        getattr(program, stage)()
    reporter.stage("warm_up")
    batch = batch_timer(program, "latency")
    warm = warm_up(batch, request["warm_up_min_s"], request["warm_up_max_s"])
    number = min(UNTRACED_STEPS, max(3, int(request["max_s"] / warm["call_s"])))
    untraced = [batch(1) for _ in range(number)]
    steps = min(request["steps"], max(LEAST_STEPS, int(request["max_s"] / warm["call_s"])))
    reporter.stage("profile")
    with tempfile.TemporaryDirectory(prefix="xlacompare-trace-") as folder:
        adapter = profile_adapter(request["framework"])
        events, clocked = adapter.profiled(program, steps + DISCARDED_STEPS, Path(folder))
    reporter.stage("read the trace")
    module = main_module(events, program.name)
    times = [] if module is None else step_times(events, STEP, module, request.get("containers", ()))
    return {
        "module": module,
        "steps": [[*step, clock_s] for step, clock_s in zip(times, clocked)][DISCARDED_STEPS:],
        "untraced_step_s": statistics.median(untraced),
        "warm_up": warm,
        "versions": framework.versions(),
        "device": framework.device(),
        "cpus": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
    }
