"""Dumps of one training step under every flag that changes what lies in the folder; run by a child process.

Usage: make_jax_dumps.py FOLDER, with XLA_FLAGS=--xla_dump_to=FOLDER/default in the environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp


def train_step(w, b, x, y):
    loss, (gw, gb) = jax.value_and_grad(lambda w, b: jnp.mean((jnp.tanh(x @ w + b) - y) ** 2), (0, 1))(w, b)
    return w - 0.1 * gw, b - 0.1 * gb, loss


def main(folder: Path) -> None:
    key = jax.random.key(0)
    step = jax.jit(train_step, donate_argnums=(0,))
    for batch in (8, 16):
        x = jax.random.normal(key, (batch, 5))
        arguments = (jnp.ones((5, 3)), jnp.zeros(3), x, jnp.zeros((batch, 3)))
        step(*arguments)
    lowered = step.lower(jnp.ones((5, 3)), jnp.zeros(3), x, jnp.zeros((16, 3)))
    flags = {
        "plain": {},
        "proto": {"xla_dump_hlo_as_proto": True},
        "dot": {"xla_dump_hlo_as_dot": True},
        "html": {"xla_dump_hlo_as_html": True},
        "passes": {"xla_dump_hlo_pass_re": "fusion"},
        "subfolder": {"xla_dump_hlo_to_subfolder": True, "xla_dump_include_timestamp": True},
    }
    for name, more in flags.items():
        compiled = lowered.compile(compiler_options={"xla_dump_to": str(folder / name), **more})
        if name == "plain":
            stats = compiled.memory_analysis()
    long_name = jax.jit(lambda x: x + 1)
    long_name.__wrapped__.__name__ = "a" * 245
    jax.jit(long_name.__wrapped__).lower(jnp.ones(3)).compile(
        compiler_options={"xla_dump_to": str(folder / "long")}
    )
    # Compiled into the persistent cache, then taken from it.
    jax.config.update("jax_compilation_cache_dir", str(folder / "cache"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    for name in ("compiled", "cached"):
        jax.clear_caches()
        options = {"xla_dump_to": str(folder / name)}
        jax.jit(train_step).lower(*arguments[:2], x, jnp.zeros((16, 3))).compile(compiler_options=options)
    names = ("argument", "output", "alias", "temp")
    (folder / "memory.json").write_text(
        json.dumps({name: getattr(stats, f"{name}_size_in_bytes") for name in names})
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
