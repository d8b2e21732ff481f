"""Which compilers and frontends a control has, and who hands whose program to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The program of a frontend travels to jaxlib's XLA as HLO text, to TensorFlow's as serialized StableHLO.
TRAVELS_AS = {"jax": "text", "tensorflow": "stablehlo"}
WAIT_S = 240.0


@dataclass(frozen=True, slots=True)
class Column:
    """One environment: the frontend that writes a program in it, and the compiler that its XLA is.

    Attributes:
        key: what the tables call it: "jax", "tensorflow", and "jax-2", … for further environments.
        framework: "jax" or "tensorflow".
        python: the interpreter; None is the one that runs now.
        xla_flags: the flags of its process, without those for dumping.
    """

    key: str
    framework: str
    python: str | None
    xla_flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one control: a dump folder a cell, the bundles between the children, the outputs."""

    cells: Path
    exchange: Path

    def cell(self, frontend: str, compiler: str) -> Path:
        return self.cells / f"{frontend}-by-{compiler}"

    def outputs(self, frontend: str, compiler: str) -> Path:
        return self.exchange / f"{frontend}-by-{compiler}.npz"

    def parity(self, frontend: str) -> Path:
        return self.exchange / f"{frontend}.parity.npz"

    def bundle(self, frontend: str, kind: str) -> Path:
        return self.exchange / f"{frontend}.{kind}"

    def dump_root(self, compiler: str) -> Path:
        return self.exchange / f"dump-{compiler}"


def name_columns(environments: Sequence[tuple[str, str | None, tuple[str, ...]]]) -> list[Column]:
    """Return a column for each (framework, python, flags), numbered where a framework has several.

    >>> [column.key for column in name_columns([("jax", None, ()), ("tensorflow", None, ()), ("jax", "/old", ())])]
    ['jax', 'tensorflow', 'jax-2']
    """
    seen: dict[str, int] = {}
    columns = []
    for framework, python, flags in environments:
        seen[framework] = seen.get(framework, 0) + 1
        key = framework if seen[framework] == 1 else f"{framework}-{seen[framework]}"
        columns.append(Column(key, framework, python, flags))
    return columns


def child_request(column: Column, columns: Sequence[Column], places: Places) -> dict[str, Any]:
    """Return what `worker/tasks/cells.py` is asked in one column, besides the program to build."""
    others = [other for other in columns if other is not column]
    kinds = {TRAVELS_AS[other.framework] for other in others}
    if column.framework != "jax":
        # Only jaxlib can write a TensorFlow program as StableHLO: `conversions` asks it for that.
        kinds = {"text"} if others else set()
    elif others:
        # Text also for itself: its own program is timed by the route of the others.
        kinds |= {"text", "stablehlo"}
    return {
        "key": column.key,
        "dump_root": str(places.dump_root(column.key)),
        "own": _cell(places, column.key, column.key),
        "parity_file": str(places.parity(column.key)),
        "offers": {kind: str(places.bundle(column.key, kind)) for kind in sorted(kinds)},
        "conversions": _conversions(column, columns, places),
        "foreign": [_foreign(other, column, places) for other in others],
        "wait_s": WAIT_S,
    }


def timing_request(column: Column, columns: Sequence[Column], places: Places) -> dict[str, Any]:
    """Return what `worker/tasks/cell_times.py` is asked in one column, besides the program to build."""
    own = {"frontend": column.key, "bundles": []}
    if column.framework == "jax":
        own["bundles"] = [str(places.bundle(column.key, "text"))]
    others = [other for other in columns if other is not column]
    return {"timed": [own, *[_foreign(other, column, places) for other in others]]}


def orphans(columns: Sequence[Column], places: Places) -> Mapping[Path, str]:
    """Return the bundles that some column waits for and none can write, with the reason."""
    if converter(columns) is not None:
        return {}
    return {
        places.bundle(
            column.key, "stablehlo"
        ): "TensorFlow's program travels to another TensorFlow as StableHLO, which "
        "only a JAX environment can make of it; give one"
        for column in columns
        if column.framework == "tensorflow"
    }


def converter(columns: Sequence[Column]) -> Column | None:
    """Return the column that turns TensorFlow's HLO text into StableHLO."""
    return next((column for column in columns if column.framework == "jax"), None)


def _conversions(column: Column, columns: Sequence[Column], places: Places) -> list[dict[str, str]]:
    tensorflows = [each for each in columns if each.framework == "tensorflow"]
    if column is not converter(columns) or len(tensorflows) < 2:
        return []
    return [{kind: str(places.bundle(each.key, kind)) for kind in ("text", "stablehlo")} for each in tensorflows]


def _cell(places: Places, frontend: str, compiler: str) -> dict[str, str]:
    return {
        "dir": str(places.cell(frontend, compiler)),
        "outputs_file": str(places.outputs(frontend, compiler)),
    }


def _foreign(frontend: Column, compiler: Column, places: Places) -> dict[str, Any]:
    # A newer XLA writes HLO text that an older one cannot parse; StableHLO is versioned.
    kinds = [TRAVELS_AS[compiler.framework]]
    if frontend.framework == compiler.framework == "jax":
        kinds.append("stablehlo")
    return {
        **_cell(places, frontend.key, compiler.key),
        "frontend": frontend.key,
        "bundles": [str(places.bundle(frontend.key, kind)) for kind in kinds],
    }
