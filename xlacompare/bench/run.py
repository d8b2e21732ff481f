"""A run: every sample of every worker, and where it is kept (schema `xlacompare.bench`)."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlacompare import documents
from xlacompare.bench.plan import Plan, plan_from_json
from xlacompare.errors import SchemaError
from xlacompare.results import Result

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType

WORKER_KEYS = (
    "column",
    "framework",
    "round",
    "position",
    "phases_s",
    "batches_s",
    "number",
    "floor_s",
    "peak_rss_bytes",
)


@dataclass(frozen=True)
class Worker:
    """What one process measured.

    Attributes:
        column: the name of the plan's column.
        framework: "jax" or "tensorflow".
        round: from 0.
        position: which of its round it was, from 0.
        phases_s: seconds of import, build, trace, lower, compile, first_run and further stages.
        batches_s: seconds of each batch of `number` calls.
        number: calls in a batch.
        floor_s: seconds of a call that computes next to nothing, on the same call path.
        peak_rss_bytes: the process's largest resident size.
        details: everything else that it said: "warm_up", "cpu_s", "wall_s", "versions", "derived", …
    """

    column: str
    framework: str
    round: int
    position: int
    phases_s: Mapping[str, float]
    batches_s: Sequence[float]
    number: int
    floor_s: float
    peak_rss_bytes: int
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def calls_s(self) -> list[float]:
        """Seconds a call, one for each batch."""
        return [batch / self.number for batch in self.batches_s]

    @cached_property
    def median_s(self) -> float:
        """The median of the seconds a call: this process's one number."""
        return statistics.median(self.calls_s)

    def to_json_dict(self) -> dict[str, Any]:
        known = {name: getattr(self, name) for name in WORKER_KEYS}
        return {**known, "median_s": self.median_s, **self.details}


@dataclass(frozen=True)
class Run(Result):
    """All that was measured under one plan.

    Attributes:
        plan: what was asked for.
        created: when it started, UTC, as in "2026-03-01T12:00:00Z".
        environment: the machine and its state at the start.
        fairness: under what each column ran, for the reader to see that it is the same.
        parity: how far apart the outputs are, per column; empty before the first round is done.
        workers: in the order in which they ran.
        complete: the plan was carried out to its end.
        looks: after how many rounds an open-ended run asked for its verdict.
        census: column name -> kernels and fusions of the compiled program, where they were counted.
    """

    plan: Plan
    created: str
    environment: Mapping[str, Any] = field(default_factory=dict)
    fairness: Mapping[str, Any] = field(default_factory=dict)
    parity: Mapping[str, Any] = field(default_factory=dict)
    workers: tuple[Worker, ...] = ()
    complete: bool = False
    looks: tuple[int, ...] = ()
    census: Mapping[str, Any] = field(default_factory=dict)

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.bench` document."""
        from xlacompare.bench.analysis import run_document

        return run_document(self)

    def to_pandas(self) -> DataFrame:
        """Return every batch as a row of a data frame."""
        from xlacompare.bench.export import to_pandas

        return to_pandas(self)

    def __rich__(self) -> RenderableType:
        from xlacompare.report.bench import bench_text

        return bench_text(self)

    @property
    def rounds(self) -> int:
        """How many rounds are whole."""
        return len({worker.round for worker in self.workers})

    def of_column(self, name: str) -> list[Worker]:
        """Return a column's workers in the order of their rounds."""
        return sorted((worker for worker in self.workers if worker.column == name), key=lambda worker: worker.round)

    def medians_s(self, name: str) -> list[float]:
        """Return a column's medians, one a round, in seconds a call."""
        return [worker.median_s for worker in self.of_column(name)]


def now_utc() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def default_path(out: Path, model: str, created: str, kind: str = "bench") -> Path:
    """Return where a run is kept unless told otherwise: `OUT/MODEL/bench-<UTC>.json`.

    >>> default_path(Path("dumps"), "mlp", "2026-03-01T12:00:00Z").as_posix()
    'dumps/mlp/bench-20260301T120000Z.json'
    """
    return out / model / f"{kind}-{created.replace('-', '').replace(':', '')}.json"


def write_text_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_run(path: Path) -> Run:
    """Return a stored run.

    Raises:
        SchemaError: it is no `xlacompare.bench` document of a version known here, or something in it is missing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    return run_from_json(documents.load(text, "bench", file=str(path)), str(path))


def run_from_json(document: Mapping[str, Any], where: str) -> Run:
    """Return the run of a loaded document; `where` names it in errors."""
    try:
        workers = tuple(_worker(entry) for entry in document["workers"])
        plan = document["plan"]
        created = document["created"]
    except (KeyError, TypeError) as error:
        raise SchemaError(f"{where} is no whole run: {type(error).__name__}: {error}.") from None
    return Run(
        plan=plan_from_json(plan, where),
        created=created,
        environment=document.get("environment", {}),
        fairness=document.get("fairness", {}),
        parity=document.get("parity", {}),
        workers=workers,
        complete=document.get("complete", False),
        looks=tuple(document.get("looks", ())),
        census=document.get("census", {}),
    )


def _worker(entry: Mapping[str, Any]) -> Worker:
    known = {name: entry[name] for name in WORKER_KEYS}
    details = {key: value for key, value in entry.items() if key not in WORKER_KEYS and key != "median_s"}
    return Worker(**known, details=details)
