"""TensorFlow: builds, compiles and runs a model's variants. Tried with tensorflow 2.21."""

from __future__ import annotations

import functools
import platform
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from xlacompare.frameworks.program import PRNGS, Settings, argument_names, function_name, takes_key
from xlacompare.frameworks.tensorflow_variants import variant_function
from xlacompare.model_spec import PRNG_OPTION, accepted

# What a program is built with that is to leave nothing in a dump: run eagerly, nothing of it goes through XLA.
UNDUMPED = {"jit": False}
# JAX's generator -> the `alg` that draws the same way. `rbg` is XLA's own generator, which is Philox on CPU and GPU;
# `unsafe_rbg` leaves the choice to the backend.
ALGORITHMS = {"threefry2x32": "threefry", "rbg": "philox", "unsafe_rbg": "auto_select"}


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
        self._on_gpu = bool(tf.config.list_logical_devices("GPU"))

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
        if self._on_gpu:
            tf.test.experimental.sync_devices()
            return
        # On CPU an array shares the tensor's memory; `numpy()` would copy it, which JAX does not do while it waits.
        for value in tf.nest.flatten(outputs):
            np.asarray(value)

    def to_numpy(self, outputs: Any) -> "dict[str, Any]":
        return {name: value.numpy() for name, value in outputs.items()}

    def run_undumped(self) -> "dict[str, Any]":
        return self.to_numpy(self.call())


def build(
    spec: Any,
    apply: "Callable[..., Any]",
    settings: Settings,
    params: "dict[str, Any]",
    x: Any,
    y: Any,
    options: "dict[str, Any]",
) -> TensorFlowProgram:
    """Return the program of one variant of a model pair.

    `params`, `x` and `y` are numpy; `options` holds the keywords for `apply`, of which it is passed those it names.
    """
    algorithm = ALGORITHMS[options.get(PRNG_OPTION, PRNGS[0])]
    if not (settings.jit and settings.xla):
        # TensorFlow's own kernels have Philox alone.
        algorithm = "auto_select"
    bound = functools.partial(apply, **accepted(apply, {**options, PRNG_OPTION: algorithm}))
    arguments: "list[Any]" = [params, x] if settings.variant == "forward" else [params, x, y]
    if takes_key(spec, settings.variant):
        arguments.append(np.array([settings.seed >> 31, settings.seed & 0x7FFFFFFF], np.int32))
    return TensorFlowProgram(
        variant_function(spec, bound, settings, algorithm),
        tuple(arguments),
        function_name(spec.name, settings),
        argument_names(spec, settings.variant, params),
        settings.jit,
        settings.xla,
    )


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
    # The switch is on everywhere and means something on a GPU alone.
    tf32 = device()["platform"] == "gpu" and tf.config.experimental.tensor_float_32_execution_enabled()
    return {"x64": False, "matmul_precision": "tf32" if tf32 else "default"}
