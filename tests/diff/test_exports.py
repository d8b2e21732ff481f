"""What leaves a diff for other tools, folders of modules, and the noise floor."""

from __future__ import annotations

import json

from xlacompare.diff import diff
from xlacompare.diff.folding import fold
from xlacompare.diff.model_explorer import graph_collection, sync_navigation
from xlacompare.diff.modules import pair_modules, repeat
from xlacompare.hlo import Module, read_text

LAYER = """  %m.{0} = f32[4]{{0}} multiply(%{1}, %{1})
  %f.{0} = f32[4]{{0}} {2}(%m.{0})
"""


def layers(count: int, opcode: str, name: str = "jit_net") -> Module:
    lines = [
        f"HloModule {name}, is_scheduled=true\n\nENTRY %e (x: f32[4]) -> f32[4] {{\n  %x = f32[4]{{0}} parameter(0)\n"
    ]
    before = "x"
    for layer in range(count):
        lines.append(LAYER.format(layer, before, opcode))
        before = f"f.{layer}"
    lines.append(f"  ROOT %r = f32[4]{{0}} negate(%{before})\n}}\n")
    return read_text("".join(lines))[0]


def test_the_same_difference_in_many_layers_is_folded() -> None:
    found = diff(layers(24, "tanh"), layers(24, "sine"))
    counts = found.operation_counts
    assert counts["left_only"] == counts["right_only"] == 24, counts
    assert {one.first.verdict: one.times for one in fold(found)} == {
        "identical": 24,
        "left_only": 24,
        "right_only": 24,
    } or (sum(one.times for one in fold(found)) == len(found.groups) and len(fold(found)) < 8)


def test_the_exported_mapping_names_nodes_of_the_exported_graphs() -> None:
    found = diff(layers(3, "tanh"), layers(3, "sine"))
    drawn = []
    for side in (0, 1):
        collection = json.loads(json.dumps(graph_collection(found, side)))
        nodes = collection["graphs"][0]["nodes"]
        ids = [node["id"] for node in nodes]
        assert len(ids) == len(set(ids))
        for node in nodes:
            assert all(edge["sourceNodeId"] in ids for edge in node["incomingEdges"])
        drawn.append(set(ids))
    mapping = json.loads(json.dumps(sync_navigation(found)))
    assert mapping["type"] == "sync_navigation"
    for side, key in enumerate(("leftNodeIds", "rightNodeIds")):
        named = [node for entry in mapping["mappingEntries"] for node in entry[key]]
        assert set(named) <= drawn[side]
        assert len(named) == len(set(named))


def test_modules_of_two_folders_are_paired_by_function_and_shapes() -> None:
    step, helper = (
        layers(5, "tanh", "jit_step"),
        read_text("HloModule jit_add\n\nENTRY %e { ROOT %c = s32[] constant(1) }")[0],
    )
    other = layers(6, "tanh", "a_inference_step_12__XlaMustCompile_true_.4")
    pairs = pair_modules([helper, step], [other])
    assert [(pair.left, pair.right) for pair in pairs] == [(helper, None), (step, other)]


def test_equal_compilations_have_no_noise() -> None:
    module = layers(4, "tanh")
    quiet = repeat([module, layers(4, "tanh"), layers(4, "tanh")], diff)
    assert quiet.identical
    assert quiet.different == ()
    noisy = repeat([module, module, layers(4, "sine")], diff)
    assert noisy.different == (3,)
    assert noisy.verdicts
