"""What two frontends did differently: operations of one program that the other does not have, by who made them.

The two inputs are compared as they are, and again after the same compiler has simplified both: what is still apart
then is what a user can change in the model; the rest was only spelled differently.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xlacompare.attribution.cells import Cell, Distance, module_distance
from xlacompare.diff import Diff
from xlacompare.diff.origin import origin
from xlacompare.hlo import Instruction

_JAX_FUNCTION = re.compile(r"\bjit\(([^()]+)\)")
_GRADIENT_TAPE = "gradient_tape/"
_CALL_NUMBER = re.compile(r"_\d+$")
_FILE_LINE = re.compile(r"^(.*[/\\])?([^/\\]+:\d+)$")


@dataclass(frozen=True, slots=True)
class Made:
    """Operations of one side that one function, or line, of the user's program made.

    Attributes:
        maker: the function that the framework names ("log_softmax", "SparseSoftmaxCrossEntropyWithLogits"), with
            "gradient of" before it where it is one; else the line of the user's file; else what the operation says.
        opcodes: opcode -> how many.
        sources: lines of the user's files, where the dump names any.
    """

    maker: str
    opcodes: Mapping[str, int]
    sources: tuple[str, ...]

    def to_json_dict(self) -> dict[str, Any]:
        return {"maker": self.maker, "opcodes": dict(self.opcodes), "sources": list(self.sources)}


@dataclass(frozen=True, slots=True)
class Repeated:
    """An operation that both sides have and one computes in more kernels than the other."""

    opcode: str
    shape: str
    maker: str
    left_times: int
    right_times: int

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "opcode": self.opcode,
            "shape": self.shape,
            "maker": self.maker,
            "left_times": self.left_times,
            "right_times": self.right_times,
        }


@dataclass(frozen=True, slots=True)
class FrontendDiff:
    """What two frontends did differently.

    Attributes:
        left, right: keys of the columns.
        compiler: key of the compiler that simplified both; None where only the inputs could be compared.
        input_operations: operations of each input, and how many of them the other has not.
        left_only, right_only: what is still on one side alone after that compiler, by maker, most first.
        repeated: operations that one side's kernels compute again.
    """

    left: str
    right: str
    compiler: str | None
    input_operations: Mapping[str, int] | None
    left_only: tuple[Made, ...]
    right_only: tuple[Made, ...]
    repeated: tuple[Repeated, ...]

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "right": self.right,
            "compiler": self.compiler,
            "input_operations": None if self.input_operations is None else dict(self.input_operations),
            "left_only": [made.to_json_dict() for made in self.left_only],
            "right_only": [made.to_json_dict() for made in self.right_only],
            "repeated": [repeated.to_json_dict() for repeated in self.repeated],
        }


def compare_frontends(left: Cell, right: Cell, apart: Distance | None, compiler: str | None) -> FrontendDiff | None:
    """Return what the frontends of two cells did differently.

    Args:
        left, right: a cell of each frontend.
        apart: how far their programs are apart under one compiler; None compares the inputs alone.
        compiler: that compiler's key.
    """
    inputs = None
    if left.before is not None and right.before is not None:
        inputs = module_distance(left.before, right.before, left.parameter_names, right.parameter_names)
    chosen = apart or inputs
    if chosen is None:
        return None
    found = chosen.diff
    return FrontendDiff(
        left.frontend,
        right.frontend,
        compiler if apart else None,
        None if inputs is None else dict(inputs.diff.operation_counts),
        by_maker(found, 0, found.matching.unmatched(0)),
        by_maker(found, 1, found.matching.unmatched(1)),
        _repeated(found) if apart else (),
    )


def by_maker(found: Diff, side: int, nodes: Iterable[int]) -> tuple[Made, ...]:
    """Return the operations of one side by who made them, most first; what costs nothing is left out."""
    opcodes: dict[str, Counter[str]] = defaultdict(Counter)
    sources: dict[str, dict[str, None]] = defaultdict(dict)
    for node in nodes:
        if found.trivial[side][node]:
            continue
        instruction = found.graphs[side].instructions[node]
        name = maker(instruction)
        opcodes[name][instruction.opcode] += 1
        place = origin(instruction)
        if place and _FILE_LINE.match(place):
            sources[name][place] = None
    made = [Made(name, dict(counts.most_common()), tuple(sources[name])) for name, counts in opcodes.items()]
    return tuple(sorted(made, key=lambda each: (-sum(each.opcodes.values()), each.maker)))


def maker(instruction: Instruction) -> str:
    """Return who made an operation, as far as its metadata says: see `Made.maker`."""
    name = str(instruction.metadata.get("op_name") or "").split(";")[0]
    place = origin(instruction) or ""
    functions = _JAX_FUNCTION.findall(name)
    if functions:
        # The outermost is the compiled function itself, with what its caller wraps around it.
        gradient = "gradient of " if "transpose(" in name else ""
        if len(functions) > 1:
            return gradient + str(functions[-1])
        if match := _FILE_LINE.match(place):
            return gradient + match[2]
        return gradient + name.rsplit("/", 1)[-1]
    gradient, _, rest = name.rpartition(_GRADIENT_TAPE)
    # TensorFlow numbers the calls of one operation: MatMul, MatMul_1, MatMul_2.
    operation = _CALL_NUMBER.sub("", rest.split("/")[0]) or "an unnamed place"
    return f"gradient of {operation}" if gradient or name.startswith(_GRADIENT_TAPE) else operation


def _repeated(found: Diff) -> tuple[Repeated, ...]:
    left, right = found.graphs
    repeated = []
    for node in dict.fromkeys(node for group in found.groups for node in found.repeated(group)):
        instruction = left.instructions[node]
        times = len(left.places[node]), len(right.places[found.matching.to_right[node]])
        repeated.append(Repeated(instruction.opcode, str(instruction.shape), maker(instruction), *times))
    return tuple(repeated)
