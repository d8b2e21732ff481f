"""Texts that nobody prints: read or refused in time linear in their size, however deep, without a crash."""

from __future__ import annotations

import contextlib
import time

import pytest

from xlacompare.errors import HloError
from xlacompare.hlo import canonical_text, print_module, read_text

MEGABYTE = 1 << 20
# Alone on a free machine each takes a fraction of this; tests share it.
LIMIT_S = 2.0
OPEN = "HloModule m\nENTRY e {\n"

UNITS = {
    "braces": "{",
    "parentheses": "(",
    "closing braces": "}",
    "closing parentheses": ")",
    "brackets": "[",
    "quotes": '"',
    "apostrophes": "'",
    "apostrophe and backslash": "'\\",
    "quote and backslash": '\\"',
    "backslashes": "\\",
    "commas": ",",
    "percent signs": "%",
    "equal signs": " = ",
    "equal signs alone": "=",
    "spaces": " ",
    "newlines": "\n",
    "tabs and newlines": "\t\n",
    "stars and slashes": "/*",
    "slashes": "/",
    "line comments": "//\n",
    "arrows": ") -> ",
    "letters": "a",
    "digits": "7",
    "hashes": "%a#0#1 ",
    "minus": "-",
    "roots": "ROOT ",
    "entries": "ENTRY e {\n",
    "entries on one line": "ENTRY e { ",
    "headers": "HloModule m\n",
    "headers with a comma": "HloModule m,\n",
    "headers with an open brace": "HloModule m, a={\n",
    "tables": "FileNames\n",
    "table rows": 'FileNames\n1 "a"\n',
    "separators": "// -----\n",
    "marks": "*** Begin x ***\n",
    "computations": "%c (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n\n",
    "computations without end": "%c (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n",
    "signatures without end": "%c (p: f32[], \n",
    "instructions": "  %p = f32[] parameter(0)\n",
    "instructions without end": "  %p = f32[] add(\n",
    "instructions without opcode": "  %p = f32[]\n",
    "instructions on one line": "%p = f32[] parameter(0) ",
    "wrapped instructions": "%p =\nf32[]\nparameter(\n0\n)\n",
    "nested instructions": "add(",
    "nested with shapes": "f32[2] add(f32[2] ",
    "inline computations": " to_apply={ a = f32[] map(), ",
    "attributes": ", a=1",
    "attributes without value": ", a=",
    "attributes of braces": ", a={{",
    "attributes of quotes": ', a="',
    "tuple shapes": "(f32[2], ",
    "buffers": "b(",
    "short async": "  %s = ((f32[]), f32[], s32[]) add-start(%p)\n",
    "log lines": "I0000 00:00:1796061924.852568   32389 port.cc:153] x\n",
    "log prefixes": "I0000 00:00:1796061924.852568 ",
    "junk": "this is no HLO at all\n",
    "carriage returns": "\r",
    "placeholders": "$0 = $1[] ${add}($2)\n",
    "nulls": "\0",
    "wide characters": "\U0001f600",
}
PREFIXES = {
    "": "",
    "in a computation": OPEN,
    "in an operand list": OPEN + "  %x = f32[] add(",
    "in an attribute": OPEN + "  %x = f32[] add(), a=",
    "in a shape": OPEN + "  %x = (",
    "in a header": "HloModule m, a=",
}


def read_all(text: str) -> None:
    """Read a text as a user would, down to the last attribute; the reader's own error is an answer."""
    try:
        modules = read_text(text)
    except HloError:
        return
    for module in modules:
        module.check()
        for computation in module.computations:
            for instruction in computation.instructions:
                _ = instruction.attributes, instruction.shape, instruction.source
        print_module(module)


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
def test_much_of_one_thing_is_read_in_linear_time(prefix: str) -> None:
    for name, unit in UNITS.items():
        text = prefix + unit * (MEGABYTE // 16 // len(unit))
        started = time.process_time()
        read_all(text)
        # A sixteenth of the text in a quarter of the time leaves room for a busy machine, and none for a square.
        assert time.process_time() - started < LIMIT_S / 4, name


@pytest.mark.slow
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES.keys())
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_a_megabyte_of_one_thing_takes_under_two_seconds(unit: str, prefix: str) -> None:
    text = prefix + unit * (MEGABYTE // len(unit))
    started = time.process_time()
    with contextlib.suppress(HloError):
        read_text(text)
    assert time.process_time() - started < LIMIT_S


DEEP = 10_000


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("ROOT p = " + "(" * DEEP + "f32[2]" + ")" * DEEP + " parameter(0) }", ""),
        ("p = f32[] parameter(0) ROOT r = " + "f32[] negate(" * DEEP + "p" + ")" * DEEP + " }", ""),
        ("p = f32[] parameter(0), x=" + "{" * DEEP + "}" * DEEP + " }", ""),
        ("ROOT p = f32[] constant(" + "{" * DEEP + "}" * DEEP + ") }", ""),
        ("a = f32[] map(), to_apply={ " * DEEP + "}" * DEEP, "\n}"),
        ("p = f32[] custom-call(), backend_config=" + '{"a":' * DEEP + "1" + "}" * DEEP, "\n}"),
    ],
    ids=["tuples", "operands", "attribute", "literal", "inline computations", "JSON"],
)
def test_ten_thousand_levels_are_no_recursion(head: str, tail: str) -> None:
    (module,) = read_text("HloModule m\nENTRY e { " + head + tail)
    for computation in module.computations:
        for instruction in computation.instructions:
            assert instruction.shape.byte_size >= 0
            assert str(instruction.shape) is not None
            _ = instruction.attributes, instruction.backend_config
    printed = print_module(module)
    assert print_module(read_text(printed)[0]) == printed
    assert canonical_text(module)
