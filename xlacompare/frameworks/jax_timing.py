"""JAX: what timing needs beyond the adapter. Tried with jax 0.10.2."""

from __future__ import annotations

import os
from typing import Any, Dict

import jax
import jax.monitoring
import numpy as np

from xlacompare.frameworks.jax import JaxProgram

SYNC = "jax.block_until_ready"
COMPILE_INCLUDES_RUN = False
COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
TRACE_EVENT = "/jax/core/compile/jaxpr_trace_duration"


class CompilationCounter:
    """Counts what XLA compiles and what JAX traces from now on, in the whole process."""

    def __init__(self) -> None:
        self._counts = {COMPILE_EVENT: 0, TRACE_EVENT: 0}
        jax.monitoring.register_event_duration_secs_listener(self._listen)

    def _listen(self, event: str, duration_s: float, **_: Any) -> None:
        if event in self._counts:
            self._counts[event] += 1

    def counts(self) -> "Dict[str, int]":
        """Return how many compilations and traces there have been."""
        return {"compilations": self._counts[COMPILE_EVENT], "traces": self._counts[TRACE_EVENT]}


def floor_program(settings: "Dict[str, Any]") -> JaxProgram:
    """Return `x + 1` on f32[4], called as a model is under the same settings."""

    def floor(x: Any) -> Any:
        return {"output": x + 1}

    return JaxProgram(floor, (np.zeros(4, np.float32),), "xlacompare_floor", ["x"], settings.get("jit", True))


def argument_shapes(program: JaxProgram) -> "Dict[str, str]":
    """Return each argument's type and shape, as in "float32[32,784]"."""
    leaves = jax.tree_util.tree_leaves(program._arguments)
    return {
        name: f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]" for name, leaf in zip(program.parameter_names, leaves)
    }


def threads() -> "Dict[str, Any]":
    """Return how many threads may compute: JAX's CPU client has one pool, as large as the cores it may use."""
    return {"pool": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()}
