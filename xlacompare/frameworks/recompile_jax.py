"""Compile HLO text with the XLA inside jaxlib, and hand out JAX's programs as StableHLO.

Tried with jaxlib 0.4.30 (Python 3.9), 0.10.2 (Python 3.11), 0.11.2 and 0.12.0.1 (Python 3.12). The text goes through
jaxlib's parser into an XlaComputation, from there into StableHLO, and is compiled with the options that `jax.jit` uses.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, List

import jax
import jaxlib
import numpy as np

from xlacompare.frameworks.recompile import RouteError, without_debug_info

TRIED = "jaxlib 0.4.30, 0.10.2, 0.11.2 and 0.12.0.1"
# jaxlib moved its bindings twice: xla_extension until 0.5, then _jax, with the HLO classes in _hlo from 0.9 on.
BINDINGS = ("jaxlib._hlo", "jaxlib._jax", "jaxlib.xla_extension")


def binding(name: str) -> Any:
    """Return the object `name` of jaxlib's compiled modules; raise RouteError where no module has it."""
    for module_name in BINDINGS:
        try:
            return getattr(importlib.import_module(module_name), name)
        except (ImportError, AttributeError):
            continue
    raise RouteError(
        f"jaxlib {jaxlib.__version__} offers no {name} in {', '.join(BINDINGS)}; this route was tried with {TRIED}"
    )


def stablehlo_of_program(program: Any) -> bytes:
    """Return a JAX program, exported for its own platform, as a portable StableHLO artifact."""
    try:
        from jax import export

        with without_shardy():
            exported = export.export(program._function)(*program._arguments)
    except (ImportError, AttributeError, NotImplementedError, ValueError, TypeError) as error:
        raise RouteError(f"jax.export of jax {jax.__version__} refused the program: {reason(error)}") from error
    return bytes(exported.mlir_module_serialized)


def without_shardy() -> Any:
    """Return a context in which programs are lowered without the Shardy dialect, which XlaCallModule cannot compile."""
    try:
        from jax._src.config import use_shardy_partitioner

        return use_shardy_partitioner(False)
    except (ImportError, TypeError):
        return contextlib.nullcontext()


def stablehlo_of_text(text: str) -> str:
    """Return HLO text as the StableHLO module that jaxlib makes of it."""
    parse, computation, mlir = binding("hlo_module_from_text"), binding("XlaComputation"), binding("mlir")
    try:
        try:
            module = parse(text)
        except Exception:
            # Tables of another version are no reason to give up.
            module = parse(without_debug_info(text))
    except Exception as error:
        raise RouteError(f"the HLO parser of jaxlib {jaxlib.__version__} refused the text: {reason(error)}") from error
    try:
        converted = mlir.xla_computation_to_mlir_module(computation(module.as_serialized_hlo_module_proto()))
    except Exception as error:
        raise RouteError(
            f"jaxlib {jaxlib.__version__} could not turn the HLO into StableHLO: {reason(error)}"
        ) from error
    return converted.decode() if isinstance(converted, bytes) else str(converted)


def portable_artifact(module: str) -> bytes:
    """Return a StableHLO module as the versioned bytes that another build reads."""
    mlir = binding("mlir")
    try:
        from jaxlib.mlir.dialects import stablehlo

        version = stablehlo.get_minimum_version()
        return bytes(mlir.serialize_portable_artifact(module, version))
    except (ImportError, AttributeError, TypeError) as error:
        raise RouteError(f"jaxlib {jaxlib.__version__} serializes no StableHLO this way: {reason(error)}") from error


def stablehlo_of_artifact(artifact: bytes) -> str:
    """Return a portable artifact as the StableHLO module that this jaxlib compiles."""
    mlir = binding("mlir")
    try:
        from jax._src.interpreters.mlir import make_ir_context

        with make_ir_context():
            module = mlir.deserialize_portable_artifact(artifact)
            return module.decode() if isinstance(module, bytes) else str(module)
    except Exception as error:
        raise RouteError(f"jaxlib {jaxlib.__version__} refused the StableHLO: {reason(error)}") from error


class Recompiled:
    """An executable made of HLO text; it takes and returns arrays in the order of parameters and results."""

    def __init__(self, executable: Any) -> None:
        self._executable = executable

    def call(self, inputs: "List[Any]") -> "List[Any]":
        return list(self._executable.execute(inputs))

    def wait(self, outputs: "List[Any]") -> None:
        jax.block_until_ready(outputs)

    def to_numpy(self, outputs: "List[Any]") -> "List[Any]":
        return [np.asarray(value) for value in outputs]


def compile_program(program: bytes, name: str, inputs: "List[Any]", results: "List[Any]") -> Recompiled:
    """Compile HLO text or serialized StableHLO for the first device with the options that `jax.jit` uses there.

    The program says everything; `name`, `inputs` and `results` are what `recompile_tensorflow` needs besides.
    """
    module = stablehlo_of_text(program.decode()) if program.startswith(b"HloModule") else stablehlo_of_artifact(program)
    device = jax.devices()[0]
    client = device.client
    options = compile_options()
    try:
        if hasattr(client, "compile_and_load"):
            return Recompiled(client.compile_and_load(module, binding("DeviceList")((device,)), options))
        return Recompiled(client.compile(module, options))
    except (AttributeError, TypeError) as error:
        raise RouteError(
            f"the client of jaxlib {jaxlib.__version__} compiles in another way than those this was tried with "
            f"({TRIED}): {reason(error)}"
        ) from error


def compile_options() -> Any:
    """Return the options of a program on one device, as `jax.jit` sets them."""
    try:
        from jax._src.compiler import get_compile_options

        return get_compile_options(num_replicas=1, num_partitions=1)
    except (ImportError, AttributeError, TypeError) as error:
        raise RouteError(f"jax {jax.__version__} makes its compile options in another way: {reason(error)}") from error


def on_device(values: "List[Any]") -> "List[Any]":
    return list(jax.device_put(values))


def numpy_inputs(program: Any) -> "List[Any]":
    """Return a program's inputs in the order of its module's parameters, random keys as the numbers they hold."""
    return [np.asarray(plain(leaf)) for leaf in jax.tree_util.tree_leaves(program._arguments)]


def plain(array: Any) -> Any:
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(array)
    return array


def options_in_force() -> str:
    """Return every debug option of this XLA as `name: value` lines, defaults included; "" where they cannot be had."""
    try:
        # Each of these is a view into the one before, which must outlive it.
        options = compile_options()
        build_options = options.executable_build_options
        return str(build_options.debug_options)
    except (RouteError, AttributeError, TypeError):
        return ""


def reason(error: Exception) -> str:
    """Return what an error of the compiled modules says in one line; XLA's parser says it in the second."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    details = [line.split("error:", 1)[1].split(". Allowed")[0].strip() for line in lines[1:] if "error:" in line]
    return " ".join([lines[0], *details[:1]])[:300]
