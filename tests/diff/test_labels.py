"""Labels look through reshapes: numpy says which operations over other dimensions compute the same."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest

from xlacompare.diff.labels import Labels
from xlacompare.hlo import read_text

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """One operation on operands of f32, as HLO text and as what numpy makes of it."""

    opcode: str
    operands: tuple[Shape, ...]
    result: Shape
    attributes: str
    value: np.ndarray = field(compare=False)

    def label(self, labels: Labels) -> tuple[int, bool]:
        parameters = "".join(f"  p{at} = {spelled(one)} parameter({at})\n" for at, one in enumerate(self.operands))
        names = ", ".join(f"p{at}" for at in range(len(self.operands)))
        reducer = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
        if self.opcode == "reduce":
            parameters += "  zero = f32[] constant(0)\n"
            names += ", zero"
        root = f"  ROOT r = {spelled(self.result)} {self.opcode}({names}){self.attributes}\n"
        module = read_text(f"HloModule m\n\n{reducer}ENTRY e {{\n{parameters}{root}}}\n")[0]
        label = labels.of(module.entry.root)
        return label.strict, label.renaming


def spelled(shape: Shape) -> str:
    return f"f32[{','.join(map(str, shape))}]"


def listed(numbers: list[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def filled(shape: Shape, salt: int) -> np.ndarray:
    return np.random.default_rng(salt).integers(0, 1000, int(np.prod(shape))).reshape(shape).astype(np.int64)


def factors(size: int, rng: random.Random) -> list[int]:
    """Return dimensions whose product is `size`, some of them 1."""
    found = []
    while size > 1:
        factor = rng.choice([one for one in range(2, size + 1) if size % one == 0])
        found.append(factor)
        size //= factor
    for _ in range(rng.choice([0, 0, 1])):
        found.insert(rng.randint(0, len(found)), 1)
    return found


# Each of these makes an operation over blocks of dimensions, split into factors at random: whatever the factors, it
# computes the same.


def broadcast(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    source, result, positions = [], [], {}
    for at, size in enumerate(blocks):
        split = factors(size, rng)
        positions[at] = range(len(result), len(result) + len(split))
        result += split
    for at in kept:
        source += [(position, result[position]) for position in positions[at]]
    shape = tuple(size for _, size in source)
    operand = filled(shape, 1)
    order = sorted(range(len(source)), key=lambda at: source[at][0])
    wide = [1] * len(result)
    for position, size in source:
        wide[position] = size
    value = np.broadcast_to(operand.transpose(order).reshape(wide), result)
    dimensions = listed([position for position, _ in source])
    return Operation("broadcast", (shape,), tuple(result), f", dimensions={dimensions}", value)


def reduce(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    sizes, summed = [], []
    for at, size in enumerate(blocks):
        split = factors(size, rng)
        summed += [] if at in kept else range(len(sizes), len(sizes) + len(split))
        sizes += split
    value = filled(tuple(sizes), 2).sum(axis=tuple(summed))
    return Operation("reduce", (tuple(sizes),), value.shape, f", dimensions={listed(summed)}, to_apply=sum", value)


def transpose(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    sizes, positions = [], {}
    for at, size in enumerate(blocks):
        split = factors(size, rng)
        positions[at] = range(len(sizes), len(sizes) + len(split))
        sizes += split
    order = [*kept, *(at for at in range(len(blocks)) if at not in kept)]
    permutation = [position for at in order for position in positions[at]]
    value = filled(tuple(sizes), 3).transpose(permutation)
    return Operation("transpose", (tuple(sizes),), value.shape, f", dimensions={listed(permutation)}", value)


def concatenate(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    before = factors(blocks[0], rng)
    after = factors(blocks[-1], rng)
    operands = [filled((*before, size, *after), 4 + size) for size in (2, 3)]
    value = np.concatenate(operands, axis=len(before))
    shapes = tuple(one.shape for one in operands)
    return Operation("concatenate", shapes, value.shape, f", dimensions={listed([len(before)])}", value)


def iota(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    before, after, size = factors(blocks[0], rng), factors(blocks[-1], rng), blocks[len(blocks) // 2]
    wide = [1] * len(before) + [size] + [1] * len(after)
    value = np.broadcast_to(np.arange(size).reshape(wide), (*before, size, *after))
    return Operation("iota", (), value.shape, f", iota_dimension={len(before)}", value)


def dot(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    """Multiply with one batch, one contracted and one free block on each side, in an order that `kept` says."""
    roles = {"batch": blocks[0], "contracted": blocks[1], "left": blocks[2], "right": blocks[-1]}
    split = {role: factors(size, rng) for role, size in roles.items()}
    letters, letter = {}, iter("abcdefghijklmnopqrstuvwxyz")
    for role, sizes in split.items():
        letters[role] = [next(letter) for _ in sizes]
    orders = [["batch", "contracted", "left"], ["contracted", "batch", "right"]]
    if 0 in kept:
        orders[0].reverse()
    sides = [[one for role in order for one in letters[role]] for order in orders]
    size_of = {one: size for role in split for one, size in zip(letters[role], split[role], strict=True)}
    operands = [filled(tuple(size_of[one] for one in side), 20 + at) for at, side in enumerate(sides)]
    summed = list(letters["contracted"])
    rng.shuffle(summed)
    out = "".join(letters["batch"] + letters["left"] + letters["right"])
    value = np.einsum(f"{''.join(sides[0])},{''.join(sides[1])}->{out}", *operands)
    attributes = "".join(
        f", {side}_{name}_dims={listed([sides[at].index(one) for one in which])}"
        for name, which in (("batch", letters["batch"]), ("contracting", summed))
        for at, side in enumerate(("lhs", "rhs"))
    )
    return Operation("dot", tuple(one.shape for one in operands), value.shape, attributes, value)


def multiply(blocks: list[int], kept: list[int], rng: random.Random) -> Operation:
    shape = tuple(factor for size in blocks for factor in factors(size, rng))
    operands = filled(shape, 30), filled(shape, 31)
    return Operation("multiply", (shape, shape), shape, "", operands[0] * operands[1])


MAKERS = [broadcast, reduce, transpose, concatenate, iota, dot, multiply]


@pytest.mark.parametrize("make", MAKERS)
def test_equal_labels_are_equal_values_and_the_other_way_round(make: object) -> None:
    """Over the same numbers, two operations of one opcode have one label exactly if numpy makes the same of them."""
    rng = random.Random(0)
    labels = Labels()
    made: dict[tuple[object, ...], list[Operation]] = defaultdict(list)
    for _ in range(400):
        blocks = [rng.choice([1, 2, 3, 4, 6]) for _ in range(4)]
        kept = rng.sample(range(4), rng.randint(0, 4))
        for _ in range(3):
            operation = make(blocks, kept, rng)  # type: ignore[operator]
            counts = tuple(int(np.prod(shape)) for shape in operation.operands)
            made[counts].append(operation)
    pairs = 0
    for operations in made.values():
        by_label: dict[tuple[int, bool], set[bytes]] = defaultdict(set)
        by_value: dict[bytes, set[tuple[int, bool]]] = defaultdict(set)
        for operation in operations:
            label, value = operation.label(labels), operation.value.astype(np.int64).tobytes()
            by_label[label].add(value)
            by_value[value].add(label)
            pairs += len(by_label[label]) == 1
        assert all(len(values) == 1 for label, values in by_label.items() if not label[1])
        # What only renames is looked through, so its label counts for nothing.
        renamings = {value for label, values in by_label.items() if label[1] for value in values}
        assert all(len(found) == 1 for value, found in by_value.items() if value not in renamings)
    assert pairs > 400


@pytest.mark.parametrize("dimensions", ["", ", dimensions={1}", ", dimensions={-7,1}", ", dimensions={1,1}"])
def test_a_transpose_that_is_none_is_still_an_operation(dimensions: str) -> None:
    text = (
        "HloModule m\n\nENTRY e {\n  a = f32[8,16]{1,0} parameter(0)\n"
        f"  ROOT t = f32[16,8]{{1,0}} transpose(a){dimensions}\n}}\n"
    )
    label = Labels().of(read_text(text)[0].entry.root)
    assert not label.renaming


def product(left: Shape, right: Shape, contracted: tuple[int, int]) -> Operation:
    operands = filled(left, 40), filled(right, 41)
    value = np.tensordot(*operands, axes=([contracted[0]], [contracted[1]]))
    attributes = f", lhs_contracting_dims={{{contracted[0]}}}, rhs_contracting_dims={{{contracted[1]}}}"
    return Operation("dot", (left, right), value.shape, attributes, value)


def test_a_matrix_and_a_vector_stand_in_no_order() -> None:
    labels = Labels()
    one, other = product((4, 6), (6,), (1, 0)), product((6,), (4, 6), (0, 1))
    assert one.label(labels) == other.label(labels)
    # Two matrices do: the transposed product is another one.
    one, other = product((4, 6), (6, 4), (1, 0)), product((6, 4), (4, 6), (0, 1))
    assert one.label(labels) != other.label(labels)
