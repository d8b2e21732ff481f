"""JAX: builds, compiles and runs a model's variants. Tried with jax 0.10.2."""

from __future__ import annotations

import functools
import platform
from typing import Any, Callable

import jax
import numpy as np

from xlacompare.frameworks.jax_variants import variant_function
from xlacompare.frameworks.program import PRNGS, Settings, argument_names, function_name, takes_key
from xlacompare.model_spec import PRNG_OPTION, accepted

# What a program is built with that is to leave nothing in a dump: jitted, for eagerly each operation would leave a
# module of its own, and with dumping off for that one compilation.
UNDUMPED = {"jit": True}


class JaxProgram:
    """A function and its arguments; see `program.Program`."""

    def __init__(
        self,
        function: "Callable[..., Any]",
        arguments: "tuple[Any, ...]",
        name: str,
        parameter_names: "list[str]",
        jit: bool = True,
    ) -> None:
        function.__name__ = name
        self.name = name
        self.parameter_names = parameter_names
        self._arguments = jax.device_put(arguments)
        # An unused argument stays a parameter of the module, as it does in TensorFlow.
        self._function: Any = jax.jit(function, keep_unused=True) if jit else function
        self._jit = jit
        self._traced: Any = None
        self._lowered: Any = None
        self._executable: Any = self._function

    def trace(self) -> None:
        if self._jit:
            self._traced = self._function.trace(*self._arguments)

    def lower(self) -> None:
        if self._jit:
            self._lowered = self._traced.lower()

    def compile(self) -> None:
        if self._jit:
            self._executable = self._lowered.compile()

    def call(self) -> Any:
        return self._executable(*self._arguments)

    def wait(self, outputs: Any) -> None:
        jax.block_until_ready(outputs)

    def to_numpy(self, outputs: Any) -> "dict[str, Any]":
        return {name: np.asarray(value) for name, value in outputs.items()}

    def run_undumped(self) -> "dict[str, Any]":
        lowered = self._function.lower(*self._arguments)
        return self.to_numpy(lowered.compile(compiler_options={"xla_dump_to": ""})(*self._arguments))


def build(
    spec: Any,
    apply: "Callable[..., Any]",
    settings: Settings,
    params: "dict[str, Any]",
    x: Any,
    y: Any,
    options: "dict[str, Any]",
) -> JaxProgram:
    """Return the program of one variant of a model pair.

    `params`, `x` and `y` are numpy; `options` holds the keywords for `apply`, of which it is passed those it names.
    """
    bound = functools.partial(apply, **accepted(apply, options))
    arguments: "list[Any]" = [params, x] if settings.variant == "forward" else [params, x, y]
    if takes_key(spec, settings.variant):
        arguments.append(jax.random.key(settings.seed, impl=options.get(PRNG_OPTION, PRNGS[0])))
    return JaxProgram(
        variant_function(spec, bound, settings),
        tuple(arguments),
        function_name(spec.name, settings),
        argument_names(spec, settings.variant, params),
        settings.jit,
    )


def from_function(function: "Callable[..., Any]", arguments: "tuple[Any, ...]", name: str) -> JaxProgram:
    """Return the program of a user's own function of arrays, jitted; its outputs are named "output/<position>"."""

    def flat(*arguments: Any) -> Any:
        leaves = jax.tree_util.tree_leaves(function(*arguments))
        return {f"output/{index}": leaf for index, leaf in enumerate(leaves)}

    leaves = jax.tree_util.tree_leaves(arguments)
    return JaxProgram(flat, arguments, name, [f"argument/{index}" for index in range(len(leaves))])


def versions() -> "dict[str, str]":
    """Return the versions of Python, jax and jaxlib; jaxlib is what embeds XLA."""
    import jaxlib

    return {
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "xla": f"the one in jaxlib {jaxlib.__version__}",
    }


def device() -> "dict[str, Any]":
    """Return the device that programs run on, as the framework names it."""
    first = jax.devices()[0]
    return {"platform": first.platform, "kind": first.device_kind, "count": jax.device_count()}


def precision() -> "dict[str, Any]":
    """Return what decides how exactly numbers are computed."""
    return {
        "x64": bool(jax.config.jax_enable_x64),
        "matmul_precision": jax.config.jax_default_matmul_precision or "default",
    }
