"""Canonical text and fingerprints: equal where two modules mean the same, whatever their names.

Left out: names of modules, computations, instructions and parameters, metadata, origins, statistics, stack tables, the
order of computations, and the order of instructions where the module has no schedule. Normalised: spaces and comments,
key order of JSON and of frontend attributes, spelling of numbers in literals, layouts that are the default anyway,
channel ids (numbered anew inside each computation).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xlacompare.hlo.attributes import COMPUTATION_ROLES, parse_backend_config, referenced_names, split_attributes
from xlacompare.hlo.computation import Computation
from xlacompare.hlo.module import Module
from xlacompare.hlo.operands import LITERAL_OPCODES
from xlacompare.hlo.shape import canonical_shape
from xlacompare.hlo.source import UNCLOSED, Brackets, mask_text

if TYPE_CHECKING:
    from xlacompare.hlo.instruction import Instruction

_NO_MEANING = frozenset({"metadata", "origin", "original_value", "statistics"})
_STRING_OR_SPACE = re.compile(r"""("[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')|/\*.*?\*/|\s+""", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_LITERAL_SHAPE = re.compile(r"\A\s*(?:[a-z]\w*\[[^\]]*\](?:\{[^{}]*\})?\s*)(?=[{(\d-])")


def fingerprint(what: Module | Computation) -> str:
    """Return the sha256, in hexadecimal, of the canonical text: the same on every machine."""
    return _digest(canonical_text(what))


def canonical_text(what: Module | Computation) -> str:
    """Return a text that is the same for all modules or computations that mean the same.

    Computations are called by digests of what they hold; a module's text has each once, its entry last.
    """
    if isinstance(what, Computation):
        return _texts([what])[what]
    texts = _texts(what.computations)
    entry = texts[what.entry]
    parts = dict.fromkeys(sorted({text for one, text in texts.items() if one is not what.entry}))
    header = "".join(f"{key}={value}\n" for key, value in sorted(_header(what).items()))
    return "\n".join([header, *parts, f"ENTRY {entry}"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _header(module: Module) -> Mapping[str, str]:
    found = {
        name: _plain(value)
        for name, value in module.attributes.items()
        if name not in _NO_MEANING and name != "entry_computation_layout"
    }
    if "frontend_attributes" in found:
        found["frontend_attributes"] = _sorted_pairs(module.attributes["frontend_attributes"])
    layout = module.entry_computation_layout
    if layout is None:
        parameters = ",".join(canonical_shape(one.shape) for one in module.entry.parameters)
        result = canonical_shape(module.entry.root.shape) if len(module.entry) else ""
        layout = f"{{({parameters})->{result}}}"
    found["entry_computation_layout"] = _plain(layout)
    return found


def _texts(computations: list[Computation]) -> dict[Computation, str]:
    """Return the text of each computation and of all that they call, callees first, without recursion."""
    texts: dict[Computation, str] = {}
    digests: dict[Computation, str] = {}
    open_ones: set[Computation] = set()
    stack = list(reversed(computations))
    while stack:
        computation = stack[-1]
        if computation in texts:
            stack.pop()
            continue
        called = [one for each in computation.instructions for one in each.called]
        waiting = [one for one in called if one not in texts and one not in open_ones]
        if waiting and computation not in open_ones:
            open_ones.add(computation)
            stack.extend(waiting)
            continue
        # A computation that is open and has no text yet calls itself, which XLA forbids; its name must do then.
        texts[computation] = _text(computation, digests)
        digests[computation] = _digest(texts[computation])[:16]
        open_ones.discard(computation)
        stack.pop()
    return texts


def _text(computation: Computation, digests: Mapping[Computation, str]) -> str:
    order = list(computation.instructions) if computation.module.is_scheduled else _post_order(computation)
    numbers = {instruction: number for number, instruction in enumerate(order)}
    channels: dict[str, int] = {}
    thread = computation.execution_thread
    lines = ["{" if thread == "main" else f"{thread} {{"]
    lines.extend(_line(instruction, numbers, digests, channels) for instruction in order)
    lines.append("}")
    return "\n".join(lines) + "\n"


def _post_order(computation: Computation) -> list[Instruction]:
    """Operands before users from the root on, then what the root does not reach, in the text's order."""
    instructions = computation.instructions
    seen: set[Instruction] = set()
    order: list[Instruction] = []
    for start in [computation.root, *instructions] if instructions else []:
        stack = [(start, False)]
        while stack:
            instruction, ready = stack.pop()
            if ready:
                order.append(instruction)
                continue
            if instruction in seen:
                continue
            seen.add(instruction)
            stack.append((instruction, True))
            before = [*instruction.operands, *_control_predecessors(instruction)]
            stack.extend((one, False) for one in reversed(before))
    return order


def _control_predecessors(instruction: Instruction) -> list[Instruction]:
    if "control-predecessors" not in instruction.attribute_text:
        return []
    names = referenced_names(instruction.attributes.get("control-predecessors", ""))
    found = [instruction.computation.instruction(name) for name in names]
    return [one for one in found if one is not None]


def _line(
    instruction: Instruction,
    numbers: Mapping[Instruction, int],
    digests: Mapping[Computation, str],
    channels: dict[str, int],
) -> str:
    opcode = instruction.opcode
    if opcode == "constant":
        inside = _literal(instruction.operand_text)
    elif opcode in LITERAL_OPCODES or (not instruction.operands and instruction.operand_text):
        inside = _plain(instruction.operand_text)
    else:
        inside = ",".join(f"%{numbers[operand]}" for operand in instruction.operands)
    parts = []
    for name, value in sorted(instruction.attributes.items()):
        meaning = _attribute(instruction, name, value, numbers, digests, channels)
        if meaning is not None:
            parts.append(f",{name}={meaning}")
    root = "ROOT " if instruction.is_root else ""
    shape = canonical_shape(instruction.shape) if instruction.shape_text else "?"
    return f"{root}%{numbers[instruction]}={shape} {opcode}({inside}){''.join(parts)}"


def _attribute(
    instruction: Instruction,
    name: str,
    value: str,
    numbers: Mapping[Instruction, int],
    digests: Mapping[Computation, str],
    channels: dict[str, int],
) -> str | None:
    """Return what an attribute means, None where it means nothing."""
    if name in _NO_MEANING:
        return None
    opcode = instruction.opcode
    if opcode in ("async-update", "async-done") and name in ("calls", "async_execution_thread"):
        return None  # said by the start already
    if opcode == "async-start" and name in ("backend_config", "frontend_attributes"):
        return None  # said by the operation that it starts
    if name in COMPUTATION_ROLES:
        called = instruction.called_by_role.get(name, ())
        return ",".join(f"@{digests.get(one, one.name)}" for one in called) or _plain(value)
    if name == "control-predecessors":
        return ",".join(str(number) for number in sorted(numbers[one] for one in _control_predecessors(instruction)))
    if name == "channel_id":
        return f"#{channels.setdefault(value, len(channels))}"
    if name == "backend_config":
        config = parse_backend_config(value)
        return _plain(value) if isinstance(config, str) else json.dumps(config, sort_keys=True, separators=(",", ":"))
    if name == "frontend_attributes":
        return _sorted_pairs(value)
    if name == "sharding" and "metadata=" in value:
        return _plain(_without_metadata(value))
    return _plain(value)


def _plain(text: str) -> str:
    """Return the text without comments, and without spaces outside of strings."""
    return _STRING_OR_SPACE.sub(lambda found: found[1] or "", text)


def _literal(text: str) -> str:
    if len(text) < 256:
        text = _LITERAL_SHAPE.sub("", text)
    return _NUMBER.sub(_number, _plain(text))


def _number(match: re.Match[str]) -> str:
    text = match.group()
    if len(text) > 40 or text.lstrip("-").isdigit():
        return text
    value = float(text)
    if value == int(value) if abs(value) < 1e15 else False:
        return ("-" if text[0] == "-" else "") + str(abs(int(value)))
    return repr(value)


def _sorted_pairs(value: str) -> str:
    inside = value.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        return _plain(value)
    pairs = split_attributes("," + inside[1:-1])
    return "{" + ",".join(f"{name}={_plain(pair)}" for name, pair in sorted(pairs.items())) + "}"


def _without_metadata(value: str) -> str:
    brackets = Brackets(mask_text(value))
    kept, at = [], 0
    while True:
        found = brackets.mask.find("metadata={", at)
        close = brackets.close(found + len("metadata=")) if found >= 0 else UNCLOSED
        if close == UNCLOSED:
            break
        kept.append(value[at:found])
        at = close + 1
    return "".join([*kept, value[at:]])
