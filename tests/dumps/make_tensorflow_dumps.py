"""Dumps of one training step in TensorFlow; run by a child process.

Usage: make_tensorflow_dumps.py FOLDER, with XLA_FLAGS=--xla_dump_to=FOLDER/default in the environment.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf


def main(folder: Path) -> None:
    w, b = tf.Variable(tf.ones((5, 3))), tf.Variable(tf.zeros(3))

    @tf.function(jit_compile=True)
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w + b) - y) ** 2)
        gw, gb = tape.gradient(loss, (w, b))
        w.assign_sub(0.1 * gw)
        b.assign_sub(0.1 * gb)
        return loss

    for batch in (8, 16):
        train_step(tf.ones((batch, 5)), tf.zeros((batch, 3)))
    (folder / "done").write_text("")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
