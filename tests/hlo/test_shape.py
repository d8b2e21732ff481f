"""Shapes: what each spelling means and what it weighs."""

from __future__ import annotations

import pytest

from xlacompare.hlo import parse_shape


@pytest.mark.parametrize(
    ("text", "plain", "element_type", "dimensions", "bits"),
    [
        ("f32[]", "f32[]", "f32", (), 32),
        ("f32[2,3]{1,0}", "f32[2,3]", "f32", (2, 3), 192),
        ("f32[ 2, 3 ] {1, 0}", "f32[2,3]", "f32", (2, 3), 192),
        ("pred[8]", "pred[8]", "pred", (8,), 64),
        ("s4[3]{0:E(4)}", "s4[3]", "s4", (3,), 12),
        ("u8[0]{0}", "u8[0]", "u8", (0,), 0),
        ("c128[2]", "c128[2]", "c128", (2,), 256),
        ("f8e4m3b11fnuz[4]", "f8e4m3b11fnuz[4]", "f8e4m3b11fnuz", (4,), 32),
        ("f4e2m1fn[4]", "f4e2m1fn[4]", "f4e2m1fn", (4,), 16),
        ("bf16[8,128]{1,0:T(8,128)(2,1)S(1)}", "bf16[8,128]", "bf16", (8, 128), 16384),
        ("f32[<=128,4]{1,0}", "f32[<=128,4]", "f32", (128, 4), 16384),
        ("f32[?,2]", "f32[?,2]", "f32", (-1, 2), 0),
        ("token[]", "token[]", "token", (), 0),
        ("future9[3]", "future9[3]", "future9", (3,), 0),
        ("$0[3]", "$0[3]", "$0", (3,), 0),
        ("()", "()", "tuple", (), 0),
        ("(f32[2]{0}, (s32[], token[]), /*index=2*/u8[4]{0})", "(f32[2], (s32[], token[]), u8[4])", "tuple", (), 128),
        ("b(f32[4]{0})", "b(f32[4])", "buffer", (), 128),
        ("nonsense", "nonsense", "unknown", (), 0),
        ("f32[x]", "f32[x]", "unknown", (), 0),
        ("(f32[2]", "(f32[2]", "unknown", (), 0),
    ],
)
def test_each_spelling(text: str, plain: str, element_type: str, dimensions: tuple[int, ...], bits: int) -> None:
    shape = parse_shape(text)
    assert (str(shape), shape.element_type, shape.dimensions, shape.bits) == (plain, element_type, dimensions, bits)


def test_a_tpu_layout() -> None:
    layout = parse_shape("bf16[8,128]{1,0:T(8,128)(2,1)S(5)}").layout
    assert layout is not None
    assert layout.minor_to_major == (1, 0)
    assert layout.tiles == ("8,128", "2,1")
    assert layout.memory_space == 5
    assert not layout.is_default(2)


def test_bytes_round_up_per_array() -> None:
    assert parse_shape("(s4[3], s4[1])").byte_size == 3
