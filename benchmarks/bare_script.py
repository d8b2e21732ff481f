"""Does bench's steady time agree with a bare script that follows the frameworks' own benchmarking rules?

    python benchmarks/bare_script.py --rounds 10

For JAX: jit, one call to compile, `block_until_ready` in the timed loop (docs.jax.dev, "Benchmarking JAX code"). For
TensorFlow: `tf.function(jit_compile=True)`, warm-up calls, and the call alone in the timed loop: on CPU it returns when
its outputs are there. (`tf.test.experimental.sync_devices` is what its documentation has for GPUs, and takes 12 µs a
call without one; `.numpy()` copies what JAX's `block_until_ready` leaves in place.) Both are timed with `timeit`, in
loops as long as bench's batches. Each round runs the bare script and a bench worker in fresh processes, in turns; their
medians are compared in pairs as bench compares two frameworks. Agreement is an interval of the ratio that holds 1, or
no difference larger than 2 %.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from xlacompare.bench import stats
from xlacompare.bench.request import bench_plan
from xlacompare.bench.run import Run
from xlacompare.bench.runner import carry_out, new_run
from xlacompare.registry import find_model
from xlacompare.worker.launch import Launch, child_environment

COMMON = """
import statistics, time, timeit
import numpy as np
rng = np.random.default_rng(0)
W = rng.standard_normal(({width}, {width}), dtype=np.float32) / np.float32(np.sqrt({width}))
b, x = (rng.standard_normal({width}, dtype=np.float32) for _ in range(2))
y = rng.standard_normal({width}, dtype=np.float32)
"""
TIMED = """
end = time.perf_counter() + 0.4
while time.perf_counter() < end:
    run()
timer = timeit.Timer(run)
number = max(1, round({batch_s} / (timer.timeit(10) / 10)))
print(statistics.median(timer.repeat(repeat=25, number=number)) / number)
"""
BARE = {
    "jax": """
import jax, jax.numpy as jnp
params, x, y = jax.device_put(({{"W": W, "b": b}}, x, y))
step = jax.jit(jax.grad(lambda params, x, y: jnp.mean((params["W"] @ x + params["b"] - y) ** 2)))
def run():
    jax.block_until_ready(step(params, x, y))
""",
    "tensorflow": """
import tensorflow as tf
params = {{"W": tf.constant(W), "b": tf.constant(b)}}
x, y = tf.constant(x), tf.constant(y)
@tf.function(jit_compile=True)
def step(params, x, y):
    with tf.GradientTape() as tape:
        tape.watch(params)
        loss = tf.reduce_mean((tf.linalg.matvec(params["W"], x) + params["b"] - y) ** 2)
    return tape.gradient(loss, params)
step = step.get_concrete_function(params, x, y)
def run():
    step(params, x, y)
""",
}


def bare_median_s(framework: str, width: int) -> float:
    """Return the bare script's median, in seconds a call, in a process of its own."""
    script = (COMMON + BARE[framework] + TIMED).format(width=width, batch_s=0.01)
    environment = child_environment(Launch(framework, {}))
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return float(done.stdout.split()[-1])


def bench_median_s(framework: str, size: str, folder: Path, number: int) -> float:
    """Return a bench worker's median, in seconds a call."""
    plan = replace(bench_plan("linear", names=[framework], size=size), rounds=1)
    run: Run = carry_out(new_run(plan), folder / f"{framework}-{number}.json")
    return run.workers[0].median_s


def compare(framework: str, size: str, width: int, rounds: int, folder: Path) -> tuple[stats.Ratio, float, float]:
    """Return bench's time over the bare script's, and both medians in seconds a call."""
    bare, bench = [], []
    for number in range(rounds):
        for side in ("bare", "bench") if number % 2 == 0 else ("bench", "bare"):
            if side == "bare":
                bare.append(bare_median_s(framework, width))
            else:
                bench.append(bench_median_s(framework, size, folder, number))
    return stats.paired(bare, bench), stats.summarize(bare).median_s, stats.summarize(bench).median_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--size", default="large", choices=("tiny", "large"))
    parser.add_argument("--frameworks", default="jax,tensorflow")
    arguments = parser.parse_args()
    width = find_model("linear").spec.sizes[arguments.size]["width"]
    agree = True
    with tempfile.TemporaryDirectory() as folder:
        for framework in arguments.frameworks.split(","):
            ratio, bare, bench = compare(framework, arguments.size, width, arguments.rounds, Path(folder))
            found = ratio.low <= 1 <= ratio.high or stats.verdict(ratio, 0.02) == stats.NO_DIFFERENCE
            agree &= found
            print(
                f"{framework} {arguments.size}: bare {bare * 1e6:.1f} µs, bench {bench * 1e6:.1f} µs, bench/bare "
                f"{ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] -> {'agree' if found else 'DISAGREE'}",
                flush=True,
            )
    return int(not agree)


if __name__ == "__main__":
    raise SystemExit(main())
