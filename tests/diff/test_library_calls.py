"""Calls of GPU libraries: told by what they compute, not by how, and a plain product is a `dot`."""

from __future__ import annotations

import pytest

from xlacompare.diff import Diff, diff
from xlacompare.hlo import read_text

HEAD = """HloModule m, is_scheduled=true

ENTRY e {
  a = f32[8,16]{1,0} parameter(0)
  b = f32[16,4]{1,0} parameter(1)
"""
DOT = HEAD + "  ROOT d = f32[8,4]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
DIMENSIONS = (
    '"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],'
    '"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}'
)
CALL = 'custom-call(a, b), custom_call_target="__cublas$gemm", backend_config='
# As XLA wrote them in 2020, with everything in a string, and in 2024, with the scratch memory as a second result.
OLD_CONFIG = '{"alpha_real":1,"alpha_imag":0,"beta":0,' + DIMENSIONS + ',"batch_size":"1","selected_algorithm":"19"}'
NEW_CONFIG = (
    '{"operation_queue_id":"0","gemm_backend_config":{"alpha_real":1,"beta":0,'
    + DIMENSIONS
    + ',"alpha_imag":0,"precision_config":{"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_UNSET"},'
    '"epilogue":"DEFAULT","lhs_stride":"128","grad_x":false,"grad_y":false},"force_earliest_schedule":false}'
)
OLD = HEAD + "  ROOT c = f32[8,4]{1,0} " + CALL + '"' + OLD_CONFIG.replace('"', '\\"') + '"\n}\n'
NEW = (
    HEAD + "  c = (f32[8,4]{1,0}, s8[4096]{0}) " + CALL + NEW_CONFIG + "\n"
    "  ROOT g = f32[8,4]{1,0} get-tuple-element(c), index=0\n}\n"
)


def compared(left: str, right: str) -> Diff:
    return diff(read_text(left)[0], read_text(right)[0])


@pytest.mark.parametrize(("left", "right"), [(DOT, OLD), (DOT, NEW), (OLD, NEW)])
def test_a_librarys_product_is_a_dot(left: str, right: str) -> None:
    found = compared(left, right)
    assert found.operation_counts == {"left": 1, "right": 1, "matched": 1, "left_only": 0, "right_only": 0}
    assert [(group.verdict, len(group.left), len(group.right)) for group in found.groups] == [("same_operations", 1, 1)]
    assert found.matching.results == [(0, 0)]


@pytest.mark.parametrize(
    ("old", "new"),
    [('"alpha_real":1,', '"alpha_real":0.5,'), ('"beta":0', '"beta":1'), ('"DEFAULT","lhs', '"RELU","lhs')],
)
def test_a_call_that_does_more_is_no_dot(old: str, new: str) -> None:
    assert old in NEW
    changed = NEW.replace(old, new)
    assert compared(DOT, changed).operation_counts["matched"] == 0
    assert compared(NEW, changed).operation_counts["matched"] == 0
    assert compared(changed, changed).identical


def test_another_algorithm_is_the_same_call() -> None:
    found = compared(OLD, OLD.replace("19", "7"))
    assert found.operation_counts["matched"] == 1


def test_other_contracted_dimensions_are_another_product() -> None:
    square = DOT.replace("[16,4]", "[16,16]").replace("[8,16]", "[16,16]").replace("[8,4]", "[16,16]")
    turned = square.replace("rhs_contracting_dims={0}", "rhs_contracting_dims={1}")
    assert [group.notes for group in compared(square, turned).groups] == [("shape",)]


@pytest.mark.parametrize(
    "config",
    [
        '{"dot_dimension_numbers":{"lhs_contracting_dimensions":["inf"]}}',
        '{"dot_dimension_numbers":{"lhs_contracting_dimensions":3},"x":"nan"}',
        '{"x":1' + "0" * 400 + "}",
        '{"a":' * 900 + "1" + "}" * 900,
        '{"a":' + "[" * 900 + "1" + "]" * 900 + "}",
        "[1,2]",
    ],
    ids=["infinite", "no number", "huge", "deep", "deep list", "list"],
)
def test_a_configuration_that_is_none_is_taken_as_it_is(config: str) -> None:
    text = HEAD + "  ROOT c = f32[8,4]{1,0} " + CALL + config + "\n}\n"
    assert compared(text, text).identical
    assert not compared(text, text.replace(config, '{"other":7}')).identical
