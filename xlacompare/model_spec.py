"""What a model pair is, and how its folder is loaded.

A pair is a folder of three files: `spec.py` (a `SPEC`, numpy alone), `jax_model.py` and `tensorflow_model.py` (each an
`apply`). A built-in pair and a user's own folder are loaded the same way, by path.

Sizes and options are keyword arguments. Those of the chosen size and the options in force make one set, and each of
`init_params`, `example_batch` and `apply` is passed those that its signature names (all, if it takes `**keywords`):
`width` may decide the parameters' shapes, `heads` only how `apply` cuts them, `depth` both.

This file runs in the child processes too, under Pythons as old as 3.9, with neither jax nor tensorflow imported.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

LOSSES = ("mean_squared_error", "softmax_cross_entropy", "sigmoid_cross_entropy", None)
SPEC_FILE = "spec.py"
# The option that names the random number generator; the adapters translate it for each framework.
PRNG_OPTION = "prng"
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
        sizes: size name -> keyword arguments and `batch`; the first size is the default. A size may give an option
            another default.
        init_params: `(rng, **keywords) -> {name: array}`; both frameworks start from these numbers.
        example_batch: `(rng, batch, **keywords) -> (x, y)`.
        random: `apply` takes a third argument, a random key: a typed key array in JAX, a seed s32[2] in TensorFlow.
        options: keyword arguments that the user may set (`--depth 4`), with their defaults; a tuple holds the values
            that are allowed, the default first. `prng` arrives in TensorFlow's `apply` as the value for `alg=`.
        still_options: options under which a random model's outputs do not depend on its key (`{"dropout": 0.0}`):
            what parity is asserted at.
        vectorize_options: what the vectorised dp_train_step takes instead of the options' defaults, where a framework
            cannot map the default program over examples.
        batched: `x` and `y` have a leading axis of examples; False: they are one example.
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
    still_options: Mapping[str, Any] = field(default_factory=dict)
    vectorize_options: Mapping[str, Any] = field(default_factory=dict)
    batched: bool = True
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

        for name in (*self.still_options, *self.vectorize_options):
            if name not in self.options:
                raise ModelFolderError(f"model {self.name!r}: {name!r} is given a value and is none of its options")

    @property
    def default_size(self) -> str:
        return next(iter(self.sizes))

    def option_defaults(self) -> dict[str, Any]:
        """Return every option with its default.

        >>> options = {"depth": 2, "layers": ("unrolled", "loop")}
        >>> ModelSpec("m", "", None, {"tiny": {"batch": 1}}, dict, tuple, options=options).option_defaults()
        {'depth': 2, 'layers': 'unrolled'}
        """
        return {name: default[0] if isinstance(default, tuple) else default for name, default in self.options.items()}

    def keywords(
        self, size: Mapping[str, Any], options: Mapping[str, Any], *, vectorized: bool = False
    ) -> dict[str, Any]:
        """Return the keyword arguments of a size's values with the user's `options` on top, without `batch`.

        Raises:
            ModelFolderError: an option is unknown, or its value is not one of those allowed.
        """
        self.check_options(options)
        preset = self.vectorize_options if vectorized else {}
        keywords = {**self.option_defaults(), **size, **preset, **options}
        del keywords["batch"]
        return keywords

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise ModelFolderError if an option is unknown or its value cannot be one of that option."""
        for name, value in options.items():
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise ModelFolderError(f"the model {self.name!r} has no option {name!r}; its options: {known}")
            allowed = self.options[name]
            if isinstance(allowed, tuple):
                if value not in allowed:
                    choices = ", ".join(map(str, allowed))
                    raise ModelFolderError(f"the model {self.name!r} has no {name} {value!r}; choose from {choices}")
            elif type(value) is not type(allowed) and not (isinstance(allowed, float) and type(value) is int):
                raise ModelFolderError(
                    f"the model {self.name!r} takes {type(allowed).__name__} as {name}, such as {allowed!r}; "
                    f"{value!r} is {type(value).__name__}"
                )


def accepted(function: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of `keywords` that the function's signature names, or all if it takes `**keywords`.

    >>> accepted(lambda params, x, *, depth: x, {"depth": 2, "width": 8})
    {'depth': 2}
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(keywords)
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in keywords.items() if name in names}


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
    except (Exception, SystemExit) as error:
        raise ModelFolderError(f"{path} raised {type(error).__name__}: {error}") from error
    return module


def load_spec(folder: Path) -> ModelSpec:
    """Return the `SPEC` of a model folder, or of the file itself if that is given; imports neither framework."""
    file = folder if folder.is_file() else folder / SPEC_FILE
    module = load_file(file, _module_name(folder, "spec"))
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, ModelSpec):
        raise ModelFolderError(f"{file} defines no SPEC = ModelSpec(...)")
    return spec


def load_apply(folder: Path, framework: str) -> Callable[..., Any]:
    """Return `apply(params, x)` of one framework's file in a model folder; imports that framework."""
    path = (folder.parent if folder.is_file() else folder) / FRAMEWORK_FILES[framework]
    module = load_file(path, _module_name(folder, framework))
    apply = getattr(module, "apply", None)
    if not callable(apply):
        raise ModelFolderError(f"{path} defines no function apply(params, x)")
    return apply  # type: ignore[no-any-return]


def _module_name(folder: Path, part: str) -> str:
    return f"xlacompare_model_{folder.stem}_{part}"
