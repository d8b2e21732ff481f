"""What a diff found: the stored form of it, and questions that reports ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xlacompare import documents
from xlacompare.census import Census, census
from xlacompare.diff.graph import Graph, Kernel
from xlacompare.diff.kernels import KernelGroup, trivial_nodes
from xlacompare.diff.matching import OTHER_VALUE, Matching
from xlacompare.diff.origin import origin, parameter_name
from xlacompare.dumps import framework_of
from xlacompare.hlo import Module
from xlacompare.results import Result

_FRAMEWORK_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}


@dataclass(frozen=True, slots=True)
class ParameterPair:
    """Two parameters that are the same input; None where one side lacks it."""

    left: int | None
    right: int | None
    shape: str
    left_name: str
    right_name: str


@dataclass(frozen=True)
class Diff(Result):
    """The fusion diff of two modules.

    Attributes:
        left, right: the modules.
        matching: which operation is which, with both flattened graphs.
        groups: every kernel of either side in exactly one group, in the left side's schedule order.
        parameters: the table of ENTRY parameters.
        labels: what the sides are called in reports: the frameworks' names where they tell the sides apart.
    """

    left: Module
    right: Module
    matching: Matching
    groups: tuple[KernelGroup, ...]
    parameters: tuple[ParameterPair, ...]
    labels: tuple[str, str]

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        return self.matching.left, self.matching.right

    @cached_property
    def censuses(self) -> tuple[Census, Census]:
        """The census of each side."""
        return census(self.left), census(self.right)

    @cached_property
    def trivial(self) -> tuple[Sequence[bool], Sequence[bool]]:
        """Per side and node, whether it costs nothing to repeat."""
        return trivial_nodes(self.matching.left), trivial_nodes(self.matching.right)

    @cached_property
    def operation_counts(self) -> dict[str, int]:
        """The counts of primitive operations under "operations" of the document."""
        left, right = (len(graph.operations()) for graph in self.graphs)
        left_only, right_only = (len(self.matching.unmatched(side)) for side in (0, 1))
        return {
            "left": left,
            "right": right,
            "matched": left - left_only,
            "left_only": left_only,
            "right_only": right_only,
        }

    @cached_property
    def revalued(self) -> list[int]:
        """The left constants whose partner stands at the same place and has another value."""
        return [node for node, how in self.matching.how.items() if how == OTHER_VALUE]

    @cached_property
    def identical(self) -> bool:
        """Whether both modules run the same kernels on the same operations; names, order and metadata aside."""
        counts = self.operation_counts
        matching = self.matching
        return (
            not counts["left_only"]
            and not counts["right_only"]
            and not self.revalued
            and all(group.verdict == "identical" for group in self.groups)
            and all(pair.left is not None and pair.right is not None for pair in self.parameters)
            and all(
                left is not None
                and right is not None
                and matching.to_right[matching.left.results[left]] == matching.right.results[right]
                for left, right in matching.results
            )
        )

    def kernels(self, group: KernelGroup, side: int) -> list[Kernel]:
        """Return a group's kernels of one side (0 is left)."""
        indices = (group.left, group.right)[side]
        return [self.graphs[side].kernels[index] for index in indices]

    def standing_in(self, side: int, node: int) -> list[Kernel]:
        """Return the kernels that compute a node, each once, in schedule order."""
        graph = self.graphs[side]
        return [graph.kernels[index] for index in sorted(set(graph.places[node])) if index >= 0]

    @cached_property
    def constant_kernels(self) -> tuple[dict[int, list[Kernel]], dict[int, list[Kernel]]]:
        """Per side and constant of another value there, the kernels that hold it or read it, in schedule order."""
        found = []
        for side, nodes in enumerate((self.revalued, [self.matching.to_right[node] for node in self.revalued])):
            kernels: dict[int, list[Kernel]] = {node: [] for node in nodes}
            for kernel in self.graphs[side].kernels if nodes else ():
                for node in kernels.keys() & {*kernel.operations, *kernel.inputs}:
                    kernels[node].append(kernel)
            found.append(kernels)
        return found[0], found[1]

    def repeated(self, group: KernelGroup) -> list[int]:
        """Return the matched operations of a group that one side computes more often than the other."""
        matching = self.matching
        trivial = self.trivial[0]
        return [
            node
            for node in group.matched
            if not trivial[node]
            and len(matching.left.places[node]) != len(matching.right.places[matching.to_right[node]])
        ]

    def traffic_bytes(self, group: KernelGroup, side: int) -> int:
        """Return the bytes that a group's kernels of one side read from and write to memory."""
        return sum(kernel.read_bytes + kernel.written_bytes for kernel in self.kernels(group, side))

    @cached_property
    def total_bytes(self) -> tuple[int, int]:
        """Per side, the bytes that all kernels read from and write to memory; a loop's body is counted once."""
        left, right = (sum(self.traffic_bytes(group, side) for group in self.groups) for side in (0, 1))
        return left, right

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.diff` document."""
        return documents.document(
            "diff",
            {
                "left": self.censuses[0].to_json_dict(),
                "right": self.censuses[1].to_json_dict(),
                "labels": {"left": self.labels[0], "right": self.labels[1]},
                "identical": self.identical,
                "parameters": [
                    {
                        "left": pair.left,
                        "right": pair.right,
                        "shape": pair.shape,
                        "left_name": pair.left_name,
                        "right_name": pair.right_name,
                    }
                    for pair in self.parameters
                ],
                "results": [{"left": left, "right": right} for left, right in self.matching.results],
                "operations": self.operation_counts,
                "bytes": dict(zip(("left", "right"), self.total_bytes, strict=True)),
                "constants": [self._constant_json(node) for node in self.revalued],
                "kernels": [self._group_json(group) for group in self.groups],
            },
        )

    def _group_json(self, group: KernelGroup) -> dict[str, Any]:
        return {
            "verdict": group.verdict,
            "left": [kernel.name for kernel in self.kernels(group, 0)],
            "right": [kernel.name for kernel in self.kernels(group, 1)],
            "matched_operations": len(group.matched),
            "left_only_operations": [self._operation_json(0, group, node) for node in group.left_only],
            "right_only_operations": [self._operation_json(1, group, node) for node in group.right_only],
            "left_moved_operations": [self._moved_json(0, group, node) for node in group.left_moved],
            "right_moved_operations": [self._moved_json(1, group, node) for node in group.right_moved],
            "repeated_operations": [
                {
                    "opcode": self.graphs[0].instructions[node].opcode,
                    "shape": str(self.graphs[0].instructions[node].shape),
                    "left_times": len(self.graphs[0].places[node]),
                    "right_times": len(self.graphs[1].places[self.matching.to_right[node]]),
                }
                for node in self.repeated(group)
            ],
            "notes": list(group.notes),
            "left_bytes": self.traffic_bytes(group, 0),
            "right_bytes": self.traffic_bytes(group, 1),
        }

    def _operation_json(self, side: int, group: KernelGroup, node: int) -> dict[str, Any]:
        graph = self.graphs[side]
        instruction = graph.instructions[node]
        inside = (group.left, group.right)[side]
        kernel = next(place for place in graph.places[node] if place in inside)
        return {
            "opcode": instruction.opcode,
            "shape": str(instruction.shape),
            "kernel": graph.kernels[kernel].name,
            "source": origin(instruction),
        }

    def _constant_json(self, node: int) -> dict[str, Any]:
        found: dict[str, Any] = {"shape": str(self.graphs[0].instructions[node].shape)}
        for side, name, each in ((0, "left", node), (1, "right", self.matching.to_right[node])):
            found[name] = self.graphs[side].instructions[each].literal
            found[f"{name}_kernels"] = [kernel.name for kernel in self.constant_kernels[side][each]]
        return found

    def _moved_json(self, side: int, group: KernelGroup, node: int) -> dict[str, Any]:
        partner = (self.matching.to_right, self.matching.to_left)[side][node]
        return {
            **self._operation_json(side, group, node),
            "stands_in": [kernel.name for kernel in self.standing_in(1 - side, partner)],
        }


def side_labels(left: Module, right: Module) -> tuple[str, str]:
    """Return what the two sides are called: by framework where that tells them apart, else left and right."""
    names = [_FRAMEWORK_NAMES.get(framework_of(module.name)) for module in (left, right)]
    if names[0] and names[1] and names[0] != names[1]:
        return names[0], names[1]
    return "left", "right"


def parameter_table(
    matching: Matching, left_names: Sequence[str] | None, right_names: Sequence[str] | None
) -> tuple[ParameterPair, ...]:
    """Return the table of parameters; a name that nobody gave is the parameter instruction's own."""
    names = [_names(graph, given) for graph, given in ((matching.left, left_names), (matching.right, right_names))]
    shapes = [[str(graph.instructions[node].shape) for node in graph.parameters] for graph in _graphs(matching)]
    return tuple(
        ParameterPair(
            left,
            right,
            shapes[0][left] if left is not None else shapes[1][right if right is not None else 0],
            names[0][left] if left is not None else "",
            names[1][right] if right is not None else "",
        )
        for left, right in matching.parameters
    )


def _graphs(matching: Matching) -> Iterable[Graph]:
    return matching.left, matching.right


def _names(graph: Graph, given: Sequence[str] | None) -> list[str]:
    if given is not None and len(given) == len(graph.parameters):
        return list(given)
    return [parameter_name(graph.instructions[node]) for node in graph.parameters]
