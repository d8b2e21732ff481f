"""Stored documents against one another: an upgrade, another machine, another day.

What differs in machine and versions comes first. Runs were not interleaved with one another, so a machine that was
busier on one day is in the numbers: times are compared process by process (Welch), and the report says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from xlacompare import documents
from xlacompare.bench import stats
from xlacompare.errors import SchemaError, UsageError, XlaCompareError
from xlacompare.results import Result

if TYPE_CHECKING:
    from rich.console import RenderableType

KINDS = ("bench", "profile", "dump", "census")
MACHINE_KEYS = ("cpu", "cpus", "affinity", "memory_bytes", "governor", "turbo", "system", "release", "python", "gpus")
CAVEAT = "across runs: drift not cancelled"


class NotComparable(XlaCompareError, ValueError):
    """The documents measure different things; `--force` compares them all the same."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not the same in all documents, with each one's value as text."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """One quantity of one column (or module) in the first document and in another.

    Attributes:
        column: "jax", "tensorflow-graph", a module's name, …
        metric: "time a call", "compile", "peak memory", "kernels", …
        unit: "s", "bytes" or "count".
        document: which document `after` is of; the first is 0.
        before, after: medians of processes, or counts; None where a document has none.
        ratio: before over after with its interval, for what several processes measured.
        verdict: "faster", "slower", "no difference", "inconclusive" (times), "same", "changed" (counts), or None.
    """

    column: str
    metric: str
    unit: str
    document: int
    before: float | None
    after: float | None
    ratio: stats.Ratio | None = None
    verdict: str | None = None

    def to_json_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": None if self.ratio is None else _finite(self.ratio.to_json_dict())}


@dataclass(frozen=True)
class Comparison(Result):
    """Documents of one kind against the first of them."""

    kind: str
    files: tuple[str, ...]
    model: str
    machine: tuple[Difference, ...]
    identity: tuple[Difference, ...]
    measures: tuple[Measure, ...]
    min_effect: float

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.comparison` document."""
        return documents.document(
            "comparison",
            {
                "kind": self.kind,
                "files": list(self.files),
                "model": self.model,
                "caveat": CAVEAT,
                "machine": [asdict(difference) for difference in self.machine],
                "identity": [asdict(difference) for difference in self.identity],
                "measures": [measure.to_json_dict() for measure in self.measures],
                "min_effect": self.min_effect,
            },
        )

    def __rich__(self) -> RenderableType:
        from xlacompare.report.across import comparison_text

        return comparison_text(self)


def compare_files(paths: Sequence[Path], *, force: bool = False, min_effect: float = 0.02) -> Comparison:
    """Return stored documents compared with the first of them.

    Args:
        paths: two or more files that `bench`, `profile`, `dump --json` or `analyze --json` wrote, all of one kind.
        force: compare other models, types or devices as well.
        min_effect: the smallest difference of time that matters, 0.02 for 2 %.

    Raises:
        UsageError: fewer than two files, or of different kinds.
        SchemaError: a file is none of these documents, or of a version not known here.
        NotComparable: model, variant, size, types or device differ, and `force` is false.
    """
    if len(paths) < 2:
        raise UsageError("compare takes two stored runs or more.")
    loaded = [read_document(path) for path in paths]
    kinds = [kind for kind, _ in loaded]
    if len(set(kinds)) > 1:
        raise UsageError(f"only documents of one kind can be compared; these are {', '.join(kinds)}.")
    kind, found = kinds[0], [document for _, document in loaded]
    try:
        identity = _differences([_identity(kind, document) for document in found])
        if identity and not force:
            listed = "; ".join(f"{each.what}: {' against '.join(each.values)}" for each in identity)
            raise NotComparable(f"these measure different things ({listed}). Pass --force to compare them anyway.")
        machine = _differences([_machine(kind, document) for document in found])
        measures = [
            measure
            for number, document in enumerate(found[1:], start=1)
            for measure in _measures(kind, found[0], document, number, min_effect)
        ]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise SchemaError(f"a document lacks what its kind has ({type(error).__name__}: {error}).") from error
    return Comparison(
        kind=kind,
        files=tuple(str(path) for path in paths),
        model=str(found[0].get("model", "")),
        machine=tuple(machine),
        identity=tuple(identity),
        measures=tuple(measures),
        min_effect=min_effect,
    )


def read_document(path: Path) -> tuple[str, dict[str, Any]]:
    """Return (kind, document) of a file that is one of `KINDS`.

    Raises:
        SchemaError: it cannot be read, or is something else.
    """
    try:
        text = path.read_text(encoding="utf-8")
        schema = str(json.loads(text)["schema"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SchemaError(f"{path} is no stored run ({type(error).__name__}: {error}).") from None
    kind = schema.removeprefix(documents.PREFIX)
    if kind not in KINDS:
        raise SchemaError(f"{path} is a {schema} document; compare takes {', '.join(KINDS)}.")
    return kind, documents.load(text, kind, file=str(path))


def _identity(kind: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be the same for a comparison to mean anything."""
    if kind == "census":
        module = _main_module(document)
        # TensorFlow numbers its functions anew in each process.
        return {"module": re.sub(r"[\d._]+", "_", module["name"]), "framework": module["framework"]}
    shared = {"model": document["model"], "variant": document["variant"]}
    if kind == "dump":
        return shared
    shared["size"] = document["size"]
    if kind == "profile":
        return {**shared, "device": document["device"]}
    fairness, plan = document["fairness"], document["plan"]
    return {
        **shared,
        "types": fairness.get("dtypes"),
        "device": plan["device"],
        "mode": document["mode"],
        "options": plan["program"]["settings"].get("options"),
    }


def _machine(kind: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may explain a difference: the machine, versions, flags."""
    environment = document.get("environment", {})
    found = {key: environment[key] for key in MACHINE_KEYS if key in environment}
    if kind == "bench":
        for name, column in document["fairness"]["columns"].items():
            found |= {f"{name} {key}": value for key, value in (column.get("versions") or {}).items()}
            found[f"{name} XLA flags"] = column.get("xla_flags")
            found[f"{name} cores"] = column.get("cpus")
            found[f"{name} precision"] = column.get("precision")
    for side in document.get("sides", ()) if kind == "profile" else document.get("dumps", ()):
        found |= {f"{side['framework']} {key}": value for key, value in side["versions"].items()}
    return found


def _differences(described: Sequence[Mapping[str, Any]]) -> list[Difference]:
    keys = dict.fromkeys(key for each in described for key in each)
    found = []
    for key in keys:
        values = tuple(_as_text(each.get(key)) for each in described)
        if len(set(values)) > 1:
            found.append(Difference(key, values))
    return found


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value or "(none)"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {part}" for key, part in value.items()) or "(none)"
    return "?" if value is None else json.dumps(value)


def _measures(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any], number: int, min_effect: float
) -> list[Measure]:
    return {"bench": _bench, "profile": _profile, "dump": _dump, "census": _census}[kind](
        before, after, number, min_effect
    )


def _bench(before: Mapping[str, Any], after: Mapping[str, Any], number: int, min_effect: float) -> list[Measure]:
    found = []
    quantities: tuple[tuple[str, str, Callable[[Mapping[str, Any]], float]], ...] = (
        ("time a call", "s", lambda worker: worker["median_s"]),
        ("compile", "s", lambda worker: worker["phases_s"]["compile"]),
        ("trace and lower", "s", lambda worker: worker["phases_s"]["trace"] + worker["phases_s"]["lower"]),
        ("peak memory", "bytes", lambda worker: worker["peak_rss_bytes"]),
    )
    for column in _shared_keys(before["fairness"]["columns"], after["fairness"]["columns"]):
        sides = [[worker for worker in run["workers"] if worker["column"] == column] for run in (before, after)]
        if not all(sides):
            continue
        for metric, unit, value in quantities:
            samples = [[value(worker) for worker in side] for side in sides]
            found.append(_sampled(column, metric, unit, number, samples[0], samples[1], min_effect))
        counts = [run.get("census", {}).get(column) for run in (before, after)]
        if all(counts):
            found += [_counted(column, key, number, counts[0][key], counts[1][key]) for key in ("kernels", "fusions")]
    return found


def _profile(before: Mapping[str, Any], after: Mapping[str, Any], number: int, min_effect: float) -> list[Measure]:
    sides = [{side["framework"]: side for side in run["sides"]} for run in (before, after)]
    found = []
    for framework in _shared_keys(*sides):
        one, other = (side[framework] for side in sides)
        for metric, key in (("step", "step_s"), ("kernels busy", "busy_s")):
            samples = [[process[key] for process in side["processes"]] for side in (one, other)]
            found.append(_sampled(framework, metric, "s", number, samples[0], samples[1], min_effect))
        found.append(Measure(framework, "no kernel", "s", number, one["unaccounted_s"], other["unaccounted_s"]))
        found.append(_counted(framework, "kernels", number, len(one["kernels"]), len(other["kernels"])))
        times = [{kernel["name"]: kernel["time_s"] for kernel in side["kernels"]} for side in (one, other)]
        names = sorted(times[0].keys() | times[1].keys(), key=lambda name: -max(t.get(name, 0.0) for t in times))
        found += [
            Measure(framework, f"kernel {name}", "s", number, times[0].get(name), times[1].get(name)) for name in names
        ]
    return found


def _dump(before: Mapping[str, Any], after: Mapping[str, Any], number: int, min_effect: float) -> list[Measure]:
    sides = [{dump["framework"]: dump["census"] for dump in each["dumps"]} for each in (before, after)]
    return [
        measure
        for framework in _shared_keys(*sides)
        for measure in _module_counts(framework, number, sides[0][framework], sides[1][framework])
    ]


def _census(before: Mapping[str, Any], after: Mapping[str, Any], number: int, min_effect: float) -> list[Measure]:
    modules = _main_module(before), _main_module(after)
    return _module_counts(modules[0]["framework"], number, *modules)


def _module_counts(column: str, number: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Measure]:
    found = [
        _counted(column, f"{key} ({scope})", number, before[key][scope], after[key][scope])
        for key in ("kernels", "fusions", "thunks")
        for scope in ("entry", "reachable", "weighted")
    ]
    total = _counted(column, "instructions", number, before["instructions"]["total"], after["instructions"]["total"])
    opcodes = [each["opcodes"]["entry"] for each in (before, after)]
    changed = sorted(
        {name for name in opcodes[0].keys() | opcodes[1].keys() if opcodes[0].get(name) != opcodes[1].get(name)}
    )
    return [
        *found,
        total,
        *[_counted(column, f"{n} (entry)", number, opcodes[0].get(n, 0), opcodes[1].get(n, 0)) for n in changed],
    ]


def _main_module(document: Mapping[str, Any]) -> Mapping[str, Any]:
    modules: Sequence[Mapping[str, Any]] = document["modules"]
    return next((module for module in modules if module.get("main")), modules[0])


def _shared_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    shared = [key for key in before if key in after]
    if not shared:
        raise NotComparable(f"nothing was measured in both: {', '.join(before)} and {', '.join(after)}.")
    return shared


def _sampled(
    column: str,
    metric: str,
    unit: str,
    number: int,
    before: Sequence[float],
    after: Sequence[float],
    min_effect: float,
) -> Measure:
    ratio = None
    if unit == "s" and min(*before, *after) > 0 and min(len(before), len(after)) > 1:
        # `left` is what the verdict is about: the later document.
        ratio = stats.welch(after, before)
    verdict = None if ratio is None else stats.verdict(ratio, min_effect)
    return Measure(column, metric, unit, number, median(before), median(after), ratio, verdict)


def _counted(column: str, metric: str, number: int, before: int | None, after: int | None) -> Measure:
    verdict = None if before is None or after is None else "same" if before == after else "changed"
    return Measure(column, metric, "count", number, before, after, None, verdict)


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    infinite = (float("inf"), float("-inf"))
    return {key: None if value != value or value in infinite else value for key, value in values.items()}
