"""A module becomes one graph of primitive operations, whatever fusions, calls, loops and branches it is packed in.

What only renames a value (bitcast, copy, reshape, tuple, …) is looked through. Two instructions that compute the same
from the same operands are one node with two places: that is how an operation that a compiler duplicated into several
kernels is still one operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Union

from xlacompare.diff.forms import squeezed
from xlacompare.diff.graph import Graph, Kernel, Kind
from xlacompare.diff.labels import COLLECTIVE, EFFECTFUL, Label, Labels
from xlacompare.diff.library_calls import plain_product
from xlacompare.hlo import Computation, Instruction, Module, Shape
from xlacompare.kernels import is_kernel, kernel_class

# A node, or a tuple of values.
Value = Union[int, "tuple[Value, ...]"]

_RENAMINGS_WORDS = (
    """bitcast copy reshape copy-start copy-done opt-barrier optimization-barrier add-dependency domain"""
)
RENAMINGS = frozenset(_RENAMINGS_WORDS.split())
# Text can nest calls so that inlining them grows without bound; a module of honest size stays far below these.
MAX_DEPTH = 60
MAX_NODES = 5_000_000


def flatten(module: Module, labels: Labels) -> Graph:
    """Return the graph of everything that the module's ENTRY computes."""
    graph = Graph(module)
    if module.computations:
        _Walk(graph, labels).run()
    return graph


def leaves(value: Value) -> list[int]:
    """Return the nodes of a value, tuples taken apart in order."""
    if isinstance(value, int):
        return [value]
    found: list[int] = []
    stack: list[Value] = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, int):
            found.append(one)
        else:
            stack.extend(reversed(one))
    return found


class _Walk:
    """The state of one flattening."""

    def __init__(self, graph: Graph, labels: Labels) -> None:
        self.graph = graph
        self.label_numbers = labels
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.label_cache: dict[tuple[str, ...], Label] = {}
        self.walked: dict[Computation, int] = {}
        self.active: list[Computation] = []
        # What one kernel already holds, so that it lists every node once.
        self.held: set[int] = set()

    def run(self) -> None:
        graph = self.graph
        entry = graph.module.entry
        arguments: list[Value] = []
        for parameter in entry.parameters:
            arguments.append(self._parameter(parameter, parameter.shape))
        numbers = dict(zip(entry.parameters, arguments, strict=True))
        result = self.computation(entry, numbers, None, ())
        graph.results = leaves(result)
        _tell_apart(graph.kernels)

    def _parameter(self, instruction: Instruction, shape: Shape) -> Value:
        if shape.element_type == "tuple":
            return tuple(self._parameter(instruction, element) for element in shape.tuple_shapes)
        node = self.add(Kind.PARAMETER, self.label_numbers.number(("parameter", *_form(shape))), (), instruction)
        self.graph.parameters.append(node)
        return node

    # Nodes

    def add(
        self,
        kind: int,
        label: int,
        operands: tuple[int, ...],
        instruction: Instruction,
        loose: int = 0,
        commutative: bool = False,
    ) -> int:
        """Append a node and return its number."""
        graph = self.graph
        graph.kinds.append(kind)
        graph.labels.append(label)
        graph.loose.append(loose or label)
        graph.commutative.append(commutative)
        graph.operands.append(operands)
        graph.instructions.append(instruction)
        graph.places.append([])
        return len(graph.kinds) - 1

    def once(self, kind: int, label: int, operands: tuple[int, ...], instruction: Instruction) -> int:
        """Return the node of that label and operands, made if it is not there yet."""
        key = (label, operands)
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = self.add(kind, label, operands, instruction)
        return node

    def unknown(self, instruction: Instruction) -> int:
        return self.add(
            Kind.UNKNOWN, self.label_numbers.number(("unknown", *_form(instruction.shape))), (), instruction
        )

    def operation(self, instruction: Instruction, operands: list[int], kernel: Kernel | None) -> int:
        """Return the node of a primitive operation, and note that it stands in `kernel`."""
        graph = self.graph
        label = self.label(instruction)
        if label.renaming and operands:
            return operands[0]
        if label.swap:
            operands.reverse()
        if label.commutative:
            operands.sort()
        key = (label.strict, tuple(operands))
        node = None if instruction.opcode in EFFECTFUL or instruction.opcode in COLLECTIVE else self.known.get(key)
        if node is None:
            node = self.add(Kind.OPERATION, *key, instruction, label.loose, label.commutative)
            self.known[key] = node
        else:
            graph.doubles.setdefault(node, []).append(instruction)
        if kernel is None:
            graph.places[node].append(-1)
        else:
            graph.places[node].append(kernel.index)
            if node not in self.held:
                self.held.add(node)
                kernel.operations.append(node)
        return node

    def label(self, instruction: Instruction) -> Label:
        # Metadata comes late among the attributes and is what differs from one instruction to the next.
        text = instruction.attribute_text
        cut = text.find(", metadata={")
        key = (
            instruction.opcode,
            instruction.shape_text,
            text if cut < 0 or instruction.opcode == "custom-call" else text[:cut],
            instruction.operand_text if instruction.opcode == "constant" else "",
            *[operand.shape_text for operand in instruction.operands],
        )
        label = self.label_cache.get(key)
        if label is None:
            label = self.label_cache[key] = self.label_numbers.of(instruction)
        return label

    # Computations

    def computation(
        self, computation: Computation, values: dict[Instruction, Value], kernel: Kernel | None, scope: tuple[str, ...]
    ) -> Value:
        """Walk a computation whose parameters have `values`; return the value of its root."""
        self.active.append(computation)
        self.walked[computation] = self.walked.get(computation, 0) + 1
        for instruction in computation.instructions:
            if instruction in values:
                continue
            values[instruction] = self.step(instruction, values, kernel, scope)
        self.active.pop()
        return values[computation.root] if computation.instructions else ()

    def enter(
        self,
        computation: Computation,
        arguments: Sequence[Value],
        kernel: Kernel | None,
        scope: tuple[str, ...],
    ) -> Value:
        """Walk a called computation with its arguments by parameter number."""
        values: dict[Instruction, Value] = {}
        for parameter in computation.parameters:
            number = parameter.parameter_number
            if number is not None and number < len(arguments):
                values[parameter] = arguments[number]
        return self.computation(computation, values, kernel, scope)

    def may_enter(self, computation: Computation) -> bool:
        return (
            computation not in self.active
            and len(self.active) < MAX_DEPTH
            and len(self.graph.kinds) + len(computation) < MAX_NODES
            and bool(computation.instructions)
        )

    def step(
        self, instruction: Instruction, values: dict[Instruction, Value], kernel: Kernel | None, scope: tuple[str, ...]
    ) -> Value:
        """Return the value of one instruction."""
        operands = [values[operand] if operand in values else self.unknown(operand) for operand in instruction.operands]
        if kernel is None and is_kernel(instruction):
            kernel = self.kernel(instruction, kernel_class(instruction), scope)
            kernel.inputs = tuple(leaves(tuple(operands)))
            value = self.value(instruction, operands, kernel, scope)
            kernel.outputs = tuple(leaves(value))
            return value
        return self.value(instruction, operands, kernel, scope)

    def value(
        self, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
    ) -> Value:
        """Return what an instruction makes of its operands, inside `kernel` or outside every kernel."""
        opcode = instruction.opcode
        if opcode in RENAMINGS and operands:
            return operands[0]
        if opcode == "tuple":
            return tuple(operands)
        if opcode == "get-tuple-element" and operands:
            return self.element(instruction, operands[0])
        if opcode == "parameter":
            return self.unknown(instruction)
        special = _SPECIAL.get(opcode)
        if special is not None:
            value = special(self, instruction, operands, kernel, scope)
            if value is not None:
                return value
        return self.primitive(instruction, operands, kernel)

    def primitive(self, instruction: Instruction, operands: list[Value], kernel: Kernel | None) -> int:
        flat: list[int] = []
        for operand in operands:
            if isinstance(operand, int):
                flat.append(operand)
            else:
                flat.extend(leaves(operand))
        return self.operation(instruction, flat, kernel)

    def element(self, instruction: Instruction, value: Value) -> Value:
        text = instruction.attributes.get("index", "0")
        index = int(text[:9]) if text[:9].isascii() and text[:9].isdigit() else 0
        if not isinstance(value, int):
            return value[index] if index < len(value) else self.unknown(instruction)
        return self.once(Kind.ELEMENT, self.label_numbers.number(("element", index)), (value,), instruction)

    def kernel(self, instruction: Instruction, found: str, scope: tuple[str, ...]) -> Kernel:
        kernels = self.graph.kernels
        again = self.walked.get(instruction.computation, 0) > 1
        name = "/".join((*scope, instruction.name)) if again else instruction.name
        kernel = Kernel(len(kernels), name, instruction, found, scope)
        kernel.read_bytes = sum(operand.shape.byte_size for operand in set(instruction.operands))
        kernel.written_bytes = instruction.shape.byte_size
        kernels.append(kernel)
        self.held = set()
        return kernel


def _tell_apart(kernels: list[Kernel]) -> None:
    """Put the computation before names that occur twice: names are unique in one computation alone."""
    counts = Counter(kernel.name for kernel in kernels)
    for kernel in kernels:
        if counts[kernel.name] > 1:
            kernel.name = f"{kernel.instruction.computation.name}/{kernel.name}"
    counts = Counter(kernel.name for kernel in kernels)
    for kernel in kernels:
        if counts[kernel.name] > 1:
            kernel.name = f"{kernel.name}#{kernel.index}"


def _form(shape: Shape) -> tuple[object, ...]:
    return (shape.element_type, squeezed(shape))


# Each of these returns the value of an instruction that packs others, or None where it is to be taken as primitive.


def _fusion(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    called = instruction.called
    if len(called) != 1 or not walk.may_enter(called[0]):
        return None
    inside = scope if kernel is not None else (*scope, instruction.name)
    return walk.enter(called[0], operands, kernel, inside)


def _async_start(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    """Take `async-start` as what it wraps: `async-update` and `async-done` then rename that."""
    return _fusion(walk, instruction, operands, kernel, scope)


def _first_operand(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    return operands[0] if operands else None


def _while(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    roles = instruction.called_by_role
    bodies, conditions = roles.get("body", ()), roles.get("condition", ())
    if len(bodies) != 1 or len(conditions) != 1 or len(operands) != 1:
        return None
    body, condition = bodies[0], conditions[0]
    if not walk.may_enter(body) or not walk.may_enter(condition):
        return None
    number = walk.label_numbers.number
    before = operands[0] if isinstance(operands[0], tuple) else _taken_apart(walk, instruction, operands[0])
    constant = _unchanged_elements(body)
    carried: list[Value] = []
    for index, value in enumerate(before):
        if index in constant or not isinstance(value, int):
            carried.append(value)
            continue
        shapes = instruction.shape.tuple_shapes
        form = _form(shapes[index]) if index < len(shapes) else ()
        carried.append(walk.add(Kind.CARRIED, number(("carried", *form)), (value,), instruction))
    inside = (*scope, instruction.name)
    argument = tuple(carried)
    test = walk.enter(condition, [argument], kernel, (*inside, "condition"))
    after = walk.enter(body, [argument], kernel, inside)
    walk.add(Kind.LOOP, number("loop"), tuple(leaves(test)), instruction)
    exits: list[Value] = []
    for index, value in enumerate(carried):
        update = after[index] if isinstance(after, tuple) and index < len(after) else value
        if isinstance(value, int) and isinstance(update, int) and index not in constant:
            walk.graph.updates[value] = update
            exits.append(walk.add(Kind.EXIT, number("exit"), (value, update), instruction))
        else:
            exits.append(update)
    return tuple(exits)


def _taken_apart(walk: _Walk, instruction: Instruction, value: int) -> tuple[Value, ...]:
    count = len(instruction.shape.tuple_shapes)
    if not count:
        return (value,)
    number = walk.label_numbers.number
    return tuple(walk.once(Kind.ELEMENT, number(("element", at)), (value,), instruction) for at in range(count))


def _unchanged_elements(body: Computation) -> set[int]:
    """Return which elements of its tuple a loop body passes on as they are: those are no loop state at all."""
    root = body.root
    found: set[int] = set()
    if root.opcode != "tuple":
        return found
    for index, operand in enumerate(root.operands):
        while operand.opcode in RENAMINGS and operand.operands:
            operand = operand.operands[0]
        if (
            operand.opcode == "get-tuple-element"
            and operand.operands
            and operand.operands[0].opcode == "parameter"
            and operand.attributes.get("index") == str(index)
        ):
            found.add(index)
    return found


def _conditional(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    branches = instruction.called
    if not branches or len(operands) != len(branches) + 1 or not all(walk.may_enter(branch) for branch in branches):
        return None
    results = [
        leaves(walk.enter(branch, [argument], kernel, (*scope, instruction.name)))
        for branch, argument in zip(branches, operands[1:], strict=True)
    ]
    label = walk.label_numbers.number(("choice", len(branches)))
    predicate = leaves(operands[0])
    choices = [
        walk.add(Kind.CHOICE, label, (*predicate, *values), instruction) for values in zip(*results, strict=False)
    ]
    return tuple(choices) if instruction.shape.element_type == "tuple" or len(choices) != 1 else choices[0]


def _library_call(
    walk: _Walk, instruction: Instruction, operands: list[Value], kernel: Kernel | None, scope: tuple[str, ...]
) -> Value | None:
    """Take a library's product as a `dot`: the first of its results is the product, the rest its scratch memory."""
    if instruction.shape.element_type != "tuple" or plain_product(instruction) is None:
        return None
    product = walk.primitive(instruction, operands, kernel)
    return (product, *_taken_apart(walk, instruction, product)[1:])


_SPECIAL = {
    "fusion": _fusion,
    "custom-call": _library_call,
    "call": _fusion,
    "async-start": _async_start,
    "fusion-start": _async_start,
    "call-start": _async_start,
    "async-update": _first_operand,
    "async-done": _first_operand,
    "fusion-done": _first_operand,
    "call-done": _first_operand,
    "while": _while,
    "conditional": _conditional,
}
