"""From two things to their fusion diff: two paths, the dumps of a model, two functions at hand."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlacompare.diff import Diff, diff
from xlacompare.diff.modules import pair_modules, repeat
from xlacompare.diff.noise import NoiseFloor
from xlacompare.dump import DumpRequest, DumpResult, make_dumps
from xlacompare.dumps import MANIFEST_NAME, read_folder, read_manifest
from xlacompare.errors import UsageError
from xlacompare.hlo import Module, read_file
from xlacompare.reading import load, stage_of

Pairs = Iterable[tuple[str, str]]


def diff_paths(left: Path | str, right: Path | str, *, pairs: Pairs = (), strict: bool = False) -> Diff:
    """Return the fusion diff of two HLO text files or dump folders.

    Args:
        left, right: the paths; of a folder the module that is meant is taken.
        pairs: parameters that belong together, by name or number.
        strict: a doubt about a text is an error.

    Raises:
        UsageError: nothing is there, the stages differ, or a pair names no parameter.
        HloError, DumpError: as `reading.load`.
    """
    stages = [None if Path(path).is_dir() else stage_of(Path(path)) for path in (left, right)]
    if {"before", "after"} == set(stages):
        raise UsageError(
            f"{left} is the text {stages[0]} optimizations, {right} the one {stages[1]}; only the same stage of two "
            "programs can be compared."
        )
    modules = load(left, strict=strict), load(right, strict=strict)
    names = parameter_names(left), parameter_names(right)
    return diff(*modules, pairs=pairs, left_parameters=names[0], right_parameters=names[1])


def diff_dumps(result: DumpResult, *, pairs: Pairs = ()) -> Diff:
    """Return the fusion diff of a model's two frameworks.

    Raises:
        UsageError: the result holds one framework alone.
    """
    if len(result.dumps) != 2:
        raise UsageError(f"a diff takes two frameworks; this dump has {result.dumps[0].framework} alone.")
    left, right = (dump.directory for dump in result.dumps)
    return diff_paths(left, right, pairs=pairs)


@dataclass(frozen=True)
class Beside:
    """Two more modules of two folders that belong together; None where one side has none, `diff` None then."""

    left: str | None
    right: str | None
    diff: Diff | None

    def to_json_dict(self) -> dict[str, Any]:
        counts: dict[str, Any] = {"identical": None, "left_kernels": None, "right_kernels": None}
        if self.diff is not None:
            left, right = (census.reachable.kernels for census in self.diff.censuses)
            counts = {"identical": self.diff.identical, "left_kernels": left, "right_kernels": right}
        return {"left": self.left, "right": self.right, **counts}


def beside(left: Path | str, right: Path | str) -> list[Beside]:
    """Return the other modules of two dump folders in pairs, those left out that a framework compiled on its own."""
    sides = []
    for path in (left, right):
        if not Path(path).is_dir():
            return []
        folder = read_folder(path)
        others = [module for module in folder.modules if module is not folder.main and not module.helper]
        sides.append([read_file(module.after)[0] for module in others if module.after is not None])
    found = []
    for pair in pair_modules(*sides):
        both = None if pair.left is None or pair.right is None else diff(pair.left, pair.right)
        left_name, right_name = (None if module is None else module.name for module in (pair.left, pair.right))
        found.append(Beside(left_name, right_name, both))
    return found


def noise_of(
    request: DumpRequest, times: int, *, on_stage: Callable[[str, str], None] | None = None
) -> dict[str, NoiseFloor]:
    """Compile one request several times, and return for each framework what differs between the compilations.

    Raises: as `dump.make_dumps`.
    """
    modules: dict[str, list[Module]] = {framework: [] for framework in request.frameworks}
    with tempfile.TemporaryDirectory(prefix="xlacompare-repeat-") as scratch:
        for number in range(times):
            for each in make_dumps(request, Path(scratch) / str(number), on_stage=on_stage).dumps:
                module = load(each.directory)
                module.build()
                modules[each.framework].append(module)
        return {framework: repeat(several, diff) for framework, several in modules.items()}


def parameter_names(path: Path | str) -> list[str] | None:
    """Return the names by which a model's spec knows the parameters of ENTRY, in order, where a manifest has them."""
    if not (Path(path) / MANIFEST_NAME).is_file():
        return None
    names = read_manifest(path).extra.get("parameters")
    return [str(name) for name in names] if isinstance(names, list) else None


def users_path() -> list[str]:
    """Return the entries of sys.path that are the user's own: what a function of theirs may import in a child.

    The interpreter's and the environment's are left out; a child has its own.
    """
    entries = [str(Path(entry).absolute()) for entry in sys.path]
    return [entry for entry in entries if not entry.startswith((sys.prefix, sys.base_prefix))]


def compare(
    jax_fn: Callable[..., Any],
    tensorflow_fn: Callable[..., Any],
    args: Sequence[Any],
    *,
    name: str = "compared",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    out: Path | str | None = None,
    overwrite: bool = False,
    **others: Any,
) -> Diff:
    """Compile both functions of the same arrays, check that they compute the same, and return their fusion diff.

    Args:
        jax_fn: a function of arrays; it is jitted.
        tensorflow_fn: the same in TensorFlow; it is wrapped in `tf.function(jit_compile=True)`.
        args: numpy arrays, or nested lists, tuples and dicts of them.
        name: what the compiled functions are called.
        rtol, atol: outputs agree when `|a - b| <= atol + rtol * max|b|`.
        out: where the dumps are kept, in `out/NAME/function/FRAMEWORK/`; None keeps none.
        overwrite: replace dumps that are there.
        others: further fields of `DumpRequest`.

    Raises: as `dump.make_dumps`.
    """
    # Functions of a notebook or a lambda have no name to import: they are sent by value.
    import cloudpickle

    with tempfile.TemporaryDirectory(prefix="xlacompare-compare-") as scratch:
        programs = {}
        for framework, function in (("jax", jax_fn), ("tensorflow", tensorflow_fn)):
            file = Path(scratch) / f"{framework}.pickle"
            file.write_bytes(cloudpickle.dumps((function, tuple(args))))
            programs[framework] = {"functions_file": str(file), "name": name, "sys_path": users_path()}
        request = DumpRequest(name, "function", programs, rtol=rtol, atol=atol, **others)
        result = make_dumps(request, scratch if out is None else out, overwrite=overwrite)
        return diff_dumps(result)
