"""What the runtime really launched: the judge of the census, in a child process of its own.

On CPU every executed thunk is an event of the profiler's trace with the stats `hlo_op` and `hlo_module`. A program
is compiled, run once to warm up, run once more under the trace, and answered as its optimized text and how often
each of its instructions was launched. JAX and TensorFlow write the same kind of trace; jaxlib and TensorFlow each
carry a reader of it, so each child imports one framework only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Traced:
    """One program: its HLO text after optimizations, and how often the runtime ran each instruction."""

    text: str
    launched: Counter[str]
    cost: dict[str, float]


def trace_programs(framework: str, programs: Path, folder: Path) -> dict[str, Traced]:
    """Trace every program of a file in one child process, and return what came of each by name.

    Args:
        framework: "jax" or "tensorflow".
        programs: a Python file with a function `programs()` that returns `{name: (function, arguments)}`.
        folder: an empty folder for traces.
    """
    answer = folder / "answer.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run(
        [sys.executable, __file__, framework, str(programs), str(folder), str(answer)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the {framework} child ended with {done.returncode}:\n{done.stderr[-3000:]}")
    found = json.loads(answer.read_text())
    return {name: Traced(each["text"], Counter(each["launched"]), each.get("cost", {})) for name, each in found.items()}


def _events(trace: Path) -> Counter[tuple[str, str]]:
    (path,) = trace.glob("**/*.xplane.pb")
    launched: Counter[tuple[str, str]] = Counter()
    if "jax" in sys.modules:
        from jax.profiler import ProfileData

        for plane in ProfileData.from_file(str(path)).planes:
            for line in plane.lines:
                for event in line.events:
                    stats = dict(event.stats)
                    if "hlo_op" in stats:
                        launched[stats["hlo_module"], stats["hlo_op"]] += 1
        return launched
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace()
    space.ParseFromString(path.read_bytes())
    for plane in space.planes:
        names = {number: each.name for number, each in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                stats = {names[stat.metadata_id]: names.get(stat.ref_value, stat.str_value) for stat in event.stats}
                if "hlo_op" in stats:
                    launched[stats["hlo_module"], stats["hlo_op"]] += 1
    return launched


def _run_jax(function, arguments, trace: Path) -> dict:
    import jax

    compiled = jax.jit(function).lower(*arguments).compile()
    jax.block_until_ready(compiled(*arguments))
    with jax.profiler.trace(str(trace)):
        jax.block_until_ready(compiled(*arguments))
    text = compiled.as_text()
    cost = {key: value for key, value in compiled.cost_analysis().items() if not key.startswith("utilization")}
    return {"text": text, "launched": _of_module(trace, text), "cost": cost}


def _run_tensorflow(function, arguments, trace: Path) -> dict:
    import tensorflow as tf

    compiled = tf.function(function, jit_compile=True)
    compiled(*arguments)
    tf.profiler.experimental.start(str(trace))
    compiled(*arguments)
    tf.profiler.experimental.stop()
    # Compiles again, after the trace, under the same names of instructions.
    text = compiled.experimental_get_compiler_ir(*arguments)(stage="optimized_hlo")
    return {"text": text, "launched": _of_module(trace, None)}


def _of_module(trace: Path, text: str | None) -> dict[str, int]:
    module = text.split("HloModule ", 1)[1].split(",", 1)[0].split()[0] if text else None
    return {op: count for (name, op), count in _events(trace).items() if module in (None, name)}


def _main(framework: str, programs: str, folder: str, answer: str) -> None:
    import runpy

    run = {"jax": _run_jax, "tensorflow": _run_tensorflow}[framework]
    found = {}
    for name, (function, arguments) in runpy.run_path(programs)["programs"]().items():
        found[name] = run(function, arguments, Path(folder) / name)
    Path(answer).write_text(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])
