"""HLO text from protobuf messages, for an installation that has TensorFlow's message classes and no printer.

What counting and comparing need is written as XLA writes it. Fields without a spelling of their own come out under the
field's name, so that nothing is lost; constants of more than one element are left out, `{...}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Written by `_head` or `_instruction`, or saying nothing.
_HANDLED = frozenset(
    {
        "backend_config", "called_computation_ids", "comparison_direction", "control_predecessor_ids",
        "custom_call_target", "dimensions", "fusion_kind", "id", "literal", "metadata", "name", "opcode", "operand_ids",
        "parameter_number", "shape", "slice_dimensions", "statistics_viz", "tuple_index",
    }
)  # fmt: skip
_ROLES = {
    "call": ["to_apply"],
    "fusion": ["calls"],
    "async-start": ["calls"],
    "while": ["body", "condition"],
    "select-and-scatter": ["select", "scatter"],
}
_SCALARS = ("preds", "s32s", "s64s", "u32s", "u64s", "f32s", "f64s")


def module_text(module: Any) -> str:
    """Return the text of an HloModuleProto."""
    names = {computation.id: computation.name for computation in module.computations}
    parts = [f"HloModule {module.name}{', is_scheduled=true' if module.HasField('schedule') else ''}\n"]
    for computation in module.computations:
        is_entry = computation.id == module.entry_computation_id or computation.name == module.entry_computation_name
        parts.append(_computation(computation, names, is_entry=is_entry))
    return "\n".join(parts)


def _computation(computation: Any, names: Mapping[int, str], *, is_entry: bool) -> str:
    known = {one.id: one.name for one in computation.instructions}
    lines = [f"{'ENTRY ' if is_entry else ''}%{computation.name} {{"]
    for one in computation.instructions:
        root = "ROOT " if one.id == computation.root_id else ""
        lines.append(f"  {root}{_instruction(one, known, names)}")
    thread = getattr(computation, "execution_thread", "")
    lines.append("}" + (f', execution_thread="{thread}"' if thread and thread != "main" else ""))
    return "\n".join(lines) + "\n"


def _instruction(one: Any, known: Mapping[int, str], names: Mapping[int, str]) -> str:
    attributes = _plain_attributes(one)
    called = [f"%{names.get(number, number)}" for number in one.called_computation_ids]
    roles = _ROLES.get(one.opcode, ["to_apply"])
    if called and len(called) <= len(roles):
        attributes.extend(f"{role}={name}" for role, name in zip(roles, called, strict=False))
    elif called:
        role = "branch_computations" if one.opcode == "conditional" else "called_computations"
        attributes.append(f"{role}={{{', '.join(called)}}}")
    if one.control_predecessor_ids:
        before = ", ".join(f"%{known.get(number, number)}" for number in one.control_predecessor_ids)
        attributes.append(f"control-predecessors={{{before}}}")
    if one.backend_config:
        attributes.append(f"backend_config={_string(one.backend_config.decode('utf-8', 'replace'))}")
    metadata = _metadata(one.metadata)
    if metadata:
        attributes.append(f"metadata={{{metadata}}}")
    head = f"%{one.name} = {_shape(one.shape)} {one.opcode}({_operands(one, known)})"
    return ", ".join([head, *attributes])


def _operands(one: Any, known: Mapping[int, str]) -> str:
    if one.opcode == "parameter":
        return str(one.parameter_number)
    if one.opcode != "constant":
        return ", ".join(f"%{known.get(number, number)}" for number in one.operand_ids)
    for field in _SCALARS:
        values = getattr(one.literal, field)
        if len(values) == 1 and not one.shape.dimensions:
            return str(values[0]).lower()
    return "{...}"


def _plain_attributes(one: Any) -> list[str]:
    found = []
    if one.dimensions or one.opcode in ("broadcast", "transpose", "reduce", "concatenate"):
        found.append(f"dimensions={{{','.join(map(str, one.dimensions))}}}")
    if one.slice_dimensions:
        steps = (f"[{s.start}:{s.limit}{f':{s.stride}' if s.stride != 1 else ''}]" for s in one.slice_dimensions)
        found.append(f"slice={{{', '.join(steps)}}}")
    if one.opcode == "get-tuple-element":
        found.append(f"index={one.tuple_index}")
    for name, value in (("kind", one.fusion_kind), ("direction", one.comparison_direction)):
        if value:
            found.append(f"{name}={value}")
    if one.custom_call_target:
        found.append(f"custom_call_target={_string(one.custom_call_target)}")
    for field, value in one.ListFields():
        if field.name in _HANDLED:
            continue
        if isinstance(value, str):
            found.append(f"{field.name}={_string(value)}")
        elif hasattr(value, "ListFields"):
            if value.ListFields():
                found.append(f"{field.name}={{{str(value).strip().replace(chr(10), ' ')}}}")
        elif isinstance(value, bool | int | float):
            found.append(f"{field.name}={str(value).lower()}")
        else:
            found.append(f"{field.name}={{{', '.join(str(item).replace(chr(10), ' ') for item in value)}}}")
    return found


def _metadata(metadata: Any) -> str:
    found = [
        f"{name}={_string(getattr(metadata, name))}"
        for name in ("op_type", "op_name", "source_file")
        if getattr(metadata, name)
    ]
    found.extend(
        f"{name}={getattr(metadata, name)}" for name in ("source_line", "stack_frame_id") if getattr(metadata, name, 0)
    )
    return " ".join(found)


def _shape(shape: Any) -> str:
    """Return a shape's text; recursion is as deep as its tuples, which protobuf itself limits to a hundred."""
    types = shape.DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_number
    kind = types[shape.element_type].name.lower()
    if kind == "tuple":
        return f"({', '.join(_shape(one) for one in shape.tuple_shapes)})"
    if kind in ("token", "opaque_type"):
        return f"{kind.removesuffix('_type')}[]"
    dynamic = [*shape.is_dynamic_dimension, *([False] * len(shape.dimensions))]
    sizes = ",".join(f"{'<=' if dynamic[at] else ''}{size}" for at, size in enumerate(shape.dimensions))
    layout = shape.layout
    order = ",".join(map(str, layout.minor_to_major))
    tail = "".join(f"({','.join(map(str, tile.dimensions))})" for tile in layout.tiles)
    tail = (f"T{tail}" if tail else "") + (f"S({layout.memory_space})" if layout.memory_space else "")
    if not order and not tail:
        return f"{kind}[{sizes}]"
    return f"{kind}[{sizes}]{{{order}{':' if tail else ''}{tail}}}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
