"""Two sets of modules, as two dump folders hold them: which module on the left is which on the right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xlacompare.diff.noise import NoiseFloor, noise_floor
from xlacompare.diff.result import Diff
from xlacompare.hlo import Module

_DRESS = re.compile(r"^(?:a_inference_|__inference_|jit_|pjit_|pmap_)|(?:_\d+)?__Xla\w+.*$|[._]\d+$")
# How much being called alike, taking and returning alike, and consisting of alike operations count.
_WEIGHTS = (2.0, 2.0, 1.0)
LEAST_LIKENESS = 1.5


@dataclass(frozen=True, slots=True)
class ModulePair:
    """Two modules that stand for one another; None where one side has none."""

    left: Module | None
    right: Module | None


def pair_modules(left: Sequence[Module], right: Sequence[Module]) -> list[ModulePair]:
    """Pair the modules of two folders, the most alike first; the rest stand alone, in order.

    Names count here, unlike inside a module: both frameworks name a module after the user's function.
    """
    looks = [[_look(module) for module in modules] for modules in (left, right)]
    scores = [(-_likeness(one, other), at, to) for at, one in enumerate(looks[0]) for to, other in enumerate(looks[1])]
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for score, at, to in sorted(scores):
        if -score >= LEAST_LIKENESS and at not in partner and to not in taken:
            partner[at] = to
            taken.add(to)
    pairs = [ModulePair(module, right[partner[at]] if at in partner else None) for at, module in enumerate(left)]
    return pairs + [ModulePair(None, module) for to, module in enumerate(right) if to not in taken]


def repeat(modules: Sequence[Module], diff: Callable[[Module, Module], Diff]) -> NoiseFloor:
    """Return what differs between compilations of one program, each against the first.

    Args:
        modules: the program as each compilation made it, two at least.
        diff: how to diff two of them; `xlacompare.diff.diff` for one.
    """
    return noise_floor([diff(modules[0], module) for module in modules[1:]])


@dataclass(frozen=True, slots=True)
class _Look:
    name: str
    shapes: Counter[str]
    opcodes: Counter[str]


def _look(module: Module) -> _Look:
    entry = module.entry
    shapes = [f"in {parameter.shape}" for parameter in entry.parameters]
    if entry.instructions:
        shapes += [f"out {leaf}" for leaf in entry.root.shape.leaves()]
    opcodes: Counter[str] = Counter()
    for computation in module.computations:
        opcodes.update(computation.opcodes)
    return _Look(_DRESS.sub("", _DRESS.sub("", module.name)), Counter(shapes), opcodes)


def _likeness(one: _Look, other: _Look) -> float:
    shares = (float(one.name == other.name), _share(one.shapes, other.shapes), _share(one.opcodes, other.opcodes))
    return sum(weight * share for weight, share in zip(_WEIGHTS, shares, strict=True))


def _share(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0
