"""Time one program in a process of its own: every phase once, then many calls."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import Any, Dict

import numpy as np

from xlacompare.frameworks import timing_adapter
from xlacompare.worker.tasks.program import build, build_still
from xlacompare.worker.tasks.timing import batch_timer, calibrate, measure_floor, time_batches, warm_up


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return the samples and what they were taken under; the phases' seconds are the reporter's stages."""
    if request.get("cpus"):
        # Before the import: the frameworks count cores, and start their threads, when they are loaded.
        os.sched_setaffinity(0, request["cpus"])
    framework, program = build(request, reporter)
    rss = {"build": peak_rss_bytes()}
    timing = timing_adapter(request["framework"])
    compilations = timing.CompilationCounter()
    for stage in ("trace", "lower", "compile"):
        reporter.stage(stage)
        getattr(program, stage)()
    reporter.stage("first_run")
    outputs = program.call()
    program.wait(outputs)
    rss["first_run"] = peak_rss_bytes()
    first_outputs = program.to_numpy(outputs)
    del outputs
    samples = _samples(request, reporter, program, compilations)
    rss["end"] = peak_rss_bytes()
    reporter.stage("floor")
    floor = timing.floor_program(request["settings"])
    for stage in ("trace", "lower", "compile"):
        getattr(floor, stage)()
    low, middle, high = measure_floor(floor, request["mode"])
    reporter.stage("store outputs")
    compared_at: "Dict[str, Any]" = {}
    if request.get("outputs_file"):
        # Only now: a program that draws random numbers is compared without them, which compiles another one.
        still, compared_at = build_still(framework, request)
        np.savez(request["outputs_file"], **(still.run_undumped() if still else first_outputs))
    reporter.stage("describe")
    return {
        **samples,
        "floor_s": middle,
        "floor_p5_s": low,
        "floor_p95_s": high,
        "peak_rss_bytes": rss["end"],
        "rss_bytes": rss,
        "compile_includes_run": timing.COMPILE_INCLUDES_RUN and request["settings"].get("jit", True),
        "versions": framework.versions(),
        "device": framework.device(),
        "precision": framework.precision(),
        "threads": timing.threads(),
        "sync": timing.SYNC,
        "arguments": timing.argument_shapes(program),
        "compared_at": compared_at,
    }


def _samples(request: "Dict[str, Any]", reporter: Any, program: Any, compilations: Any) -> "Dict[str, Any]":
    batch = batch_timer(program, request["mode"])
    reporter.stage("warm_up")
    warm = warm_up(batch_timer(program, "latency"), request["warm_up_min_s"], request["warm_up_max_s"])
    reporter.stage("calibrate")
    number = request.get("number") or calibrate(warm["call_s"], request["min_batch_s"])
    # The first batch of many calls meets caches and allocators as the later ones do.
    batch(number)
    reporter.stage("timing")
    before, usage, wall = compilations.counts(), resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    batches = time_batches(batch, number, request["batches"], request["min_batches"], request["timing_max_s"])
    wall = time.perf_counter() - wall
    after, usage_after = compilations.counts(), resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage_after.ru_utime + usage_after.ru_stime - usage.ru_utime - usage.ru_stime
    return {
        "batches_s": batches,
        "number": number,
        "warm_up": warm,
        "counted_while_timing": {key: after[key] - before[key] for key in after},
        "cpu_s": cpu,
        "wall_s": wall,
        "involuntary_switches": usage_after.ru_nivcsw - usage.ru_nivcsw,
        "cpus": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
    }


def peak_rss_bytes() -> int:
    """Return the largest resident size of this process so far.

    Linux hands `ru_maxrss` down from the process that forked this one, so its own high-water mark is read there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    # macOS counts in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
