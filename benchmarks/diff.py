"""Time and memory of a diff as modules grow: a deep network with dropout, with one random generator against another.

    python benchmarks/diff.py [--layers 50 100 200 400] [--keep DIR]

Each module is compiled by JAX in a child process (minutes at 400 layers) and diffed in a fresh child, reading included.
The last line is the exponent with which CPU time grows from the smallest to the largest.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GENERATORS = ("threefry2x32", "rbg")
MAX_SECONDS, MAX_BYTES, MAX_EXPONENT = 25.0, 3 * 10**9, 1.15

COMPILE = """
import sys
import jax
import jax.numpy as jnp

layers, generator, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]

def loss(weights, x, key):
    for weight in weights:
        key, now = jax.random.split(key)
        x = jnp.tanh(x @ weight)
        x = jnp.where(jax.random.bernoulli(now, 0.9, x.shape), x / 0.9, 0.0)
    return jnp.mean(x**2)

weights = [jnp.ones((32, 32)) * 0.01 for _ in range(layers)]
key = jax.random.key(0, impl=generator)
compiled = jax.jit(jax.grad(loss)).lower(weights, jnp.ones((8, 32)), key).compile()
with open(out, "w", encoding="utf-8") as stream:
    stream.write(compiled.as_text())
"""
MEASURE = """
import json, resource, sys, time
from xlacompare.diff import diff
from xlacompare.hlo import read_file

wall, cpu = time.perf_counter(), time.process_time()
found = diff(read_file(sys.argv[1])[0], read_file(sys.argv[2])[0])
print(json.dumps({
    "wall_s": time.perf_counter() - wall,
    "cpu_s": time.process_time() - cpu,
    "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "instructions": [sum(map(len, module.computations)) for module in (found.left, found.right)],
    **found.operation_counts,
}))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", nargs="*", type=int, default=[50, 100, 200, 400])
    parser.add_argument("--keep", type=Path, help="keep the compiled texts here, and use those that are there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [(layers, measure(layers, folder)) for layers in sorted(arguments.layers)]
    (first, small), (last, large) = rows[0], rows[-1]
    exponent = 1.0
    if last > first:
        exponent = math.log(large["cpu_s"] / small["cpu_s"]) / math.log(last / first)
        print(f"CPU time grows with exponent {exponent:.2f} from {first} to {last} layers")
    held = large["wall_s"] <= MAX_SECONDS and large["peak_rss_bytes"] <= MAX_BYTES and exponent <= MAX_EXPONENT
    return 0 if held else 1


def measure(layers: int, folder: Path) -> dict:
    texts = []
    for generator in GENERATORS:
        texts.append(folder / f"{generator}_{layers}.txt")
        if not texts[-1].exists():
            run(COMPILE, str(layers), generator, str(texts[-1]))
    row = json.loads(run(MEASURE, *map(str, texts)))
    print(
        f"{layers:5} layers: {row['instructions'][0]:,} and {row['instructions'][1]:,} instructions, "
        f"{row['left']:,} and {row['right']:,} operations, {row['matched']:,} matched; {row['wall_s']:.1f} s wall, "
        f"{row['cpu_s']:.1f} s CPU, {row['peak_rss_bytes'] / 1e9:.2f} GB",
        flush=True,
    )
    return row


def run(code: str, *arguments: str) -> str:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
