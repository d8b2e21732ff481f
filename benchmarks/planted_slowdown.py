"""Is a slow-down of a known size found, in the right direction? Runs whose right side does a fifth more work.

    python benchmarks/planted_slowdown.py --runs 10

The model is a chain of five products of f32[512,512]; the slowed side multiplies once more, which is 20 % more
arithmetic, and adds what comes of it times zero, so that it computes the same. Both sides are of one framework, so that
the planted product is all that differs.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from xlacompare.bench import stats
from xlacompare.bench.analysis import comparisons
from xlacompare.bench.plan import Column
from xlacompare.bench.request import bench_plan
from xlacompare.bench.runner import carry_out, new_run

SPEC = """
import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, width):
    return {"W": rng.standard_normal((width, width), dtype=np.float32) / np.float32(np.sqrt(width))}


def example_batch(rng, batch, width):
    x = rng.standard_normal((batch, width), dtype=np.float32)
    return x, x


SPEC = ModelSpec(
    name="chain", summary="five products, or six", loss="mean_squared_error",
    sizes={"only": {"width": 512, "batch": 512}}, init_params=init_params, example_batch=example_batch,
    options={"products": 5},
)
"""
JAX = """
import jax.numpy as jnp


def apply(params, x, products=5):
    y = x
    for _ in range(5):
        y = y @ params["W"]
    for _ in range(products - 5):
        # A product whose result counts for nothing and is computed all the same: the factor is not known to be zero.
        y = y + (y @ params["W"]) * jnp.minimum(jnp.abs(params["W"][0, 0]), 0.0)
    return y
"""
TENSORFLOW = """
import tensorflow as tf


def apply(params, x, products=5):
    y = x
    for _ in range(5):
        y = y @ params["W"]
    for _ in range(products - 5):
        y = y + (y @ params["W"]) * tf.minimum(tf.abs(params["W"][0, 0]), 0.0)
    return y
"""


def write_model(folder: Path) -> Path:
    """Write the model folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("spec.py", SPEC), ("jax_model.py", JAX), ("tensorflow_model.py", TENSORFLOW)):
        (folder / name).write_text(text.lstrip())
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--framework", default="jax", choices=("jax", "tensorflow"))
    arguments = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = write_model(Path(name) / "chain")
        plan = replace(
            bench_plan(str(folder), variant="forward", names=[arguments.framework], rounds=arguments.rounds),
            columns=(
                Column("five", arguments.framework),
                Column("six", arguments.framework, options=(("products", 6),)),
            ),
        )
        for number in range(arguments.runs):
            run = carry_out(new_run(plan), Path(name) / f"{number}.json")
            (pair,) = comparisons(run)
            found += pair.verdict == stats.FASTER
            ratio = pair.ratio
            print(
                f"{number + 1:2d} {ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] {pair.verdict}", flush=True
            )
    print(f"found in {found} of {arguments.runs}")
    return int(found < 0.9 * arguments.runs)


if __name__ == "__main__":
    raise SystemExit(main())
