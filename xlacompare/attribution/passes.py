"""Where two pipelines part: one program under two compilers, or two programs under one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from xlacompare.attribution.cells import Distance, module_distance
from xlacompare.attribution.pipeline import NO_PASS, Step, changed
from xlacompare.diff import Diff
from xlacompare.diff.origin import origin

# Hundreds of states of a large module would take minutes to compare: as many as fit into so many instructions are,
# spread over the pipeline, within these bounds.
COMPARED_INSTRUCTIONS = 400_000
MIN_COMPARED, MAX_COMPARED = 16, 120
MAX_OPERATIONS = 12


@dataclass(frozen=True, slots=True)
class Station:
    """Two states that the pipelines reach under the same name.

    Attributes:
        left, right: positions in the two pipelines.
        apart: how far the two states are from one another. Before the fusion pass every instruction counts as a
            kernel, also those that only rename a value.
    """

    left: int
    right: int
    apart: Distance


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that a pass touched: side, opcode, shape, and where in the user's program it comes from."""

    side: str
    opcode: str
    shape: str
    source: str | None

    def to_json_dict(self) -> dict[str, Any]:
        return {"side": self.side, "opcode": self.opcode, "shape": self.shape, "source": self.source}


@dataclass(frozen=True, slots=True)
class Parting:
    """Passes after which two pipelines are farther apart than they were, and never as close again.

    Attributes:
        station: position of the last state in which both were as close as before, among `PipelineDiff.stations`.
        after: what that state is called.
        left_passes, right_passes: what changed each side between there and the next state that both reach; empty
            where nothing did.
        operations_apart: from how many operations without a counterpart to how many.
        kernels_apart: from how many kernels that differ to how many.
        operations: what those passes touched.
    """

    station: int
    after: str
    left_passes: tuple[str, ...]
    right_passes: tuple[str, ...]
    operations_apart: tuple[int, int]
    kernels_apart: tuple[int, int]
    operations: tuple[Operation, ...]

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "after": self.after,
            "left_passes": list(self.left_passes),
            "right_passes": list(self.right_passes),
            "operations_apart": list(self.operations_apart),
            "kernels_apart": list(self.kernels_apart),
            "operations": [operation.to_json_dict() for operation in self.operations],
        }


@dataclass(frozen=True, slots=True)
class PipelineDiff:
    """Two pipelines side by side.

    Attributes:
        left_name, right_name: what the two are called.
        left, right: their states.
        stations: the states that both reach, in order.
        partings: where they part, in order; empty where they end up the same, or only their inputs differ.
    """

    left_name: str
    right_name: str
    left: tuple[Step, ...]
    right: tuple[Step, ...]
    stations: tuple[Station, ...]
    partings: tuple[Parting, ...]

    @property
    def input_operations_apart(self) -> int:
        """Operations without a counterpart that the two bring along from their inputs, through all passes."""
        return min((station.apart.operations for station in self.stations), default=0)

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "left": self.left_name,
            "right": self.right_name,
            "input_operations_apart": self.input_operations_apart,
            "partings": [parting.to_json_dict() for parting in self.partings],
            "stations": [
                {
                    "pass": self.left[station.left].words,
                    "left_kernels": self.left[station.left].kernels,
                    "right_kernels": self.right[station.right].kernels,
                    "operations_apart": station.apart.operations,
                    "kernels_apart": station.apart.kernels,
                }
                for station in self.stations
            ],
        }


def compare_pipelines(
    left: Sequence[Step],
    right: Sequence[Step],
    names: tuple[str, str],
    parameter_names: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> PipelineDiff:
    """Return where two pipelines part, aligned by pass name and, between equal names, by effect."""
    stations = []
    known: dict[tuple[str, str], Distance] = {}
    for one, other in thinned(aligned(left, right), most_compared(left)):
        pair = left[one].digest, right[other].digest
        if pair not in known:
            known[pair] = module_distance(left[one].module, right[other].module, *parameter_names)
        stations.append(Station(one, other, known[pair]))
    return PipelineDiff(*names, tuple(left), tuple(right), tuple(stations), find_partings(left, right, stations, names))


def aligned(left: Sequence[Step], right: Sequence[Step]) -> list[tuple[int, int]]:
    """Return the positions of the states that both pipelines reach by a pass of the same name, in order.

    >>> from types import SimpleNamespace as S
    >>> def states(*names): return [S(key=("p", name)) for name in names]
    >>> aligned(states("cse", "gemv", "dce"), states("cse", "dce", "fusion"))
    [(0, 0), (2, 1)]
    """
    matcher = SequenceMatcher(None, [step.key for step in left], [step.key for step in right], autojunk=False)
    return [
        (block.a + offset, block.b + offset) for block in matcher.get_matching_blocks() for offset in range(block.size)
    ]


def most_compared(steps: Sequence[Step]) -> int:
    """Return how many states of a pipeline are compared, by the size of its first."""
    size = sum(len(computation) for computation in steps[0].module.computations) if steps else 1
    return min(MAX_COMPARED, max(MIN_COMPARED, COMPARED_INSTRUCTIONS // max(size, 1)))


def thinned(pairs: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return at most so many of the pairs, spread evenly, the ends among them.

    >>> thinned([(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)], 3)
    [(0, 0), (2, 2), (4, 4)]
    """
    if len(pairs) <= most:
        return pairs
    stride = (len(pairs) - 1) / (most - 1)
    return [pairs[round(index * stride)] for index in range(most)]


def find_partings(
    left: Sequence[Step], right: Sequence[Step], stations: Sequence[Station], names: tuple[str, str]
) -> tuple[Parting, ...]:
    """Return every place after which the two are farther apart for good.

    What a later pass makes up for is none: two inputs that the simplifier brings together were spelled differently.
    """
    operations = lowest_ahead([station.apart.operations for station in stations])
    kernels = lowest_ahead([station.apart.kernels for station in stations])
    found = []
    for index in range(len(stations) - 1):
        here, there = stations[index], stations[index + 1]
        rises = operations[index + 1] > operations[index], kernels[index + 1] > kernels[index]
        if any(rises):
            found.append(
                Parting(
                    index,
                    left[here.left].words,
                    tuple(step.words for step in effective(left, here.left, there.left)),
                    tuple(step.words for step in effective(right, here.right, there.right)),
                    (operations[index], operations[index + 1]),
                    (kernels[index], kernels[index + 1]),
                    tuple(_touched(left, right, here, there, names, by_operations=rises[0])),
                )
            )
    return tuple(found)


def lowest_ahead(values: Sequence[int]) -> list[int]:
    """Return for each position the lowest value from there on.

    >>> lowest_ahead([9, 2, 5, 3, 7])
    [2, 2, 3, 3, 7]
    """
    lowest = list(values)
    for index in range(len(lowest) - 2, -1, -1):
        lowest[index] = min(lowest[index], lowest[index + 1])
    return lowest


def effective(steps: Sequence[Step], start: int, end: int) -> list[Step]:
    """Return the states after `start`, up to `end`, that a pass has just changed."""
    moved = [steps[index] for index in range(start + 1, end + 1) if changed(steps[index - 1], steps[index])]
    # The start of a nested pipeline shows what passes before it did whose own texts are not there.
    named = [step for step in moved if step.name != NO_PASS]
    return named or moved


def _touched(
    left: Sequence[Step],
    right: Sequence[Step],
    here: Station,
    there: Station,
    names: tuple[str, str],
    *,
    by_operations: bool,
) -> list[Operation]:
    """Return the operations at which two sides part between two stations."""
    if by_operations:
        return _named(there.apart.diff, names, [there.apart.diff.matching.unmatched(side) for side in (0, 1)])
    left_moved = changed(left[here.left], left[there.left])
    right_moved = changed(right[here.right], right[there.right])
    if left_moved == right_moved:
        return _named(there.apart.diff, names, [regrouped(there.apart.diff, side) for side in (0, 1)])
    # One side alone changed: what it changed is what parts them.
    steps, start, end = (left, here.left, there.left) if left_moved else (right, here.right, there.right)
    own = module_distance(steps[start].module, steps[end].module).diff
    name = names[0] if left_moved else names[1]
    return _named(own, (name, name), [[], regrouped(own, 1)])


def _named(found: Diff, names: tuple[str, str], nodes: Sequence[Iterable[int]]) -> list[Operation]:
    operations: list[Operation] = []
    for side in (0, 1):
        for node in list(nodes[side])[:MAX_OPERATIONS]:
            instruction = found.graphs[side].instructions[node]
            operations.append(Operation(names[side], instruction.opcode, str(instruction.shape), origin(instruction)))
    return list(dict.fromkeys(operations))


def regrouped(found: Diff, side: int) -> list[int]:
    """Return one side's operations in kernels that the other side does not have, each once."""
    nodes = {
        node: None
        for group in found.groups
        if group.verdict != "identical"
        for kernel in found.kernels(group, side)
        for node in kernel.operations
    }
    trivial = found.trivial[side]
    return [node for node in nodes if not trivial[node]]
