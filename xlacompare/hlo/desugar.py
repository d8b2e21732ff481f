"""`custom-call-start(…)`: XLA's short form of an async-start that calls a computation holding only that operation.

The model knows the long form alone, as XLA's own parser does, so that both forms count the same. What was written is
kept for the printer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlacompare.hlo.attributes import split_attributes
from xlacompare.hlo.operands import operand_names, split_operands

if TYPE_CHECKING:
    from xlacompare.hlo.computation import Computation
    from xlacompare.hlo.module import Module

_Row = tuple[str, str, str, str, str]
# Operations of their own, which have no computation.
_NATIVE = frozenset(
    {
        "all-gather-done",
        "all-gather-start",
        "all-reduce-done",
        "all-reduce-start",
        "async-done",
        "async-start",
        "async-update",
        "collective-permute-done",
        "collective-permute-start",
        "copy-done",
        "copy-start",
        "recv-done",
        "send-done",
    }
)
_PHASES = ("-start", "-update", "-done")
# What stays with the start itself, and what only the start has.
_SHARED = frozenset({"backend_config", "frontend_attributes", "metadata", "origin", "statistics"})
_OWN = frozenset({"async_execution_thread", "control-predecessors", "output_to_operand_aliasing", "sharding"})


def is_short_form(opcode: str) -> bool:
    """Whether an opcode is the short form of an async one."""
    return opcode.endswith(_PHASES) and opcode not in _NATIVE


def expand(module: Module) -> None:
    """Bring every short form of a module into the long one, adding the computations that it implies."""
    computations: list[Computation] = []
    for computation in list(module.computations):
        if any(map(is_short_form, computation.opcodes)):
            computations.extend(_expand_computation(module, computation))
        computations.append(computation)
    module.computations[:] = computations


def _expand_computation(module: Module, computation: Computation) -> list[Computation]:
    rows, added = computation.take_rows(), []
    shapes = {name: shape for _, name, shape, _, _ in rows}
    opcodes = list(computation.opcodes)
    written_as: dict[str, tuple[str, str]] = {}
    for index, (root, name, shape, operands, attributes) in enumerate(rows):
        opcode = opcodes[index]
        if not is_short_form(opcode):
            continue
        wrapped, _, phase = opcode.rpartition("-")
        opcodes[index] = f"async-{phase}"
        written_as[name] = (opcode, attributes)
        if phase == "start":
            pairs = split_attributes(attributes)
            inner = module.new_computation(
                "async_wrapped",
                *_wrapped_rows(wrapped, shape, [shapes.get(one, "") for one in operand_names(operands)], pairs),
                offset=computation.row_offset(index),
            )
            added.append(inner)
            own = {key: value for key, value in pairs.items() if key in _OWN or key in _SHARED}
            attributes = _attribute_text({**own, "calls": f"%{inner.name}"})
        rows[index] = (root, name, shape, operands, attributes)
    computation.written_as = written_as
    computation.replace_rows(rows, opcodes)
    return added


def _wrapped_rows(
    opcode: str, start_shape: str, operand_shapes: list[str], pairs: dict[str, str]
) -> tuple[list[_Row], list[str]]:
    rows: list[_Row] = []
    for number, shape in enumerate(operand_shapes):
        name = f"async_param.{number}" if number else "async_param"
        rows.append(("", name, shape, str(number), ""))
    elements = split_operands(start_shape.strip()[1:-1]) if start_shape.lstrip().startswith("(") else []
    operands = ", ".join(f"%{row[1]}" for row in rows)
    attributes = _attribute_text({key: value for key, value in pairs.items() if key not in _OWN})
    result = elements[1].strip() if len(elements) > 1 else ""
    rows.append(("ROOT ", opcode, result, operands, attributes))
    return rows, ["parameter"] * len(operand_shapes) + [opcode]


def _attribute_text(pairs: dict[str, str]) -> str:
    return "".join(f", {key}={value}" for key, value in pairs.items())
