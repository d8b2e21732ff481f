"""Carry out a plan: rounds of fresh processes, one after the other, stored after each round."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xlacompare import documents
from xlacompare.bench import stats
from xlacompare.bench.analysis import comparisons, fairness, run_document
from xlacompare.bench.launches import column_launch
from xlacompare.bench.machine import check_cpus, describe_machine
from xlacompare.bench.plan import Column, Plan
from xlacompare.bench.request import bench_plan
from xlacompare.bench.run import Run, Worker, default_path, now_utc, write_text_whole
from xlacompare.errors import UsageError, WorkerFailed, XlaCompareError
from xlacompare.parity import compare_outputs
from xlacompare.registry import Model
from xlacompare.worker.launch import DISPLAY_NAMES, Answer, Launch, run_one

PHASES = ("import", "build", "trace", "lower", "compile", "first_run")
OnProgress = Callable[["Progress"], None]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is: round and column from 0, the child's stage, workers done and to do, seconds left (a guess)."""

    column: str
    round: int
    stage: str
    done: int
    total: int
    left_s: float | None


class RunFailed(XlaCompareError, RuntimeError):
    """A run stopped before its end; `path` is where the finished rounds are, None if there are none."""

    def __init__(self, message: str, path: Path | None) -> None:
        self.path = path
        super().__init__(message)


def bench(model: str | Model, *, out: Path | str = "dumps", path: Path | str | None = None, **choices: Any) -> Run:
    """Time a model's frameworks side by side and return the run, which is kept at `path` or in `out/MODEL/`.

    Args:
        model: a name, a folder's path, or a pair that was found before.
        out: the folder for runs without a `path`.
        path: the JSON file that holds the run.
        choices: as of `bench.request.bench_plan`: variant, size, names, rounds, quick, self_check, …

    >>> run = bench("linear", size="large", quick=True)  # doctest: +SKIP
    >>> run.to_pandas().groupby("column").call_s.median()  # doctest: +SKIP
    """
    run = new_run(bench_plan(model, **choices))
    return carry_out(run, Path(path) if path is not None else default_path(Path(out), run.plan.model, run.created))


def carry_out(
    run: Run,
    path: Path,
    *,
    on_progress: OnProgress | None = None,
    start: Callable[[Launch, Callable[[str, str], None]], Answer] | None = None,
) -> Run:
    """Run the rounds that `run` lacks, writing it to `path` after each, and return it whole.

    Args:
        run: a new run (`new_run`), or one that was stopped.
        path: the JSON file that holds the run from its first finished round on.
        on_progress: told of every stage of every child.
        start: starts a child and returns its answer; None starts a process.

    Raises:
        RunFailed: a child could not do its part; the finished rounds are kept at `path`.
        ParityError: the outputs of the first round disagree: nothing is kept.
    """
    plan = run.plan
    _check_plan(plan)
    if run.rounds:
        _check_machine(run)
    watch = _Watch(plan, run.rounds, on_progress)
    started = time.monotonic()
    while not run.complete:
        number = run.rounds
        try:
            workers, parity = _round(run, number, watch, start or run_one)
        except XlaCompareError as error:
            raise _stopped(error, run, path) from error
        run = replace(
            run,
            workers=(*run.workers, *workers),
            parity=parity or run.parity,
            fairness=run.fairness or fairness(plan, workers),
        )
        run = _decide(run, time.monotonic() - started)
        write_text_whole(path, documents.dumps(run_document(run)))
    return run


def new_run(plan: Plan, census: Mapping[str, Any] | None = None) -> Run:
    """Return a run of which nothing has been done yet; the machine's state is taken now."""
    return Run(plan, now_utc(), environment=describe_machine(plan.device), census=census or {})


def _check_plan(plan: Plan) -> None:
    if plan.rounds < 1:
        raise UsageError(
            f"--rounds {plan.rounds}: a run needs one round at least, and {stats.MIN_ROUNDS} for a verdict."
        )
    if plan.cpus and (reason := check_cpus(plan.cpus)):
        raise UsageError(f"--cpus {','.join(map(str, plan.cpus))}: {reason}.")


def _check_machine(run: Run) -> None:
    """Raise UsageError if a run is resumed on another machine than it was started on."""
    here = describe_machine()
    for key in ("cpu", "cpus", "machine"):
        if run.environment.get(key) not in (None, here[key]):
            raise UsageError(
                f"the run was started where {key} is {run.environment[key]}; here it is {here[key]}. Rounds of two "
                "machines are no pairs: start a new run here, and compare the two with `xlacompare compare`."
            )


def _decide(run: Run, elapsed_s: float) -> Run:
    """Return the run with `complete` set if no further round is to be run, and with the look it took."""
    plan, rounds = run.plan, run.rounds
    if plan.max_time_s is not None and elapsed_s * (1 + 1 / rounds) > plan.max_time_s and rounds < plan.most_rounds:
        return replace(run, complete=True)
    if not plan.until_resolved:
        return replace(run, complete=rounds >= plan.rounds)
    if rounds in stats.looks():
        run = replace(run, looks=(*run.looks, rounds))
        resolved = all(each.verdict != stats.INCONCLUSIVE for each in comparisons(run))
        return replace(run, complete=resolved or rounds >= plan.most_rounds)
    return run


def _round(
    run: Run, number: int, watch: _Watch, start: Callable[..., Answer]
) -> tuple[list[Worker], dict[str, Any] | None]:
    """Run every column once; the first round also compares what they computed."""
    plan = run.plan
    workers: list[Worker] = []
    with tempfile.TemporaryDirectory(prefix="xlacompare-bench-") as folder:
        outputs = {column.name: Path(folder) / f"{index}.npz" for index, column in enumerate(plan.columns)}
        for position, column in enumerate(plan.round_order(number)):
            frozen = next((worker.number for worker in run.of_column(column.name)), None)
            launch = _launch(plan, column, frozen, outputs[column.name] if number == 0 else None)
            watch.begin(column, number)
            answer = start(launch, watch.stage)
            worker = _worker(plan, column, number, position, answer)
            _check_same(run, worker)
            workers.append(worker)
        parity = _parity(plan, outputs) if number == 0 and len(plan.columns) > 1 else None
    return workers, parity


def _launch(plan: Plan, column: Column, number: int | None, outputs_file: Path | None) -> Launch:
    limits = plan.limits
    return column_launch(
        plan,
        column,
        "bench",
        mode=plan.mode,
        number=number,
        outputs_file=None if outputs_file is None else str(outputs_file),
        min_batch_s=limits.min_batch_s,
        batches=limits.batches,
        min_batches=limits.min_batches,
        timing_max_s=limits.timing_max_s,
    )


def _worker(plan: Plan, column: Column, number: int, position: int, answer: Answer) -> Worker:
    """Return the record of a child's answer, after checking that it measured what it was asked to."""
    result = dict(answer.result)
    try:
        phases = {name: answer.stages_s[name] for name in PHASES}
        worker = Worker(
            column.name,
            column.framework,
            number,
            position,
            phases,
            result.pop("batches_s"),
            result.pop("number"),
            result.pop("floor_s"),
            result.pop("peak_rss_bytes"),
            {**result, "stages_s": answer.stages_s, "process_s": answer.wall_s},
        )
        _check_worker(plan, worker)
    except (KeyError, TypeError, AttributeError) as error:
        raise WorkerFailed(
            f"{DISPLAY_NAMES[column.framework]} answered something else than timings "
            f"({type(error).__name__}: {error}).",
            framework=column.framework,
            stage="timing",
            log_tail=answer.log_tail,
        ) from None
    return _derive_compile(worker) if result.get("compile_includes_run") else worker


def _derive_compile(worker: Worker) -> Worker:
    """Return the worker with the run taken out of `compile`, where compiling is a part of the first call."""
    compile_s = max(worker.phases_s["compile"] - worker.median_s, 0.0)
    return replace(
        worker, phases_s={**worker.phases_s, "compile": compile_s}, details={**worker.details, "derived": ["compile"]}
    )


def _check_worker(plan: Plan, worker: Worker) -> None:
    """Raise WorkerFailed if what was timed is not what is meant."""
    name, details = DISPLAY_NAMES[worker.framework], worker.details
    counted = details["counted_while_timing"]
    jit = next(column.jit for column in plan.columns if column.name == worker.column)
    # Eager programs may trace small graphs of their own at each call; that is their way of running, and is told.
    compiled = counted["compilations"] + (counted["traces"] if jit else 0)
    if compiled:
        raise WorkerFailed(
            f"{name} ({worker.column}) compiled while it was timed: {counted['compilations']} compilations and "
            f"{counted['traces']} traces during {len(worker.batches_s) * worker.number} calls. Such a time is that of "
            "the compiler. A function made anew at each call, or an argument that changes its type, does this.",
            framework=worker.framework,
            stage="timing",
        )
    if details["device"]["platform"] not in _platforms(plan.device):
        raise WorkerFailed(
            f"{name} ran on {details['device']['platform']} ({details['device']['kind']}), and {plan.device} was asked "
            "for; a time of another device is not kept.",
            framework=worker.framework,
            stage="describe",
        )
    if not worker.batches_s or min(worker.batches_s) <= 0 or worker.number < 1:
        raise WorkerFailed(
            f"{name} measured no time: {len(worker.batches_s)} batches.", framework=worker.framework, stage="timing"
        )


def _check_same(run: Run, worker: Worker) -> None:
    """Raise WorkerFailed if a resumed run's later rounds are of other versions than its first."""
    earlier = next((each.details.get("versions") for each in run.of_column(worker.column)), None)
    versions = worker.details.get("versions")
    if earlier is not None and earlier != versions:
        raise WorkerFailed(
            f"{DISPLAY_NAMES[worker.framework]} has changed since the run's first rounds: {earlier} then, {versions} "
            "now. Start a new run, and compare the two with `xlacompare compare`.",
            framework=worker.framework,
            stage="describe",
        )


def _platforms(device: str) -> tuple[str, ...]:
    return ("gpu", "cuda", "rocm") if device == "gpu" else (device,)


def _parity(plan: Plan, outputs: Mapping[str, Path]) -> dict[str, Any]:
    """Return how far each column's outputs are from the first one's; raise ParityError if too far."""
    loaded = {}
    for name, path in outputs.items():
        with np.load(path) as archive:
            loaded[name] = {key: archive[key] for key in archive.files}
    first, *others = (column.name for column in plan.columns)
    return {
        other: compare_outputs(
            loaded[first], loaded[other], rtol=plan.rtol, atol=plan.atol, names=(first, other)
        ).to_json_dict()
        for other in others
    }


def _stopped(error: XlaCompareError, run: Run, path: Path) -> XlaCompareError:
    """Return the error that says what is kept and how to go on; the error itself where nothing has been kept."""
    if not run.rounds:
        return error
    return RunFailed(
        f"round {run.rounds + 1} of {run.plan.most_rounds}: {error}\n{run.rounds} finished "
        f"round{'s are' if run.rounds > 1 else ' is'} kept in {path}; go on with: "
        f"xlacompare bench --resume {path}",
        path,
    )


class _Watch:
    """Turns the children's stages into progress, with the time left guessed from the workers that are done."""

    def __init__(self, plan: Plan, rounds_done: int, on_progress: OnProgress | None) -> None:
        self._columns = len(plan.columns)
        self._total = plan.most_rounds * self._columns
        self._done = rounds_done * self._columns - 1
        self._seconds: list[float] = []
        self._on_progress = on_progress
        self._started: float | None = None
        self._column = ""
        self._round = 0

    def begin(self, column: Column, number: int) -> None:
        now = time.monotonic()
        if self._started is not None:
            self._seconds.append(now - self._started)
        self._started = now
        self._done += 1
        self._column, self._round = column.name, number

    def stage(self, framework: str, stage: str) -> None:
        if self._on_progress is None:
            return
        left = None
        # A column's processes take alike; a whole round of them is the first fair guess.
        if len(self._seconds) >= self._columns:
            left = statistics.fmean(self._seconds) * (self._total - self._done)
        self._on_progress(Progress(self._column, self._round, stage, self._done, self._total, left))
