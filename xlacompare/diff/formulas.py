"""What an operation computes, as a short formula over parameter names: `W @ x + b`. For showing only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xlacompare.diff.forms import integers
from xlacompare.diff.graph import Graph, Kind
from xlacompare.hlo import Instruction

if TYPE_CHECKING:
    from xlacompare.diff.result import Diff

_INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "@": 2}
_ATOM = 9
_SHORT = {
    "exponential": "exp",
    "negate": "-",
    "maximum": "max",
    "minimum": "min",
    "logistic": "sigmoid",
    "power": "pow",
    "exponential-minus-one": "expm1",
    "log-plus-one": "log1p",
}
_REDUCERS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod", "and": "all", "or": "any"}
_COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_LAST_KEY = re.compile(r"\[['\"]?([\w.-]+)['\"]?\]$")
MAX_DEPTH = 4
MAX_LENGTH = 44


def formula(diff: Diff, side: int, node: int, *, abridged: bool = False) -> str | None:
    """Return the formula of a node of one side; None where it would be too long to help.

    Args:
        abridged: where it is too long, leave out what is innermost rather than everything.
    """
    names = _names(diff, side)
    for depth in range(MAX_DEPTH, 0, -1):
        text, _ = _spell(diff.graphs[side], node, names, depth)
        if len(text) <= MAX_LENGTH and (abridged or "…" not in text):
            return text
        if not abridged:
            break
    return None


def _names(diff: Diff, side: int) -> dict[int, str]:
    """Return what both sides' formulas call the parameters: the name that the user's program has, on either side."""
    names: dict[int, str] = {}
    graphs = diff.graphs
    for pair in diff.parameters:
        numbers = pair.left, pair.right
        given = pair.left_name, pair.right_name
        number = numbers[side]
        if number is None:
            continue
        best = given[side]
        for index, graph, name in zip(numbers, graphs, given, strict=True):
            if index is not None and name != graph.instructions[graph.parameters[index]].name:
                best = name
                break
        names[graphs[side].parameters[number]] = short_name(best)
    return names


def short_name(name: str) -> str:
    """Return the last key of a path into nested parameters.

    >>> short_name("params['layer']['W']"), short_name("arg0.1")
    ('W', 'arg0.1')
    """
    match = _LAST_KEY.search(name)
    return match[1] if match else name


def _spell(graph: Graph, node: int, names: Mapping[int, str], depth: int) -> tuple[str, int]:
    """Return the text and how tightly it binds."""
    if node in names:
        return names[node], _ATOM
    instruction = graph.instructions[node]
    opcode = instruction.opcode
    if graph.kinds[node] != Kind.OPERATION or depth == 0:
        return "…", _ATOM
    if opcode == "constant":
        literal = instruction.literal or ""
        return (literal if len(literal) < 12 else "…"), _ATOM
    operands = graph.operands[node]
    if opcode in ("broadcast", "convert") and operands:
        return _spell(graph, operands[0], names, depth)
    product = _product(graph, node)
    if product is not None:
        return _infix("@", [_spell(graph, operand, names, depth - 1) for operand in product])
    inside = [_spell(graph, operand, names, depth - 1) for operand in operands]
    if opcode in _INFIX and len(inside) == 2:
        return _infix(_INFIX[opcode], inside)
    if opcode == "compare" and len(inside) == 2:
        # A comparison that was turned round to match is spelled the way round that its operands now stand.
        direction = instruction.attributes.get("direction", "")
        direction = {"GT": "LT", "GE": "LE"}.get(direction, direction)
        return f"({inside[0][0]} {_COMPARISONS.get(direction, '?')} {inside[1][0]})", _ATOM
    if opcode == "reduce" and inside:
        return f"{_reducer(instruction)}({inside[0][0]})", _ATOM
    name = _SHORT.get(opcode, opcode)
    if opcode == "negate":
        return f"-{inside[0][0]}" if inside and inside[0][1] > 1 else f"-({inside[0][0] if inside else ''})", _ATOM
    return f"{name}({', '.join(text for text, _ in inside)})", _ATOM


def _infix(sign: str, inside: list[tuple[str, int]]) -> tuple[str, int]:
    rank = _RANK[sign]
    # Operands that may be exchanged stand in no order: the one with more to it reads better first.
    left, right = sorted(inside, key=lambda each: each[1]) if sign in "+*" else inside
    one = left[0] if left[1] >= rank else f"({left[0]})"
    other = right[0] if right[1] > rank or (right[1] == rank and sign in "+*") else f"({right[0]})"
    return f"{one} {sign} {other}", rank


def _reducer(instruction: Instruction) -> str:
    called = instruction.called
    if not called or not called[0].instructions:
        return "reduce"
    root = called[0].root.opcode
    return _REDUCERS.get(root, f"reduce_{root}")


def _product(graph: Graph, node: int) -> tuple[int, int] | None:
    """Return the two factors where a node is a matrix product: a dot, or a sum over a product with a broadcast row."""
    instruction = graph.instructions[node]
    operands = graph.operands[node]
    if instruction.opcode == "dot" and len(operands) == 2:
        # A matrix and a vector stand in no order: as they are written.
        sizes = [graph.instructions[operand].shape.element_count for operand in operands]
        written = [operand.shape.element_count for operand in instruction.operands]
        return (operands[0], operands[1]) if sizes == written else (operands[1], operands[0])
    if instruction.opcode != "reduce" or _reducer(instruction) != "sum" or len(operands) != 2:
        return None
    factor = operands[0]
    if graph.instructions[factor].opcode != "multiply" or graph.kinds[factor] != Kind.OPERATION:
        return None
    summed = integers(instruction.attributes.get("dimensions"))
    for one, other in (graph.operands[factor], graph.operands[factor][::-1]):
        wide = graph.instructions[other]
        if (
            graph.kinds[other] == Kind.OPERATION
            and wide.opcode == "broadcast"
            and summed
            and integers(wide.attributes.get("dimensions")) == summed
        ):
            return one, graph.operands[other][0]
    return None
