"""What a model pair is, and how its folder is loaded.

A pair is a folder of three files: `spec.py` (a `SPEC`, numpy alone), `jax_model.py` and `tensorflow_model.py` (each an
`apply`). A built-in pair and a user's own folder are loaded the same way, by path.

This file runs in the child processes too, under Pythons as old as 3.9, with neither jax nor tensorflow imported.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

LOSSES = ("mean_squared_error", "softmax_cross_entropy", "sigmoid_cross_entropy", None)
SPEC_FILE = "spec.py"
FRAMEWORK_FILES = {"jax": "jax_model.py", "tensorflow": "tensorflow_model.py"}


class ModelFolderError(Exception):
    """A model folder that cannot be used; the parent turns it into a `xlacompare.errors.ModelError`."""


@dataclass(frozen=True)
class ModelSpec:
    """What a model pair is, without any framework.

    Attributes:
        name: the pair's name; the compiled functions are called `<name>_<variant>`.
        summary: one line for `xlacompare models`.
        loss: "mean_squared_error", "softmax_cross_entropy", "sigmoid_cross_entropy" or None (forward only).
        sizes: size name -> keyword arguments of the two functions below, and `batch`; the first is the default.
        init_params: `(rng, **size) -> {name: array}`; both frameworks start from these numbers.
        example_batch: `(rng, batch, **size) -> (x, y)`.
        random: `apply` takes a third argument, a random key.
        options: extra keyword arguments of `apply` that the user may set (`--depth 4`), with their defaults.
        rtol, atol: outputs and gradients agree when `|a - b| <= atol + rtol * max|b|`.
        origin: where the model comes from, for `xlacompare models`.
        notes: what a reader must know about the comparison ("gradients of the embedding are made dense").
    """

    name: str
    summary: str
    loss: str | None
    sizes: Mapping[str, Mapping[str, Any]]
    init_params: Callable[..., dict[str, Any]]
    example_batch: Callable[..., tuple[Any, Any]]
    random: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    rtol: float = 1e-4
    atol: float = 1e-5
    origin: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ModelFolderError(f"model {self.name!r}: loss {self.loss!r} is none of {', '.join(map(repr, LOSSES))}")
        if not self.sizes:
            raise ModelFolderError(f"model {self.name!r}: sizes is empty; give at least one size with a 'batch'")
        for size, values in self.sizes.items():
            if "batch" not in values:
                raise ModelFolderError(f"model {self.name!r}: size {size!r} has no 'batch'")

    @property
    def default_size(self) -> str:
        return next(iter(self.sizes))


def load_file(path: Path, module_name: str) -> ModuleType:
    """Execute a Python file as the module `module_name`; raise ModelFolderError with the cause if it fails."""
    if not path.is_file():
        raise ModelFolderError(f"{path} is missing; a model folder holds spec.py, jax_model.py and tensorflow_model.py")
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ModelFolderError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ModelFolderError(f"{path} raised {type(error).__name__}: {error}") from error
    return module


def load_spec(folder: Path) -> ModelSpec:
    """Return the `SPEC` of a model folder; imports neither framework."""
    module = load_file(folder / SPEC_FILE, f"xlacompare_model_{folder.name}_spec")
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, ModelSpec):
        raise ModelFolderError(f"{folder / SPEC_FILE} defines no SPEC = ModelSpec(...)")
    return spec


def load_apply(folder: Path, framework: str) -> Callable[..., Any]:
    """Return `apply(params, x)` of one framework's file; imports that framework."""
    path = folder / FRAMEWORK_FILES[framework]
    module = load_file(path, f"xlacompare_model_{folder.name}_{framework}")
    apply = getattr(module, "apply", None)
    if not callable(apply):
        raise ModelFolderError(f"{path} defines no function apply(params, x)")
    return apply  # type: ignore[no-any-return]
