"""TensorFlow: builds, compiles and runs a model's variants. Tried with tensorflow 2.21."""

from __future__ import annotations

import platform
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from xlacompare.frameworks.program import Settings, function_name

PIP_LINE = "pip install tensorflow"


def mean_squared_error(prediction: Any, target: Any) -> Any:
    return tf.reduce_mean((prediction - target) ** 2)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean over a batch of logits f32[n,classes] and labels s32[n]."""
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean of max(z,0) - z*y + log(1 + exp(-|z|)) for logits z and labels y of one shape."""
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


LOSSES: "dict[str, Callable[..., Any]]" = {
    "mean_squared_error": mean_squared_error,
    "softmax_cross_entropy": softmax_cross_entropy,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
}


class TensorFlowProgram:
    """A function and its arguments; see `program.Program`.

    TensorFlow lowers and compiles at the first call: `compile` makes that call.
    """

    def __init__(
        self,
        function: "Callable[..., Any]",
        arguments: "tuple[Any, ...]",
        name: str,
        parameter_names: "list[str]",
        jit: bool = True,
        xla: bool = True,
    ) -> None:
        function.__name__ = name
        self.name = name
        self.parameter_names = parameter_names
        self._arguments = tf.nest.map_structure(tf.constant, arguments)
        self._function: Any = tf.function(function, jit_compile=xla) if jit else function
        self._jit = jit
        self._executable: Any = self._function

    def trace(self) -> None:
        if self._jit:
            self._executable = self._function.get_concrete_function(*self._arguments)

    def lower(self) -> None:
        pass

    def compile(self) -> None:
        if self._jit:
            self.wait(self.call())

    def call(self) -> Any:
        return self._executable(*self._arguments)

    def wait(self, outputs: Any) -> None:
        # Fetching is the one synchronisation that holds for every device; on CPU it copies nothing.
        for value in tf.nest.flatten(outputs):
            value.numpy()

    def to_numpy(self, outputs: Any) -> "dict[str, Any]":
        return {name: value.numpy() for name, value in outputs.items()}


def build(
    spec: Any, apply: "Callable[..., Any]", settings: Settings, params: "dict[str, Any]", x: Any, y: Any
) -> TensorFlowProgram:
    """Return the program of one variant of a model pair; `params`, `x` and `y` are numpy."""

    def forward(params: Any, x: Any) -> Any:
        return {"output": apply(params, x, **settings.options)}

    def value_and_grad(params: Any, x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(params)
            loss = LOSSES[spec.loss](apply(params, x, **settings.options), y)
        gradients = tape.gradient(loss, params)
        return {"loss": loss, **{f"grad/{name}": tf.convert_to_tensor(value) for name, value in gradients.items()}}

    def grad(params: Any, x: Any, y: Any) -> Any:
        outputs = value_and_grad(params, x, y)
        del outputs["loss"]
        return outputs

    name = function_name(spec.name, settings.variant)
    names = sorted(params)
    if settings.variant == "forward":
        return TensorFlowProgram(forward, (params, x), name, [*names, "x"], settings.jit, settings.xla)
    function = {"grad": grad, "value_and_grad": value_and_grad}[settings.variant]
    return TensorFlowProgram(function, (params, x, y), name, [*names, "x", "y"], settings.jit, settings.xla)


def from_function(function: "Callable[..., Any]", arguments: "tuple[Any, ...]", name: str) -> TensorFlowProgram:
    """Return the program of a user's own function of arrays, jitted; its outputs are named "output/<position>"."""

    def flat(*arguments: Any) -> Any:
        leaves = tf.nest.flatten(function(*arguments))
        return {f"output/{index}": tf.convert_to_tensor(leaf) for index, leaf in enumerate(leaves)}

    leaves = tf.nest.flatten(arguments)
    return TensorFlowProgram(flat, arguments, name, [f"argument/{index}" for index in range(len(leaves))])


def versions() -> "dict[str, str]":
    """Return the versions of Python and tensorflow; tensorflow is what embeds XLA."""
    return {
        "python": platform.python_version(),
        "tensorflow": tf.version.VERSION,
        "numpy": np.__version__,
        "xla": f"the one in tensorflow {tf.version.VERSION} ({tf.version.GIT_VERSION})",
    }


def device() -> "dict[str, Any]":
    """Return the device that programs run on, as the framework names it."""
    gpus = tf.config.list_logical_devices("GPU")
    devices = gpus or tf.config.list_logical_devices("CPU")
    return {"platform": "gpu" if gpus else "cpu", "kind": devices[0].name, "count": len(devices)}


def precision() -> "dict[str, Any]":
    """Return what decides how exactly numbers are computed."""
    return {
        "x64": False,
        "matmul_precision": "tf32" if tf.config.experimental.tensor_float_32_execution_enabled() else "default",
    }
