"""A diff for Google's Model Explorer: two graphs, and the mapping that its split view follows.

Every kernel is a layer (namespace) that holds its operations; an operation that stands in several kernels is drawn in
each of them. The mapping pairs all drawings of an operation on one side with all of its partner's on the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xlacompare.diff.graph import Graph, Kind
from xlacompare.diff.origin import origin
from xlacompare.diff.result import Diff

_OUTSIDE = -1


def sync_navigation(diff: Diff) -> dict[str, Any]:
    """Return the mapping as Model Explorer's sync-navigation document."""
    left, right = diff.graphs
    entries = []
    for node, partner in enumerate(diff.matching.to_right):
        if partner >= 0 and _is_drawn(left, node) and _is_drawn(right, partner):
            entries.append({"leftNodeIds": _ids(left, node), "rightNodeIds": _ids(right, partner)})
    return {"type": "sync_navigation", "mappingEntries": entries, "disableMappingFallback": True}


def graph_collection(diff: Diff, side: int) -> dict[str, Any]:
    """Return one side (0 is left) as a graph collection of one graph."""
    graph = diff.graphs[side]
    partner = (diff.matching.to_right, diff.matching.to_left)[side]
    names = {}
    for pair in diff.parameters:
        number, name = (pair.left, pair.left_name) if side == 0 else (pair.right, pair.right_name)
        if number is not None:
            names[graph.parameters[number]] = name
    nodes = []
    for node in range(len(graph)):
        if _is_drawn(graph, node):
            label = names.get(node, graph.instructions[node].opcode)
            nodes += [_node(graph, node, place, label, partner[node] >= 0) for place in _places(graph, node)]
    return {"label": diff.labels[side], "graphs": [{"id": graph.module.name or "module", "nodes": nodes}]}


def _is_drawn(graph: Graph, node: int) -> bool:
    return graph.kinds[node] in (Kind.OPERATION, Kind.PARAMETER, Kind.CARRIED, Kind.UNKNOWN)


def _places(graph: Graph, node: int) -> list[int]:
    return sorted(set(graph.places[node])) or [_OUTSIDE]


def _ids(graph: Graph, node: int) -> list[str]:
    return [_id(node, place) for place in _places(graph, node)]


def _id(node: int, place: int) -> str:
    return str(node) if place == _OUTSIDE else f"{node}@{place}"


def _node(graph: Graph, node: int, place: int, label: str, matched: bool) -> dict[str, Any]:
    instruction = graph.instructions[node]
    namespace = []
    if place != _OUTSIDE:
        kernel = graph.kernels[place]
        namespace = [*kernel.scope, kernel.name.rsplit("/", 1)[-1]]
    attributes = {
        "shape": str(instruction.shape),
        "instruction": instruction.name,
        "matched": "yes" if matched else "no",
        "source": origin(instruction) or "",
    }
    return {
        "id": _id(node, place),
        "label": label,
        "namespace": "/".join(part.replace("/", "_") for part in namespace),
        "attrs": [{"key": key, "value": value} for key, value in attributes.items() if value],
        "incomingEdges": [
            {"sourceNodeId": source, "sourceNodeOutputId": "0", "targetNodeInputId": str(position)}
            for position, operand in enumerate(graph.operands[node])
            for source in _sources(graph, operand, place)
        ],
        "outputsMetadata": [{"id": "0", "attrs": [{"key": "shape", "value": str(instruction.shape)}]}],
    }


def _sources(graph: Graph, operand: int, place: int) -> Iterable[str]:
    """Return the drawings that an operand is read from: the one in the same kernel, else every one behind renamings."""
    stack, seen = [operand], {operand}
    while stack:
        node = stack.pop()
        if _is_drawn(graph, node):
            places = _places(graph, node)
            yield _id(node, place if place in places else places[0])
            continue
        for other in graph.operands[node]:
            if other not in seen:
                seen.add(other)
                stack.append(other)
