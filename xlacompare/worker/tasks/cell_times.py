"""Time the programs of every frontend under this framework's XLA, in turns, in one process that dumps nothing.

All programs of one compiler are called the same way, so that what the call itself costs is the same for each.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List

from xlacompare.frameworks.recompile import RouteError
from xlacompare.worker.tasks.cells import recompile_module
from xlacompare.worker.tasks.exchange import wait_for_bundle
from xlacompare.worker.tasks.program import build

ROUNDS = 15
BATCH_S = 0.02
WARM_UP = 3


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return for each frontend of "timed" the median seconds of one run, None where its program does not compile here.

    Each of "timed" has the frontend's key and its "bundles", to be tried in order; without bundles it is this child's
    own program.
    """
    _, program = build(request, reporter)
    reporter.stage("compile")
    runners: "Dict[str, Callable[[int], float]]" = {}
    for each in request["timed"]:
        try:
            runners[each["frontend"]] = runner(request["framework"], program, each)
        except RouteError:
            # Why it does not compile is said by the cell of the table.
            continue
    reporter.stage("time")
    return {"seconds": in_turns(runners)}


def runner(framework: str, program: Any, timed: "Dict[str, Any]") -> "Callable[[int], float]":
    """Return a function that runs a program so many times and returns the seconds that all of them took."""
    if not timed["bundles"]:
        program.trace()
        program.lower()
        program.compile()
        return measured(program.call, program.wait)
    recompile = recompile_module(framework)
    refusals = []
    for path in timed["bundles"]:
        try:
            bundle = wait_for_bundle(Path(path), 0)
            inputs = recompile.on_device(bundle.inputs)
            results = list(bundle.outputs.values())
            name = f"timed_{timed['frontend']}".replace("-", "_")
            executable = recompile.compile_program(bundle.program, name, inputs, results)
            return measured(partial(executable.call, inputs), executable.wait)
        except RouteError as error:
            refusals.append(str(error))
    raise RouteError("; ".join(refusals))


def measured(call: "Callable[[], Any]", wait: "Callable[[Any], None]") -> "Callable[[int], float]":
    def run_times(number: int) -> float:
        started = time.perf_counter()
        for _ in range(number):
            outputs = call()
        wait(outputs)
        return time.perf_counter() - started

    return run_times


def in_turns(runners: "Dict[str, Callable[[int], float]]") -> "Dict[str, float]":
    """Return each program's median seconds a run over rounds in which every program has its turn."""
    numbers = {}
    for name, run_times in runners.items():
        run_times(WARM_UP)
        numbers[name] = max(1, int(BATCH_S / max(run_times(WARM_UP) / WARM_UP, 1e-9)))
    samples: "Dict[str, List[float]]" = {name: [] for name in runners}
    for _ in range(ROUNDS):
        for name, run_times in runners.items():
            samples[name].append(run_times(numbers[name]) / numbers[name])
    return {name: statistics.median(values) for name, values in samples.items()}
