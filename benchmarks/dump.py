"""How long `dump linear` takes, as a ratio to the slower of two bare scripts.

A bare script imports one framework, compiles the gradient of `linear` with dumping on, and runs it once: what somebody
would write by hand. Rounds alternate, so that a drift of the machine hits both alike; medians are compared.

    python benchmarks/dump.py [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE_JAX = """
import numpy as np, jax, jax.numpy as jnp
rng = np.random.default_rng(0)
W, b, x, y = (rng.standard_normal(s, dtype=np.float32) for s in ((5, 5), 5, 5, 5))
def loss(p, x, y):
    return jnp.mean((p["W"] @ x + p["b"] - y) ** 2)
print(jax.block_until_ready(jax.jit(jax.grad(loss))({"W": W, "b": b}, x, y)))
"""
BARE_TENSORFLOW = """
import numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
W, b, x, y = (tf.constant(rng.standard_normal(s, dtype=np.float32)) for s in ((5, 5), 5, 5, 5))
@tf.function(jit_compile=True)
def grad(p, x, y):
    with tf.GradientTape() as tape:
        tape.watch(p)
        loss = tf.reduce_mean((tf.linalg.matvec(p["W"], x) + p["b"] - y) ** 2)
    return tape.gradient(loss, p)
print({k: v.numpy() for k, v in grad({"W": W, "b": b}, x, y).items()})
"""


def seconds(command: list[str], folder: str, flags: str = "") -> float:
    """Run a command and return its wall time."""
    environment = {**os.environ, "XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "1"}
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    times: dict[str, list[float]] = {"bare JAX": [], "bare TensorFlow": [], "dump linear": []}
    for number in range(rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            flags = f"--xla_dump_to={Path(folder) / 'bare'}"
            measured = {
                "bare JAX": seconds([sys.executable, "-c", BARE_JAX], folder, flags),
                "bare TensorFlow": seconds([sys.executable, "-c", BARE_TENSORFLOW], folder, flags),
                "dump linear": seconds([sys.executable, "-m", "xlacompare", "dump", "linear"], folder),
            }
        if number:  # the first round fills the file cache
            for name, value in measured.items():
                times[name].append(value)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:16} {value:6.2f} s  (median of {rounds}; {min(times[name]):.2f} to {max(times[name]):.2f})")
    slower = max(medians["bare JAX"], medians["bare TensorFlow"])
    print(f"ratio of `dump linear` to the slower bare script: {medians['dump linear'] / slower:.2f} (bar: 1.25)")


if __name__ == "__main__":
    main()
