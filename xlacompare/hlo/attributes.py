"""Attributes of an instruction or a header: `, name=value` pairs kept verbatim, and readings of single
values.

Nothing here knows which attributes exist. A value ends at the comma of its own level; what is inside
brackets, strings and comments belongs to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from xlacompare.hlo.source import UNCLOSED, Brackets, mask_text

# The attributes whose values are computations, in no order: the order is the text's.
COMPUTATION_ROLES = frozenset(
    {
        "body",
        "branch_computations",
        "called_computations",
        "calls",
        "comparator",
        "condition",
        "false_computation",
        "scatter",
        "select",
        "to_apply",
        "true_computation",
    }
)
# `name=` and a value of one plain piece: what almost every attribute is.
_PLAIN = re.compile(r',\s*([A-Za-z_][\w.-]*)=("[^"\\]*"|\{[^{}"\'/]*\}|[^\s,(){}\[\]"\'/]+)(?=,|\Z)')
_NAME = re.compile(r"\s*([^\s=,(){}\[\]\"]+)\s*=\s*")
_TOKEN = re.compile(r'[^\s,(){}\[\]"]+')
_BLANK = re.compile(r"\s*")
_JOINS_BEFORE = "<>=*-"
_NEXT_INSTRUCTION = re.compile(r"(?:ROOT\s|[^\s(){}\[\],=:\"]+\s*=(?!=))")
_METADATA = re.compile(r'([A-Za-z_]\w*)=(?:"((?:[^"\\]|\\.)*)"|\{([^{}]*)\}|([^\s"{},]+))', re.DOTALL)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_REFERENCE = re.compile(r"%?([^\s{},%]+)")


def split_attributes(text: str) -> dict[str, str]:
    """Return the attributes of `, a=1, b={…}` by name, values verbatim. What is no pair is left out; the
    first of two wins.

    >>> split_attributes(', dimensions={1}, metadata={op_name="a, b"}, calls=%f')
    {'dimensions': '{1}', 'metadata': '{op_name="a, b"}', 'calls': '%f'}
    """
    found: dict[str, str] = {}
    at, end = 0, len(text)
    brackets: Brackets | None = None
    while at < end:
        plain = _PLAIN.match(text, at)
        if plain is not None:
            found.setdefault(plain[1], plain[2])
            at = plain.end()
            continue
        if brackets is None:
            brackets = Brackets(mask_text(text))
        at = _careful_pair(text, brackets, at, found)
    return found


def _careful_pair(text: str, brackets: Brackets, at: int, found: dict[str, str]) -> int:
    """Read the pair that starts at or after `at`; return where the next may start."""
    mask = brackets.mask
    comma = mask.find(",", at)
    if comma < 0:
        return len(text)
    name = _NAME.match(mask, comma + 1)
    if name is None:
        return comma + 1
    stop = value_end(brackets, name.end())
    if stop == UNCLOSED:
        stop = len(text)
    found.setdefault(name[1], text[name.end() : stop].strip())
    return max(stop, comma + 1)


def value_end(brackets: Brackets, start: int) -> int:
    """Return where the attribute value at `start` of the mask ends; `UNCLOSED` if a bracket stays open."""
    mask, at = brackets.mask, start
    size = len(mask)
    while at < size:
        character = mask[at]
        if character in "([{":
            close = brackets.close(at)
            if close == UNCLOSED:
                return UNCLOSED
            at = close + 1
        elif character == '"':
            close = mask.find('"', at + 1)
            if close < 0:
                return UNCLOSED
            at = close + 1
        elif character in ",)]}":
            return at
        elif character.isspace():
            after = _after_blank(mask, at, start)
            if after == at:
                return at
            at = after
        else:
            token = _TOKEN.match(mask, at)
            at = token.end() if token else at + 1
    return at


def _after_blank(mask: str, at: int, start: int) -> int:
    """Return where a value goes on after the space at `at`; `at` itself where it ends there."""
    blank = _BLANK.match(mask, at)
    after = blank.end() if blank else at
    if after == len(mask) or at == start:
        return after if at == start else at
    if "\n" in mask[at:after]:
        return after if mask[after] == "{" and mask[at - 1] in _JOINS_BEFORE else at
    return at if _NEXT_INSTRUCTION.match(mask, after) else after


def unescape(text: str) -> str:
    r"""Return what a quoted string's inside means.

    >>> unescape(r'a\"b\\c\012')
    'a"b\\c\n'
    """
    return _ESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16) & 0xFF)
    return _ESCAPED.get(code, code)


def unquote(value: str) -> str:
    """Return a value without its quotes and escapes; a value without quotes as it is."""
    if len(value) >= 2 and value[0] in "\"'" and value[-1] == value[0]:
        return unescape(value[1:-1])
    return value


def parse_metadata(value: str) -> Mapping[str, str | int]:
    """Return `{op_name="a" source_line=3}` as a mapping; whole numbers become integers.

    >>> dict(parse_metadata('{op_type="Mul" op_name="x/mul" source_line=3}'))
    {'op_type': 'Mul', 'op_name': 'x/mul', 'source_line': 3}
    """
    found: dict[str, str | int] = {}
    for name, quoted, braced, bare in _METADATA.findall(value):
        if bare and bare.isascii() and bare.isdigit() and len(bare) < 20:
            found[name] = int(bare)
        else:
            found[name] = unescape(quoted) if quoted else braced or bare
    return found


def parse_backend_config(value: str) -> object:
    """Return the configuration parsed where it is JSON (quoted and escaped or bare), else as plain text."""
    plain = unquote(value)
    if plain[:1] not in "{[":
        return plain
    try:
        return json.loads(plain)
    except (ValueError, RecursionError):
        return plain


def referenced_names(value: str) -> list[str]:
    """Return the names in `%f` or `{%a, %b}`, without their percent signs."""
    return _REFERENCE.findall(value)
