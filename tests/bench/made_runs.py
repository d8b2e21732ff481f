"""Runs whose numbers are made up, for tests of what is made of them."""

from __future__ import annotations

from typing import Any

from xlacompare.bench.analysis import PHASES, fairness
from xlacompare.bench.request import bench_plan
from xlacompare.bench.run import Run, Worker


def make_run(
    jax_s: list[float], tensorflow_s: list[float], *, floors_s: tuple[float, float] = (6e-6, 142e-6), **choices: Any
) -> Run:
    """Return a run of `linear` made up from one median a round and side; batches spread by half a per cent."""
    environment = choices.pop("environment", {"cpus": 2, "cpu": "Some CPU", "python": "3.11.7", "load_average": 0.1})
    plan = bench_plan("linear", **{"rounds": len(jax_s), **choices})
    names = [column.name for column in plan.columns]
    workers = []
    for number, sides in enumerate(zip(jax_s, tensorflow_s, strict=True)):
        for position, (name, median_s, floor_s) in enumerate(zip(names, sides, floors_s, strict=True)):
            batches = [10 * median_s * factor for factor in (0.995, 1.0, 1.005)]
            phases = dict.fromkeys(PHASES, 0.05)
            details = {"derived": ["compile"]} if name == "tensorflow" else {}
            details |= {"cpu_s": 0.2, "wall_s": 0.1, "arguments": {"x": "float32[5]"}, "versions": {name: "1.2.3"}}
            details["device"] = {"platform": "cpu", "kind": "cpu", "count": 1}
            framework = plan.columns[position].framework
            workers.append(Worker(name, framework, number, position, phases, batches, 10, floor_s, 250 << 20, details))
    parity = {names[1]: {"ok": True, "max_abs": 1e-7, "max_rel": 3e-7, "tolerance": "", "worst": "grad/W"}}
    return Run(
        plan,
        "2026-03-01T12:00:00Z",
        environment=environment,
        fairness=fairness(plan, workers[:2]),
        parity=parity,
        workers=tuple(workers),
        complete=True,
    )
