"""Attributes: where each value ends, and what it says."""

from __future__ import annotations

import pytest

from xlacompare.hlo.attributes import parse_backend_config, parse_metadata, split_attributes, unquote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (", kind=kLoop, calls=%f", {"kind": "kLoop", "calls": "%f"}),
        (", replica_groups=[2,4]<=[8]T(1,0), a=1", {"replica_groups": "[2,4]<=[8]T(1,0)", "a": "1"}),
        (', backend_config="a } \\" , b=", c=1', {"backend_config": '"a } \\" , b="', "c": "1"}),
        (', backend_config={"a":{"b":"}"}}, c=1', {"backend_config": '{"a":{"b":"}"}}', "c": "1"}),
        (
            ', metadata={op_name="x, y={"}, d=b01f_01io->b01f',
            {"metadata": '{op_name="x, y={"}', "d": "b01f_01io->b01f"},
        ),
        (", outfeed_shape=(f32[3]{0}, u32[]), k=5", {"outfeed_shape": "(f32[3]{0}, u32[])", "k": "5"}),
        (", literal=s32[] 1", {"literal": "s32[] 1"}),
        (", control-predecessors={%a, %b}", {"control-predecessors": "{%a, %b}"}),
        (",a=1,b={}", {"a": "1", "b": "{}"}),
        (",\n   a=1,\n   b={1,\n 2}", {"a": "1", "b": "{1,\n 2}"}),
        (", a=1, a=2", {"a": "1"}),
        (", a={1, b=2", {"a": "{1, b=2"}),
        (", sharding={mesh['a'=2], [{'a'}, {?}]}", {"sharding": "{mesh['a'=2], [{'a'}, {?}]}"}),
        (", [synthetic_call], a=1", {"a": "1"}),
    ],
)
def test_where_values_end(text: str, expected: dict[str, str]) -> None:
    assert dict(split_attributes(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":{"n":"10"}}', {"a": {"n": "10"}}),
        ('"{\\"alpha\\":1,\\"note\\":\\"a } b\\"}"', {"alpha": 1, "note": "a } b"}),
        ('"__cublas$gemm"', "__cublas$gemm"),
        ("{a = 1 : i32}", "{a = 1 : i32}"),
    ],
)
def test_backend_config_in_its_styles(text: str, expected: object) -> None:
    assert parse_backend_config(text) == expected


def test_metadata_with_commas_and_nested_braces() -> None:
    found = parse_metadata('{op_type="Mul", op_name="a b=1" source_line=12 profile_type={1}}')
    assert dict(found) == {"op_type": "Mul", "op_name": "a b=1", "source_line": 12, "profile_type": "1"}


def test_unquote_knows_escapes() -> None:
    assert unquote("'a\\'b\\n\\x41\\101'") == "a'b\nAA"
