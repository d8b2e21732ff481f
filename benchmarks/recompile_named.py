"""Compile HLO programs whose operations carry unique names, with the XLA of one framework. A child of `matching.py`.

    python benchmarks/recompile_named.py jax|tensorflow REQUEST.json

The request lists programs: "text" (HLO before optimizations), "artifact" (StableHLO that the JAX child writes and the
TensorFlow child reads) and "inputs" and "results" as [numpy type, dimensions] each. XLA_FLAGS says where dumps land.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from xlacompare.frameworks.recompile import RouteError


def main(framework: str, request: dict[str, Any]) -> int:
    for program in request["programs"]:
        try:
            if framework == "jax":
                compile_with_jax(program)
            else:
                compile_with_tensorflow(program)
        except RouteError as error:
            print(f"{program['name']}: {error}", file=sys.stderr)
    return 0


def compile_with_jax(program: dict[str, Any]) -> None:
    from xlacompare.frameworks import recompile_jax

    text = Path(program["text"]).read_text(encoding="utf-8")
    artifact = recompile_jax.portable_artifact(recompile_jax.stablehlo_of_text(text))
    Path(program["artifact"]).write_bytes(artifact)
    # From the text again: an artifact that is read back is printed without the names.
    recompile_jax.compile_program(text.encode(), program["name"], [], [])


def compile_with_tensorflow(program: dict[str, Any]) -> None:
    from xlacompare.frameworks import recompile_tensorflow

    if not Path(program["artifact"]).exists():
        return
    inputs, results = ([np.zeros(sizes, kind) for kind, sizes in program[key]] for key in ("inputs", "results"))
    artifact = Path(program["artifact"]).read_bytes()
    recompile_tensorflow.compile_program(artifact, program["name"], recompile_tensorflow.on_device(inputs), results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))))
