"""The fusion diff: which operations stand in which kernels on the left, and in which on the right."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence

from xlacompare.diff.flatten import flatten
from xlacompare.diff.kernels import KernelGroup, group_kernels
from xlacompare.diff.labels import Labels
from xlacompare.diff.matching import Matching, match
from xlacompare.diff.parameters import known_pairs
from xlacompare.diff.result import Diff, ParameterPair, parameter_table, side_labels
from xlacompare.hlo import Module

__all__ = ["Diff", "KernelGroup", "Matching", "ParameterPair", "diff"]


def diff(
    left: Module,
    right: Module,
    *,
    pairs: Iterable[tuple[str, str]] | None = None,
    left_parameters: Sequence[str] | None = None,
    right_parameters: Sequence[str] | None = None,
    labels: tuple[str, str] | None = None,
) -> Diff:
    """Return the fusion diff of two modules.

    Args:
        left, right: the modules, both of the same stage.
        pairs: parameters that are known to be the same, each by name or number.
        left_parameters, right_parameters: the parameters' names in ENTRY order; equal names are a pair.
        labels: what to call the sides; the frameworks' names where nothing is given and they differ.

    Raises:
        UsageError: a pair names a parameter that is not there, or one parameter twice.
    """
    with collector_paused():
        numbers = Labels()
        graphs = flatten(left, numbers), flatten(right, numbers)
        known = known_pairs(graphs, pairs or (), left_parameters, right_parameters)
        matching = match(*graphs, known)
        groups = tuple(group_kernels(matching))
    return Diff(
        left=left,
        right=right,
        matching=matching,
        groups=groups,
        parameters=parameter_table(matching, left_parameters, right_parameters),
        labels=labels or side_labels(left, right),
    )


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's cycle collector: a diff makes millions of objects and no cycles to look for.

    A collector that the caller has switched off stays so.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
