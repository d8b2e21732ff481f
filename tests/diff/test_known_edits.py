"""Known edits of real dumps: each is found exactly where it was made, and nowhere else."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.diff import edits
from tests.diff.edits import Program, take_apart
from xlacompare.diff import Diff, diff
from xlacompare.hlo import Module, read_text

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]
MODELS = (("linear", "grad"), ("mlp", "grad"), ("mlp", "train_step"))
# 8 properties of 320 cases each.
MANY = settings(
    max_examples=320, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
SEEDS = st.integers(0, 2**32)
WHICH = st.integers(0, 2 * len(MODELS) - 1)


class Programs(list[tuple[Module, Program]]):
    """The modules and their texts taken apart; a failing case must not print all of them."""

    def __repr__(self) -> str:
        return "programs"


@pytest.fixture(scope="module")
def programs(dumped: Callable[..., tuple[Module, Module]]) -> Programs:
    """Both frameworks' modules, without metadata, and taken apart."""
    found = Programs()
    for model, variant in MODELS:
        for module in dumped(model, variant):
            program = take_apart(module.source_text.text)
            plain = read_text(program.text())[0]
            assert diff(module, plain).operation_counts["left_only"] == 0
            found.append((plain, program))
    return found


def edited(program: Program, edit: Callable[[Program], object]) -> Module:
    changed = copy.deepcopy(program)
    edit(changed)
    return read_text(changed.text())[0]


def unique_operations(found: Diff) -> list[tuple[str, str]]:
    """Return (computation, name) of operations inside fusions that stand in one place alone."""
    graph = found.graphs[0]
    inside = {kernel.instruction.called[0].name for kernel in graph.kernels if kernel.instruction.opcode == "fusion"}
    return [
        (graph.instructions[node].computation.name, graph.instructions[node].name)
        for node in graph.operations()
        if len(graph.places[node]) == 1 and graph.instructions[node].computation.name in inside
    ]


@MANY
@given(which=WHICH, seed=SEEDS)
def test_renamed_reordered_and_reparametered_copies_are_identical(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    rng = random.Random(seed)
    how = rng.choice(
        [
            [edits.renamed],
            [edits.reordered],
            [edits.reparametered],
            [edits.renamed, edits.reordered, edits.reparametered],
        ]
    )

    def edit(changed: Program) -> None:
        for one in how:
            one(changed, rng)

    found = diff(module, edited(program, edit))
    assert found.identical, [(group.verdict, group.notes) for group in found.groups]


@MANY
@given(which=WHICH, seed=SEEDS)
def test_an_altered_operation_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    choices = [
        (body, name)
        for body, name in unique_operations(diff(module, module))
        if program.body(body).line(name).opcode in edits.SWAPPED_OPCODES
    ]
    body, name = random.Random(seed).choice(choices)
    found = diff(module, edited(program, lambda changed: edits.altered(changed, changed.body(body), name)))
    left, right = found.matching.unmatched(0), found.matching.unmatched(1)
    assert [found.graphs[0].instructions[node].name for node in left] == [name]
    assert [found.graphs[1].instructions[node].name for node in right] == [name]
    assert_only_touched(found, {body})


@MANY
@given(which=WHICH, seed=SEEDS)
def test_a_constant_of_another_value_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    before = diff(module, module).graphs[0]
    # A constant of the operation graph may be written down in several computations: all of them get the new value.
    nodes = [
        node
        for node in before.operations()
        if before.instructions[node].opcode == "constant" and before.instructions[node].shape.element_type == "f32"
    ]
    node = random.Random(seed).choice(nodes)
    written = [before.instructions[node], *before.doubles.get(node, [])]

    def edit(changed: Program) -> None:
        for instruction in written:
            edits.revalued(changed, changed.body(instruction.computation.name), instruction.name)

    found = diff(module, edited(program, edit))
    counts = found.operation_counts
    assert not found.identical
    assert counts["left_only"] == counts["right_only"] == 0
    assert [
        (found.graphs[0].instructions[one].literal, found.graphs[1].instructions[found.matching.to_right[one]].literal)
        for one in found.revalued
    ] == [(written[0].literal, "0.734375")]
    touched = {kernel.name for kernel in found.constant_kernels[0][found.revalued[0]]}
    different = [group for group in found.groups if group.verdict != "identical"]
    assert {kernel.name for group in different for kernel in found.kernels(group, 0)} == touched
    assert {group.notes for group in different} == {("constants",)}


@MANY
@given(which=WHICH, seed=SEEDS)
def test_a_removed_operation_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    rng = random.Random(seed)
    choices = []
    for body_name, name in unique_operations(diff(module, module)):
        body = program.body(body_name)
        line = body.line(name)
        operands = [one for one in line.operands if body.line(one).shape == line.shape]
        if operands and not line.root and line.opcode not in ("broadcast", "constant"):
            choices.append((body_name, name, operands))
    assume(choices)
    body_name, name, operands = rng.choice(choices)
    operand = rng.choice(operands)
    right = edited(program, lambda changed: edits.removed(changed, changed.body(body_name), name, operand))
    found = diff(module, right)
    # What became equal to something else by the removal is gone as well; those cases prove nothing.
    assume(found.operation_counts["right"] == found.operation_counts["left"] - 1)
    assert [found.graphs[0].instructions[node].name for node in found.matching.unmatched(0)] == [name]
    assert found.matching.unmatched(1) == []


@MANY
@given(which=WHICH, seed=SEEDS)
def test_a_duplicated_operation_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    rng = random.Random(seed)
    choices = []
    for body_name, name in unique_operations(diff(module, module)):
        line = program.body(body_name).line(name)
        users = program.body(body_name).users(name)
        if users and line.opcode not in ("constant", "broadcast", "iota"):
            choices.append((body_name, name, users))
    assume(choices)
    body_name, name, users = rng.choice(choices)
    user = rng.choice(users).name
    found = diff(
        module, edited(program, lambda changed: edits.duplicated(changed, changed.body(body_name), name, user))
    )
    assert found.operation_counts["left_only"] == found.operation_counts["right_only"] == 0
    repeated = [node for group in found.groups for node in found.repeated(group)]
    assert [found.graphs[0].instructions[node].name for node in repeated] == [name]
    assert [group.notes for group in found.groups if group.verdict != "identical"] == [("repeated",)]


def splittable(program: Program) -> list[tuple[str, str, str]]:
    """Return (fusion, computation, cut): places where a fusion can be split with work on both sides of the cut."""
    found = []
    for fusion, body in program.fusions():
        root = next(line for line in body.lines if line.root)
        if root.opcode in ("tuple", "dot") or any(line.opcode == "dot" for line in body.lines):
            continue
        for line in body.lines:
            heavy = line.opcode in (
                "add",
                "multiply",
                "subtract",
                "divide",
                "exponential",
                "maximum",
                "reduce",
                "select",
            )
            if heavy and not line.root:
                found.append((fusion.name, body.name, line.name))
    return found


def split_text(program: Program, seed: int) -> tuple[Module, str, tuple[str, str]]:
    fusion, body, cut = random.Random(seed).choice(splittable(program))
    names: list[tuple[str, str]] = []

    def edit(changed: Program) -> None:
        names.append(edits.split(changed, changed.entry.line(fusion), changed.body(body), cut))

    return edited(program, edit), fusion, names[0]


@MANY
@given(which=WHICH, seed=SEEDS)
def test_a_split_fusion_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    right, fusion, names = split_text(program, seed)
    found = diff(module, right)
    assert_regrouped(found, "split", [fusion], list(names))


@MANY
@given(which=WHICH, seed=SEEDS)
def test_a_merged_fusion_is_found_and_nothing_else(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    left, fusion, names = split_text(program, seed)
    found = diff(left, module)
    assert_regrouped(found, "merged", list(names), [fusion])


@MANY
@given(which=WHICH, seed=SEEDS)
def test_two_edits_at_once_are_both_found(programs: Programs, which: int, seed: int) -> None:
    module, program = programs[which]
    rng = random.Random(seed)
    choices = [
        (body, name)
        for body, name in unique_operations(diff(module, module))
        if program.body(body).line(name).opcode in edits.SWAPPED_OPCODES
    ]
    assume(len(choices) > 1)
    first, second = rng.sample(choices, 2)

    def edit(changed: Program) -> None:
        for body, name in (first, second):
            edits.altered(changed, changed.body(body), name)
        edits.renamed(changed, rng)

    found = diff(module, edited(program, edit))
    left = {found.graphs[0].instructions[node].name for node in found.matching.unmatched(0)}
    # An addition that became a subtraction, and one the other way round, may also be told as having changed places.
    opcodes = {program.body(body).line(name).opcode for body, name in (first, second)}
    if len(opcodes) == 1:
        assert left == {first[1], second[1]}
        assert len(found.matching.unmatched(1)) == 2
    else:
        assert left <= {first[1], second[1]}


def assert_only_touched(found: Diff, computations: set[str]) -> None:
    for group in found.groups:
        inside = {
            kernel.instruction.called[0].name
            for kernel in found.kernels(group, 0)
            if kernel.instruction.opcode == "fusion"
        }
        if not inside & computations:
            assert group.verdict == "identical", (group.verdict, group.notes)


def assert_regrouped(found: Diff, verdict: str, left: list[str], right: list[str]) -> None:
    assert found.operation_counts["left_only"] == found.operation_counts["right_only"] == 0
    different = [group for group in found.groups if group.verdict != "identical"]
    assert [group.verdict for group in different] == [verdict]
    assert [kernel.name for kernel in found.kernels(different[0], 0)] == left
    assert [kernel.name for kernel in found.kernels(different[0], 1)] == right
