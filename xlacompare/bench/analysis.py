"""What a run says: a line for each column, a comparison for each pair, and under what it was measured."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlacompare import documents
from xlacompare.bench import stats
from xlacompare.bench.noise import Disturbance, noise
from xlacompare.bench.plan import Plan
from xlacompare.bench.run import Run, Worker

# Below this many floors, what is timed is mostly the way into the framework and back.
DISPATCH_BOUND_FLOORS = 5.0
PHASES = ("import", "build", "trace", "lower", "compile", "first_run")


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column over all rounds; seconds a call.

    Attributes:
        name: of the column.
        framework: "jax" or "tensorflow".
        median_s: the median of the processes' medians.
        p25_s, p75_s: the medians of the processes' quartiles.
        low_s, high_s: the smallest and largest median of a process.
        floor_s: the median of the processes' dispatch floors.
        dispatch_bound: the median is less than five floors.
        phases_s: the median of each phase.
        derived: the phases that were not timed but worked out.
        number: calls a batch.
        peak_rss_bytes: the median of the processes' peaks.
        cores_used: CPU seconds a second of the timed part.
    """

    name: str
    framework: str
    median_s: float
    p25_s: float
    p75_s: float
    low_s: float
    high_s: float
    floor_s: float
    dispatch_bound: bool
    phases_s: Mapping[str, float]
    derived: tuple[str, ...]
    number: int
    peak_rss_bytes: int
    cores_used: float | None

    def to_json_dict(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__slots__}, "derived": list(self.derived)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left` against `right`: the ratio is right's time over left's, the verdict is about left."""

    left: str
    right: str
    ratio: stats.Ratio
    verdict: str
    rounds_needed: int | None
    dispatch_bound: bool

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "right": self.right,
            "ratio": ratio_json(self.ratio),
            "verdict": self.verdict,
            "rounds_needed": self.rounds_needed,
            "dispatch_bound": self.dispatch_bound,
        }


def summarize_column(run: Run, name: str) -> ColumnSummary:
    """Return one column's summary; the run has at least one round."""
    workers = run.of_column(name)
    medians = [worker.median_s for worker in workers]
    quartiles = [stats.summarize(worker.calls_s) for worker in workers]
    median, floor = statistics.median(medians), statistics.median(worker.floor_s for worker in workers)
    cpu = [worker.details["cpu_s"] / worker.details["wall_s"] for worker in workers if worker.details.get("wall_s")]
    return ColumnSummary(
        name=name,
        framework=workers[0].framework,
        median_s=median,
        p25_s=statistics.median(each.p25_s for each in quartiles),
        p75_s=statistics.median(each.p75_s for each in quartiles),
        low_s=min(medians),
        high_s=max(medians),
        floor_s=floor,
        dispatch_bound=median < DISPATCH_BOUND_FLOORS * floor,
        phases_s={phase: statistics.median(worker.phases_s[phase] for worker in workers) for phase in PHASES},
        derived=tuple(workers[0].details.get("derived", ())),
        number=workers[0].number,
        peak_rss_bytes=int(statistics.median(worker.peak_rss_bytes for worker in workers)),
        cores_used=statistics.median(cpu) if cpu else None,
    )


def summarize_columns(run: Run) -> list[ColumnSummary]:
    """Return the summaries in the plan's order."""
    return [summarize_column(run, column.name) for column in run.plan.columns]


def comparisons(run: Run) -> list[Comparison]:
    """Return the first column against each of the others."""
    first, *others = (column.name for column in run.plan.columns)
    bound = {summary.name: summary.dispatch_bound for summary in summarize_columns(run)}
    found = []
    for other in others:
        ratio = stats.paired(run.medians_s(first), run.medians_s(other), run.plan.confidence)
        found.append(
            Comparison(
                first,
                other,
                ratio,
                stats.verdict(ratio, run.plan.min_effect),
                stats.rounds_needed(ratio, run.plan.min_effect),
                bound[first] or bound[other],
            )
        )
    return found


def fairness(plan: Plan, workers: Sequence[Worker]) -> dict[str, Any]:
    """Return under what each column ran, from one round's workers, and a sentence for what is not the same."""
    by_column = {worker.column: worker for worker in workers}
    columns = {}
    for column in plan.columns:
        details = by_column[column.name].details
        columns[column.name] = {
            "jit": column.jit,
            "xla": column.xla and column.jit if column.framework == "tensorflow" else True,
            "device": details.get("device"),
            "precision": details.get("precision"),
            "threads": details.get("threads"),
            "cpus": details.get("cpus"),
            "sync": details.get("sync"),
            "versions": details.get("versions"),
            "xla_flags": plan.xla_flags.get(column.framework, ""),
        }
    arguments: Mapping[str, str] = workers[0].details.get("arguments", {})
    return {
        "mode": plan.mode,
        "arguments": arguments,
        # A random key has a type of its own in each framework, and computes nothing.
        "dtypes": sorted({text.partition("[")[0] for name, text in arguments.items() if name != "key"}),
        "inputs": "on the device before the clock starts",
        "donated_arguments": False,
        "pinned_cpus": list(plan.cpus) or None,
        "columns": columns,
        "differences": _differences(plan, columns),
    }


def _differences(plan: Plan, columns: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    for key, what in (("precision", "numerical precision"), ("cpus", "cores"), ("xla_flags", "XLA flags")):
        values = {name: _comparable(key, column[key], plan) for name, column in columns.items()}
        if len({str(value) for value in values.values()}) > 1:
            found.append(f"{what} differ: " + ", ".join(f"{name} {value}" for name, value in values.items()))
    return found


def _comparable(key: str, value: Any, plan: Plan) -> Any:
    # TF32 is a mode of GPUs; on a CPU the setting means nothing.
    if key == "precision" and isinstance(value, Mapping) and plan.device == "cpu":
        return {"x64": value.get("x64")}
    return value


def ratio_json(ratio: stats.Ratio) -> dict[str, Any]:
    """Return a ratio as JSON has words for it: an interval without an end has none there."""
    body = ratio.to_json_dict()
    return {key: None if value != value or value in (float("inf"),) else value for key, value in body.items()}


def run_document(run: Run) -> dict[str, Any]:
    """Return the `xlacompare.bench` document of a run with at least one round."""
    pairs = [each.to_json_dict() for each in comparisons(run)]
    warnings: list[Disturbance] = noise(run)
    body = {
        "model": run.plan.model,
        "variant": run.plan.variant,
        "size": dict(run.plan.program.get("size", {})),
        "created": run.created,
        "complete": run.complete,
        "rounds": run.rounds,
        "mode": run.plan.mode,
        "ratio": pairs[0]["ratio"] if pairs else None,
        "verdict": pairs[0]["verdict"] if pairs else None,
        "indicative": run.rounds < stats.MIN_ROUNDS,
        "comparisons": pairs,
        "columns": [summary.to_json_dict() for summary in summarize_columns(run)],
        "parity": dict(run.parity),
        "noise": [warning.to_json_dict() for warning in warnings],
        "fairness": dict(run.fairness),
        "environment": dict(run.environment),
        "census": dict(run.census),
        "looks": list(run.looks),
        "plan": run.plan.to_json_dict(),
        "workers": [worker.to_json_dict() for worker in run.workers],
    }
    if run.plan.self_check and pairs:
        body["resolution"] = abs(pairs[0]["ratio"]["estimate"] - 1)
    return documents.document("bench", body)
