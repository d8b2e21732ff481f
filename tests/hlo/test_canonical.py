"""Fingerprints: equal where the meaning is, different where it is not."""

from __future__ import annotations

import pytest

from xlacompare.hlo import canonical_text, fingerprint, read_text

BASE = """HloModule m, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%mul (c: f32[4]) -> f32[4] {
  %c = f32[4]{0} parameter(0)
  ROOT %t = f32[4]{0} multiply(%c, %c)
}

ENTRY %main (x: f32[4], y: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0), metadata={op_name="x"}
  %y = f32[4]{0} parameter(1)
  %z = f32[] constant(0.5)
  %f = f32[4]{0} fusion(%x), kind=kLoop, calls=%mul, backend_config={"a":1,"b":{"c":[1,2]}}
  %g = f32[4]{0} subtract(%f, %y), frontend_attributes={k="1",l="2"}
  %r = f32[] reduce(%g, %z), dimensions={0}, to_apply=%add
  ROOT %o = f32[4]{0} broadcast(%r), dimensions={}
}
"""


def changed(*pairs: tuple[str, str]) -> str:
    """Return the base text with some pieces replaced, each of which must be there."""
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


ADD, MUL, MAIN = (part + "}\n" for part in BASE.split("\n\n", 1)[1].split("}\n\n"))
SAME = {
    "names": changed(("%f", "%loop.7"), ("%add ", "%plus "), ("=%add", "=%plus"), ("HloModule m", "HloModule other")),
    "parameter names": changed(("%x", "%Arg_0.1"), ("(x:", "(Arg_0.1:")),
    "metadata": changed(
        (', metadata={op_name="x"}', ""), ("multiply(%c, %c)", "multiply(%c, %c), metadata={op_type='M'}")
    ),
    "JSON key order": changed(('{"a":1,"b":{"c":[1,2]}}', '"{\\"b\\": {\\"c\\": [1, 2]}, \\"a\\": 1}"')),
    "frontend attribute order": changed(('k="1",l="2"', 'l="2", k="1"')),
    "order of computations": BASE.split("\n\n", 1)[0] + "\n\n" + "\n".join([MUL, ADD, MAIN.removesuffix("}\n")]),
    "order of instructions without a schedule": changed(
        ("  %z = f32[] constant(0.5)\n", ""), ("  %r = ", "  %z = f32[] constant(5e-1)\n  %r = ")
    ),
    "operand shapes and comments": changed(("subtract(%f, %y)", "subtract(f32[4]{0} %f, /*index=1*/f32[4] %y)")),
    "a layout that is the default": changed(("%c = f32[4]{0}", "%c = f32[4]")),
}
DIFFERENT = {
    "operand order": changed(("subtract(%f, %y)", "subtract(%y, %f)")),
    "parameter numbers": changed(("%x = f32[4]{0} parameter(0)", "%x = f32[4]{0} parameter(1)"),
                                 ("%y = f32[4]{0} parameter(1)", "%y = f32[4]{0} parameter(0)")),
    "a constant": changed(("constant(0.5)", "constant(0.25)")),
    "its sign": changed(("constant(0.5)", "constant(-0.5)")),
    "an opcode inside a fusion": changed(("multiply(%c, %c)", "add(%c, %c)")),
    "a type": changed(("%z = f32[]", "%z = f16[]")),
    "a JSON value": changed(('"a":1', '"a":2')),
    "an attribute": changed(("kind=kLoop", "kind=kInput")),
    "the root": changed(("  %r = ", "  ROOT %r = "), ("  ROOT %o", "  %o")),
}  # fmt: skip


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_what_means_the_same(text: str) -> None:
    assert canonical_text(read_text(text)[0]) == canonical_text(read_text(BASE)[0])


@pytest.mark.parametrize("text", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_means_something_else(text: str) -> None:
    assert fingerprint(read_text(text)[0]) != fingerprint(read_text(BASE)[0])


def test_a_computation_alone_has_a_fingerprint() -> None:
    one, other = read_text(BASE)[0], read_text(SAME["names"])[0]
    assert fingerprint(one.entry) == fingerprint(other.entry)
    assert len(fingerprint(one)) == 64


def test_the_fingerprint_is_the_same_on_every_machine() -> None:
    module = read_text("HloModule m\nENTRY e { ROOT p = f32[2]{0} parameter(0) }")[0]
    assert canonical_text(module) == (
        "entry_computation_layout={(f32[2])->f32[2]}\n\nENTRY {\nROOT %0=f32[2] parameter(0)\n}\n"
    )
