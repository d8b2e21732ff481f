"""Compile StableHLO with the XLA inside TensorFlow, through the XlaCallModule op.

Tried with tensorflow 2.21 (Python 3.11 and 3.12). The op takes a serialized StableHLO module, as `jax.export` makes it;
inside `tf.function(jit_compile=True)` TensorFlow's XLA compiles it as it does a graph of its own.
"""

from __future__ import annotations

from typing import Any, List

import tensorflow as tf

from xlacompare.frameworks.recompile import RouteError

TRIED = "tensorflow 2.21"
# The calling convention of jax.export from 2024 on; the op refuses what it does not know.
CALLING_CONVENTION = 10


class Recompiled:
    """A compiled StableHLO module; `call` takes and returns tensors in the order of parameters and results."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def call(self, inputs: "List[Any]") -> "List[Any]":
        return list(self._function(*inputs))

    def wait(self, outputs: "List[Any]") -> None:
        for value in outputs:
            value.numpy()

    def to_numpy(self, outputs: "List[Any]") -> "List[Any]":
        return [value.numpy() for value in outputs]


def compile_program(program: bytes, name: str, inputs: "List[Any]", results: "List[Any]") -> Recompiled:
    """Compile a module for the inputs given, under the function name `name`.

    Args:
        program: the serialized StableHLO.
        name: the function's name, by which its HLO module is found in a dump.
        inputs: tensors in the order of the module's parameters.
        results: numpy arrays with the shapes and types of the module's results, in their order.
    """
    try:
        from tensorflow.compiler.tf2xla.python import xla
    except ImportError as error:
        raise RouteError(
            f"tensorflow {tf.version.VERSION} has no tensorflow.compiler.tf2xla.python.xla ({error}); this route was "
            f"tried with {TRIED}"
        ) from error
    platform = "CUDA" if tf.config.list_logical_devices("GPU") else "CPU"

    def call(*arguments: Any) -> Any:
        return xla.call_module(
            arguments,
            version=CALLING_CONVENTION,
            module=program,
            Tout=[value.dtype for value in results],
            Sout=[value.shape for value in results],
            platforms=[platform],
        )

    call.__name__ = name
    function = tf.function(call, jit_compile=True, autograph=False)
    try:
        function(*inputs)
    except (AttributeError, TypeError, tf.errors.OpError) as error:
        text = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise RouteError(
            f"XlaCallModule of tensorflow {tf.version.VERSION} refused the module: {text}; this route was tried with "
            f"{TRIED}"
        ) from error
    return Recompiled(function)


def on_device(values: "List[Any]") -> "List[Any]":
    return [tf.constant(value) for value in values]


def numpy_inputs(program: Any) -> "List[Any]":
    """Return a program's inputs in the order of its module's parameters."""
    return [value.numpy() for value in tf.nest.flatten(program._arguments)]


def options_in_force() -> str:
    """Return "": TensorFlow has no way to ask its XLA for the defaults."""
    return ""
