"""How many fusions, kernels and steps a module has, in three scopes.

- entry: the instructions of ENTRY alone.
- reachable: those of calls, loops (body and condition), conditionals and asynchronous wrappers as well, each call
  site once; never what is inside a fusion, or what a reduce, sort or scatter applies.
- weighted: reachable, with loops multiplied by their length; unknown where a length is, or where it depends on the
  branch that a conditional takes.

`docs/counting.md` says what each word means and which traces and listings proved the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from xlacompare import documents
from xlacompare.dumps import ThunkListing, framework_of
from xlacompare.hlo import Computation, HloWarning, Module
from xlacompare.hlo.control import trip_count
from xlacompare.hlo.glance import glance
from xlacompare.kernels import CLASSES, kernels, steps
from xlacompare.results import Result
from xlacompare.tally import tally


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """The counts of one scope; None where a weighted one is not known.

    Attributes:
        fusions: fusions of every kind.
        fusions_by_kind: the same by kind.
        wrapped: fusions of a single operation.
        library_fusions: fusions that a library or another code generator makes (kCustom).
        kernels: launches.
        kernels_by_class: launches by "own", "library", "copy", "collective", "other".
        thunks: steps of the executable: kernels, and calls, loops and conditionals themselves.
        collectives: collectives by opcode.
        async_pairs: launches with a start and an end of their own.
    """

    fusions: int | None
    fusions_by_kind: Mapping[str, int | None]
    wrapped: int | None
    library_fusions: int | None
    kernels: int | None
    kernels_by_class: Mapping[str, int | None]
    thunks: int | None
    collectives: Mapping[str, int | None]
    async_pairs: int | None

    def to_json_dict(self) -> dict[str, Any]:
        """Return the counts as they stand under "scopes" of a module's census."""
        return {
            "fusions": self.fusions,
            "by_kind": dict(self.fusions_by_kind),
            "wrapped": self.wrapped,
            "library": self.library_fusions,
            "kernels": self.kernels,
            "by_class": dict(self.kernels_by_class),
            "thunks": self.thunks,
            "collectives": dict(self.collectives),
            "async_pairs": self.async_pairs,
        }


@dataclass(frozen=True, slots=True)
class Loop:
    """A while loop that the module reaches: its name, the computation that it stands in, its length if known."""

    name: str
    computation: str
    trip_count: int | None


@dataclass(frozen=True, slots=True)
class Constants:
    """Arrays that the program carries with it, outside fusions: how many, their bytes, how many the text elides."""

    count: int
    bytes: int
    elided: int


@dataclass(frozen=True, slots=True)
class Census(Result):
    """What is counted of one module; `to_json_dict` gives the stored form."""

    name: str
    file: str | None
    framework: str
    platform: str | None
    stage: str
    main: bool
    entry_name: str
    computations: int
    total_instructions: int
    entry_instructions: int
    entry: ScopeCounts
    reachable: ScopeCounts
    weighted: ScopeCounts
    entry_opcodes: Mapping[str, int]
    total_opcodes: Mapping[str, int]
    loops: tuple[Loop, ...]
    constants: Constants
    warnings: tuple[HloWarning, ...]

    def to_json_dict(self) -> dict[str, Any]:
        """Return the census as one element of an `xlacompare.census` document's "modules"."""
        scopes = {"entry": self.entry, "reachable": self.reachable, "weighted": self.weighted}
        return {
            "name": self.name,
            "file": self.file,
            "framework": self.framework,
            "platform": self.platform,
            "stage": self.stage,
            "main": self.main,
            "entry": self.entry_name,
            "computations": self.computations,
            "instructions": {"total": self.total_instructions, "entry": self.entry_instructions},
            "fusions": {
                **{scope: counts.fusions for scope, counts in scopes.items()},
                "by_kind": dict(self.entry.fusions_by_kind),
                "wrapped": self.entry.wrapped,
                "library": self.entry.library_fusions,
            },
            "kernels": {
                **{scope: counts.kernels for scope, counts in scopes.items()},
                "by_class": dict(self.entry.kernels_by_class),
            },
            "thunks": {scope: counts.thunks for scope, counts in scopes.items()},
            "opcodes": {"entry": dict(self.entry_opcodes), "total": dict(self.total_opcodes)},
            "scopes": {scope: counts.to_json_dict() for scope, counts in scopes.items()},
            "loops": [
                {"name": loop.name, "computation": loop.computation, "trip_count": loop.trip_count}
                for loop in self.loops
            ],
            "constants": {
                "count": self.constants.count,
                "bytes": self.constants.bytes,
                "elided": self.constants.elided,
            },
            "warnings": [{"line": each.line, "column": each.column, "message": each.message} for each in self.warnings],
        }

    def to_json(self) -> str:
        """Return a whole `xlacompare.census` document about this one module."""
        return documents.dumps(census_document([self]))


def census_document(censuses: Iterable[Census]) -> dict[str, Any]:
    """Return the `xlacompare.census` document of several modules."""
    return documents.document("census", {"modules": [each.to_json_dict() for each in censuses]})


def census(module: Module, *, platform: str | None = None, stage: str | None = None, main: bool = True) -> Census:
    """Count a module.

    Args:
        module: the module.
        platform: "cpu", "gpu", …, where the dump's file name says it; else guessed from what only one of them has.
        stage: "before" or "after" optimizations where known; else "after" if it is scheduled or has fusions, and
            "unknown" if nothing tells.
        main: whether it is the module that is meant, of several.

    Raises:
        HloError: the module has no computation, or was read strictly and a reference in it leads nowhere.
    """
    total = Counter(chain.from_iterable(computation.opcodes for computation in module.computations))
    tallies = tally(module.entry)
    counts = tallies[module.entry]
    if stage is None:
        stage = "after" if module.is_scheduled or total["fusion"] else "unknown"
    walked = [computation for computation in module.computations if computation in tallies]
    return Census(
        name=module.name,
        file=module.file,
        framework=framework_of(module.name),
        platform=platform or _platform(module),
        stage=stage,
        main=main,
        entry_name=module.entry.name,
        computations=len(module.computations),
        total_instructions=total.total(),
        entry_instructions=len(module.entry.opcodes),
        entry=_scope(counts.own),
        reachable=_scope(counts.reachable),
        weighted=_scope(counts.weighted),
        entry_opcodes=_ordered(Counter(module.entry.opcodes)),
        total_opcodes=_ordered(total),
        loops=_loops(walked),
        constants=_constants(walked),
        warnings=module.warnings,
    )


def _scope(counts: Mapping[str, int | None]) -> ScopeCounts:
    def part(prefix: str) -> dict[str, int | None]:
        return {key.removeprefix(prefix): counts[key] for key in sorted(counts) if key.startswith(prefix)}

    return ScopeCounts(
        fusions=counts.get("fusions", 0),
        fusions_by_kind=part("fusion:"),
        wrapped=counts.get("wrapped", 0),
        library_fusions=counts.get("library", 0),
        kernels=counts.get("kernels", 0),
        kernels_by_class={name: counts.get(f"kernel:{name}", 0) for name in CLASSES},
        thunks=counts.get("thunks", 0),
        collectives=part("collective:"),
        async_pairs=counts.get("async", 0),
    )


def _loops(computations: Iterable[Computation]) -> tuple[Loop, ...]:
    return tuple(
        Loop(each.name, computation.name, trip_count(each))
        for computation in computations
        for each in glance(computation, ("while",))
    )


def _constants(computations: Iterable[Computation]) -> Constants:
    arrays = [
        each
        for computation in computations
        for each in glance(computation, ("constant",))
        if not each.shape_text.partition("[")[2].startswith("]")
    ]
    return Constants(
        count=len(arrays),
        bytes=sum(each.shape.byte_size for each in arrays),
        elided=sum(each.literal == "{...}" for each in arrays),
    )


def _ordered(opcodes: Counter[str]) -> dict[str, int]:
    return dict(sorted(opcodes.items(), key=lambda item: (-item[1], item[0])))


_MARKS = {
    "cpu": ("outer_dimension_partitions", "xla_cpu_", "__ynn", "__onednn"),
    "gpu": ("__cublas", "__cudnn", "operation_queue_id", "__triton"),
}


def _platform(module: Module) -> str | None:
    """Return the platform where ENTRY shows something that only one has."""
    text = module.entry.unread_text
    if text is None:
        text = "\n".join(each.attribute_text for each in module.entry.instructions)
    for platform, marks in _MARKS.items():
        if any(mark in text for mark in marks):
            return platform
    return None


@dataclass(frozen=True, slots=True)
class ListingCheck:
    """A module's steps against XLA's own list of launches.

    Attributes:
        listed: launches in the list.
        counted: steps of ENTRY for a schedule of 2020; kernels in reach for the later form, which lists what
            containers run as well.
        only_listed: names that the list has more often than the module.
        only_counted: names that the module has more often than the list; both empty where lines lack names.
    """

    listed: int
    counted: int
    only_listed: tuple[str, ...]
    only_counted: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return self.listed == self.counted and not self.only_listed and not self.only_counted


def check_listing(module: Module, listing: ThunkListing) -> ListingCheck:
    """Compare the steps that are counted of a module with the launches that its GPU compiler listed."""
    if listing.form == "schedule":
        launched = list(listing.thunks)
        counted = Counter(step.name for step in steps(module))
    else:
        launched = [thunk for thunk in listing.thunks if thunk.launches]
        counted = Counter(kernel.name for kernel in kernels(module, "reachable"))
    names = [thunk.name for thunk in launched]
    listed = Counter(name for name in names if name is not None)
    if None in names:
        # A line without a name can be any of the module's.
        return ListingCheck(len(launched), counted.total(), (), ())
    return ListingCheck(
        len(launched),
        counted.total(),
        tuple(sorted((listed - counted).elements())),
        tuple(sorted((counted - listed).elements())),
    )
