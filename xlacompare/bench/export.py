"""A run for other tools: CSV, pandas, pyperf's JSON and github-action-benchmark's list."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from xlacompare.bench.analysis import summarize_columns
from xlacompare.bench.run import Run, Worker

if TYPE_CHECKING:
    import pandas

FIELDS = (
    "model",
    "variant",
    "size",
    "mode",
    "column",
    "framework",
    "round",
    "position",
    "batch",
    "number",
    "batch_s",
    "call_s",
    "floor_s",
)


def rows(run: Run) -> list[dict[str, Any]]:
    """Return one row a batch, in the order in which they were measured."""
    plan = run.plan
    return [
        {
            "model": plan.model,
            "variant": plan.variant,
            "size": plan.size_name,
            "mode": plan.mode,
            "column": worker.column,
            "framework": worker.framework,
            "round": worker.round,
            "position": worker.position,
            "batch": index,
            "number": worker.number,
            "batch_s": batch_s,
            "call_s": batch_s / worker.number,
            "floor_s": worker.floor_s,
        }
        for worker in run.workers
        for index, batch_s in enumerate(worker.batches_s)
    ]


def to_csv(run: Run) -> str:
    """Return every batch as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(run))
    return stream.getvalue()


def to_pandas(run: Run) -> pandas.DataFrame:
    """Return every batch as a row of a data frame."""
    import pandas

    return pandas.DataFrame(rows(run), columns=list(FIELDS))


def to_pyperf(run: Run) -> str:
    """Return the run as a pyperf suite: one benchmark a column, one pyperf run a process, values in seconds a call.

    `python -m pyperf compare_to OLD.json NEW.json` reads it. pyperf pools the values of all processes, so its
    significance is not that of this run's verdict.
    """
    benchmarks = [
        {
            "metadata": {"name": benchmark_name(run, column.name), "loops": run.of_column(column.name)[0].number},
            "runs": [_pyperf_run(worker, run) for worker in run.of_column(column.name)],
        }
        for column in run.plan.columns
    ]
    metadata = {key: run.environment[source] for key, source in _PYPERF_METADATA.items() if run.environment.get(source)}
    suite = {"version": "1.0", "metadata": {"unit": "second", **metadata}, "benchmarks": benchmarks}
    return json.dumps(suite, indent=2) + "\n"


_PYPERF_METADATA = {"cpu_model_name": "cpu", "cpu_count": "cpus", "python_version": "python"}


def _pyperf_run(worker: Worker, run: Run) -> dict[str, Any]:
    metadata = {"date": run.created.replace("T", " ").rstrip("Z"), "mem_max_rss": worker.peak_rss_bytes}
    return {"metadata": metadata, "values": worker.calls_s}


def to_action(run: Run) -> str:
    """Return github-action-benchmark's list (tool "customSmallerIsBetter"): medians in microseconds a call."""
    entries = [
        {
            "name": benchmark_name(run, summary.name),
            "unit": "us/call",
            "value": round(summary.median_s * 1e6, 4),
            "range": f"{summary.low_s * 1e6:.4g}-{summary.high_s * 1e6:.4g}",
            "extra": f"{run.rounds} processes, {run.plan.mode}, dispatch floor {summary.floor_s * 1e6:.4g} us",
        }
        for summary in summarize_columns(run)
    ]
    return json.dumps(entries, indent=2) + "\n"


def benchmark_name(run: Run, column: str) -> str:
    """Return a name that is the same for the same measurement of another day."""
    plan = run.plan
    return f"{plan.model}/{plan.variant}/{plan.size_name}/{plan.mode}/{column}"
