"""What is to be timed, and how: plain data that a stored run keeps, so that it can be resumed and compared."""

from __future__ import annotations

import difflib
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from xlacompare.bench.stats import CONFIDENCE, MAX_SEQUENTIAL_ROUNDS, SEQUENTIAL_CONFIDENCE
from xlacompare.errors import SchemaError, UsageError

MODES = ("latency", "throughput")
ORDERS = ("alternate", "shuffle")
QUICK_ROUNDS = 3
DEFAULT_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Column:
    """One way of running the model: a framework and how it is entered.

    Attributes:
        name: as the tables call it; two columns of a run never share one.
        framework: "jax" or "tensorflow".
        jit: compiled as a whole (False: eager).
        xla: TensorFlow's graph goes through XLA.
        options: the model's own options that this column alone has, (name, value) each.
    """

    name: str
    framework: str
    jit: bool = True
    xla: bool = True
    options: tuple[tuple[str, Any], ...] = ()


COLUMNS = {
    column.name: column
    for column in (
        Column("jax", "jax"),
        Column("jax-eager", "jax", jit=False),
        Column("tensorflow", "tensorflow"),
        Column("tensorflow-graph", "tensorflow", xla=False),
        Column("tensorflow-eager", "tensorflow", jit=False, xla=False),
    )
}


def columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of these names, in order; "tf" may stand for "tensorflow".

    >>> [column.name for column in columns(["jax", "tf-graph"])]
    ['jax', 'tensorflow-graph']

    Raises:
        UsageError: there is no such column, or one is named twice.
    """
    found = []
    for name in names:
        full = "tensorflow" + name[2:] if name == "tf" or name.startswith("tf-") else name
        if full not in COLUMNS:
            near = difflib.get_close_matches(full, COLUMNS, n=2) or list(COLUMNS)
            raise UsageError(f"there is no column {name!r} to time. Nearest: {', '.join(near)}.")
        found.append(COLUMNS[full])
    if not found or len(set(found)) != len(found):
        raise UsageError(f"{','.join(names)!r} names no column to time, or one twice. There are {', '.join(COLUMNS)}.")
    return tuple(found)


def self_check_columns(name: str) -> tuple[Column, ...]:
    """Return one column twice, under two names, as the two sides of a comparison of equals."""
    (column,) = columns([name])
    return tuple(replace(column, name=f"{column.name} ({side})") for side in "AB")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a worker warms up and measures; seconds."""

    warm_up_min_s: float = 0.2
    warm_up_max_s: float = 5.0
    min_batch_s: float = 0.01
    batches: int = 25
    min_batches: int = 5
    timing_max_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what a run measures.

    Attributes:
        model, variant: what is timed.
        size_name: the size that was named, for people; `program` has its numbers.
        program: what a child is asked to build (`worker/tasks/program.py`), but for the column's settings.
        rtol, atol: how far apart the outputs may be.
        columns: what is compared, the first being what the others are compared with.
        rounds: each round runs every column once, in a fresh process.
        mode: "latency" (wait after each call) or "throughput" (wait after each batch).
        min_effect: the smallest difference that matters, 0.02 for 2 %.
        order: "alternate" (AB, BA, AB, …) or "shuffle".
        order_seed: of the shuffling.
        until_resolved: go on until no verdict is "inconclusive"; `rounds` is then the most there may be.
        max_time_s: start no further round after this long; None: no limit.
        self_check: the column that is compared with itself, if any.
        cpus: the cores that every child is pinned to; empty: as inherited.
        device: "cpu" or "gpu".
        xla_flags: framework -> the final XLA_FLAGS.
        pythons: framework -> interpreter.
        timeout_s: limit for each child.
        limits: of one worker.
        command: the command line.
    """

    model: str
    variant: str
    program: Mapping[str, Any]
    rtol: float
    atol: float
    columns: tuple[Column, ...] = (COLUMNS["jax"], COLUMNS["tensorflow"])
    size_name: str = ""
    rounds: int = DEFAULT_ROUNDS
    mode: str = "latency"
    min_effect: float = 0.02
    order: str = "alternate"
    order_seed: int = 0
    until_resolved: bool = False
    max_time_s: float | None = None
    self_check: str | None = None
    cpus: tuple[int, ...] = ()
    device: str = "cpu"
    xla_flags: Mapping[str, str] = field(default_factory=dict)
    pythons: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 600.0
    limits: Limits = field(default_factory=Limits)
    command: tuple[str, ...] = ()

    @property
    def confidence(self) -> float:
        """The level of the intervals: stricter where the run may look at its own verdict and go on."""
        return SEQUENTIAL_CONFIDENCE if self.until_resolved else CONFIDENCE

    @property
    def most_rounds(self) -> int:
        return max(self.rounds, MAX_SEQUENTIAL_ROUNDS) if self.until_resolved else self.rounds

    def round_order(self, number: int) -> tuple[Column, ...]:
        """Return the columns in the order in which round `number` (from 0) runs them."""
        if self.order == "shuffle":
            order = list(self.columns)
            random.Random(f"{self.order_seed}/{number}").shuffle(order)
            return tuple(order)
        return self.columns if number % 2 == 0 else self.columns[::-1]

    def settings(self, column: Column) -> dict[str, Any]:
        """Return the settings of the program that this column runs."""
        shared = self.program.get("settings", {})
        options = {**shared.get("options", {}), **dict(column.options)}
        return {**shared, "variant": self.variant, "jit": column.jit, "xla": column.xla, "options": options}

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan_from_json(value: Mapping[str, Any], where: str) -> Plan:
    """Return the plan of a stored run; keys that this xlacompare does not know are passed over.

    Raises:
        SchemaError: a key is missing or of another type than it should be; `where` names the file.
    """
    try:
        known = {each.name for each in fields(Plan)}
        values = {key: content for key, content in value.items() if key in known}
        values["columns"] = tuple(_column(column) for column in value["columns"])
        values["limits"] = Limits(**value.get("limits", {}))
        values["cpus"] = tuple(value.get("cpus", ()))
        values["command"] = tuple(value.get("command", ()))
        return Plan(**values)
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"{where}: its 'plan' cannot be read ({type(error).__name__}: {error}).") from None


def _column(value: Mapping[str, Any]) -> Column:
    options = tuple((str(name), content) for name, content in value.get("options", ()))
    return Column(**{**value, "options": options})
