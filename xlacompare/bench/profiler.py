"""Carry out a profile: dump both sides for their modules, then run each under its framework's profiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from xlacompare.bench.kernels import dump_request_of
from xlacompare.bench.launches import column_launch
from xlacompare.bench.machine import check_cpus, describe_machine
from xlacompare.bench.peaks import Peaks
from xlacompare.bench.plan import Column, Plan
from xlacompare.bench.profile import Profile, pair_times, side_of
from xlacompare.bench.run import now_utc
from xlacompare.compare import diff_dumps
from xlacompare.dump import FrameworkDump, make_dumps
from xlacompare.errors import UsageError, WorkerFailed
from xlacompare.hlo import Module, read_file
from xlacompare.kernels import steps
from xlacompare.worker.launch import DISPLAY_NAMES, run_one

DEFAULT_ROUNDS, QUICK_ROUNDS = 3, 1
DEFAULT_STEPS = 50
MAX_STEPS_S = 5.0


def profile(
    plan: Plan,
    *,
    steps_wanted: int = DEFAULT_STEPS,
    peaks: Peaks | None = None,
    on_stage: Callable[[str, str], None] | None = None,
) -> Profile:
    """Return the measured time per kernel of each of the plan's columns.

    Args:
        plan: its columns are "jax", "tensorflow" or both; each round runs a fresh process of each.
        steps_wanted: executions a process.
        peaks: the machine's, to set the kernels' rates against.
        on_stage: told of (framework, stage).

    Raises:
        UsageError: a column is not one XLA module.
        FrameworkMissing, ModelError, WorkerFailed, ParityError, DumpError: as `xlacompare.dump.make_dumps`.
    """
    _check(plan)
    created, environment = now_utc(), describe_machine(plan.device)
    with tempfile.TemporaryDirectory(prefix="xlacompare-profile-") as folder:
        dumps = make_dumps(dump_request_of(plan), Path(folder), on_stage=on_stage)
        modules = {dump.framework: _module(dump) for dump in dumps.dumps}
        groups = diff_dumps(dumps).to_json_dict()["kernels"] if len(dumps.dumps) == 2 else []
    answers: dict[str, list[Mapping[str, Any]]] = {framework: [] for framework in modules}
    for number in range(plan.rounds):
        for column in plan.round_order(number):
            answers[column.framework].append(_answer(plan, column, modules[column.framework], steps_wanted, on_stage))
    sides = tuple(
        side_of(column.framework, modules[column.framework], answers[column.framework], peaks)
        for column in plan.columns
    )
    return Profile(
        model=plan.model,
        variant=plan.variant,
        size_name=plan.size_name,
        size=plan.program["size"],
        device=plan.device,
        created=created,
        sides=sides,
        pairs=pair_times(groups, *sides) if len(sides) == 2 else (),
        peaks=peaks,
        environment=environment,
        command=plan.command,
    )


def _check(plan: Plan) -> None:
    for column in plan.columns:
        if not (column.jit and column.xla):
            raise UsageError(
                f"{column.name} is not one XLA module with kernels to list; profile jax, tensorflow or both."
            )
    if plan.rounds < 1:
        raise UsageError(f"--rounds {plan.rounds}: a profile needs one process a side at least.")
    if plan.cpus and (reason := check_cpus(plan.cpus)):
        raise UsageError(f"--cpus {','.join(map(str, plan.cpus))}: {reason}.")


def _module(dump: FrameworkDump) -> Module:
    return read_file(dump.after)[0]


def _answer(
    plan: Plan, column: Column, module: Module, steps_wanted: int, on_stage: Callable[[str, str], None] | None
) -> Mapping[str, Any]:
    """Return what one process measured."""
    containers = [step.name for step in steps(module, "reachable") if step.kernel_class == "container"]
    launch = column_launch(plan, column, "profile", steps=steps_wanted, max_s=MAX_STEPS_S, containers=containers)
    answer = run_one(launch, on_stage)
    found = answer.result
    if not any(step[3] for step in found["steps"]):
        raise WorkerFailed(
            f"{DISPLAY_NAMES[column.framework]}'s profiler wrote a trace without any kernel of the program. The device "
            f"may not be traced ({plan.device}), or this version ({found['versions']}) names kernels in another way.",
            framework=column.framework,
            stage="profile",
            log_tail=answer.log_tail,
        )
    return found
