"""TensorFlow: what timing needs beyond the adapter. Tried with tensorflow 2.21."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np
import tensorflow as tf

from xlacompare.frameworks.tensorflow import TensorFlowProgram

SYNC = "an array of each output (CPU), tf.test.experimental.sync_devices (GPU)"
# A concrete function compiles at its first call and runs at once.
COMPILE_INCLUDES_RUN = True


class CompilationCounter:
    """Counts the graphs that TensorFlow traces from now on, in the whole process.

    Arguments keep their shapes, so XLA compiles exactly when a new graph has been traced.
    """

    def __init__(self) -> None:
        self._traces = 0
        counter = self
        graph = tf.__internal__.FuncGraph
        construct = graph.__init__

        def counting(self: Any, *args: Any, **kwargs: Any) -> None:
            counter._traces += 1
            construct(self, *args, **kwargs)

        graph.__init__ = counting

    def counts(self) -> "Dict[str, int]":
        """Return how many graphs have been traced; TensorFlow does not tell compilations apart from them."""
        return {"compilations": 0, "traces": self._traces}


def floor_program(settings: "Dict[str, Any]") -> TensorFlowProgram:
    """Return `x + 1` on f32[4], called as a model is under the same settings."""

    def floor(x: Any) -> Any:
        return {"output": x + 1}

    arguments = (np.zeros(4, np.float32),)
    jit, xla = settings.get("jit", True), settings.get("xla", True)
    return TensorFlowProgram(floor, arguments, "xlacompare_floor", ["x"], jit, xla)


def argument_shapes(program: TensorFlowProgram) -> "Dict[str, str]":
    """Return each argument's type and shape, as in "float32[32,784]"."""
    leaves = tf.nest.flatten(program._arguments)
    return {
        name: f"{leaf.dtype.name}[{','.join(map(str, leaf.shape))}]"
        for name, leaf in zip(program.parameter_names, leaves)
    }


def threads() -> "Dict[str, Any]":
    """Return the sizes of TensorFlow's two pools; 0 leaves them to TensorFlow, which takes one a core."""
    return {
        "inter_op": tf.config.threading.get_inter_op_parallelism_threads(),
        "intra_op": tf.config.threading.get_intra_op_parallelism_threads(),
    }
