"""Library calls that compute a primitive operation: what they compute, whatever the library and its settings.

GPU compilers turn a `dot` into a cuBLAS call and a convolution into a cuDNN call, whose configuration says both what is
computed and how (which algorithm, which queue). Only the former tells two calls apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from xlacompare.hlo import Instruction

_GEMMS = frozenset({"__cublas$gemm", "__cublas$lt$matmul"})
# Settings of how, by name without `_`: XLA renames them from version to version.
_HOW_WORDS = """
    algorithm selectedalgorithm tensoropsenabled operationqueueid waitonoperationqueues forceearliestschedule
    reificationcost devicetype lhsstride rhsstride batchsize autotuneworkspacesize workspacesize precisionconfig gradx
    grady damaxoutput"""
_HOW = frozenset(_HOW_WORDS.split())
# What a setting is where it is left out.
_DEFAULTS: Mapping[str, Hashable] = {
    "alphareal": 1.0,
    "alphaimag": 0.0,
    "beta": 0.0,
    "epilogue": "DEFAULT",
    "convresultscale": 1.0,
    "sideinputscale": 0.0,
    "leakyrelualpha": 0.0,
    "activationmode": "kNone",
}
_UNDERSCORE = re.compile("_")
MAX_DEPTH = 32


class DotDimensions(NamedTuple):
    """Which dimensions of the two operands a `dot` contracts and which it keeps apart: (left, right) each."""

    contracting: tuple[tuple[int, ...], tuple[int, ...]]
    batch: tuple[tuple[int, ...], tuple[int, ...]]


def plain_product(instruction: Instruction) -> DotDimensions | None:
    """Return the dimensions of a call that is a `dot` and nothing else; None for all others.

    A call that scales its product or adds to it is more than a `dot`.
    """
    if instruction.custom_call_target not in _GEMMS or len(instruction.operands) != 2:
        return None
    settings = dict(settings_of_what(instruction))
    numbers = settings.pop("dotdimensionnumbers", None)
    if settings or not isinstance(numbers, tuple):
        return None
    found = {name: _integers(value) for name, value in numbers}
    return DotDimensions(
        (found.get("lhscontractingdimensions", ()), found.get("rhscontractingdimensions", ())),
        (found.get("lhsbatchdimensions", ()), found.get("rhsbatchdimensions", ())),
    )


def settings_of_what(instruction: Instruction) -> tuple[tuple[str, Hashable], ...]:
    """Return the settings of a call that change what it computes, defaults left out, in one order and spelling.

    A configuration that is none, or nests deeper than any that XLA writes, is taken as the text that it is.
    """
    config = instruction.backend_config
    if not config:
        return ()
    if isinstance(config, Mapping):
        try:
            return _settings(config, MAX_DEPTH)
        except RecursionError:
            pass
    return (("config", config if isinstance(config, str) else instruction.attributes["backend_config"]),)


def _settings(config: Mapping[str, object], depth: int) -> tuple[tuple[str, Hashable], ...]:
    found: dict[str, Hashable] = {}
    for key, value in config.items():
        name = _UNDERSCORE.sub("", str(key)).lower()
        if name in _HOW:
            continue
        plain = _plain(value, depth)
        if isinstance(value, Mapping) and isinstance(plain, tuple) and name.endswith("backendconfig"):
            # Newer versions wrap the settings of the library in a message that all calls share.
            found.update(plain)
        elif _DEFAULTS.get(name, found) != plain:
            found[name] = plain
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def _plain(value: object, depth: int) -> Hashable:
    """Return a setting's value; numbers are numbers even where they are spelled as text."""
    if depth == 0:
        raise RecursionError
    if isinstance(value, Mapping):
        return _settings(value, depth - 1)
    if isinstance(value, list):
        return tuple(_plain(each, depth - 1) for each in value)
    try:
        number = float(value) if isinstance(value, (bool, int, float)) else float(str(value))
    except (ValueError, OverflowError):
        return str(value)
    # What is no number is not even equal to itself.
    return str(value) if math.isnan(number) else number


def _integers(value: Hashable) -> tuple[int, ...]:
    if not isinstance(value, tuple):
        return ()
    return tuple(int(each) for each in value if isinstance(each, float) and each.is_integer())
