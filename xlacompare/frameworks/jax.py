"""JAX: builds, compiles and runs a model's variants. Tried with jax 0.10.2."""

from __future__ import annotations

import platform
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np

from xlacompare.frameworks.program import Settings, function_name

PIP_LINE = "pip install jax"


def mean_squared_error(prediction: Any, target: Any) -> Any:
    return jnp.mean((prediction - target) ** 2)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean over a batch of logits f32[n,classes] and labels s32[n]."""
    log_probabilities = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[:, None], axis=-1))


def sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean of max(z,0) - z*y + log(1 + exp(-|z|)) for logits z and labels y of one shape."""
    return jnp.mean(jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits))))


LOSSES: "dict[str, Callable[..., Any]]" = {
    "mean_squared_error": mean_squared_error,
    "softmax_cross_entropy": softmax_cross_entropy,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
}


def named_gradients(gradients: "dict[str, Any]") -> "dict[str, Any]":
    return {f"grad/{name}": value for name, value in gradients.items()}


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


def build(
    spec: Any, apply: "Callable[..., Any]", settings: Settings, params: "dict[str, Any]", x: Any, y: Any
) -> JaxProgram:
    """Return the program of one variant of a model pair; `params`, `x` and `y` are numpy."""

    def forward(params: Any, x: Any) -> Any:
        return {"output": apply(params, x, **settings.options)}

    def loss_of(params: Any, x: Any, y: Any) -> Any:
        return LOSSES[spec.loss](apply(params, x, **settings.options), y)

    def grad(params: Any, x: Any, y: Any) -> Any:
        return named_gradients(jax.grad(loss_of)(params, x, y))

    def value_and_grad(params: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        return {"loss": loss, **named_gradients(gradients)}

    name = function_name(spec.name, settings.variant)
    names = sorted(params)
    if settings.variant == "forward":
        return JaxProgram(forward, (params, x), name, [*names, "x"], settings.jit)
    function = {"grad": grad, "value_and_grad": value_and_grad}[settings.variant]
    return JaxProgram(function, (params, x, y), name, [*names, "x", "y"], settings.jit)


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
