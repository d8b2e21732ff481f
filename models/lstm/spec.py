"""Embedding, an LSTM written out in plain operations, mean over time, dense 2."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, vocabulary, width):
    scale = np.float32(1 / np.sqrt(width))
    return {
        "embedding": rng.standard_normal((vocabulary, width), dtype=np.float32),
        # The four gates side by side: input, forget, cell, output.
        "lstm/W": rng.standard_normal((width, 4 * width), dtype=np.float32) * scale,
        "lstm/U": rng.standard_normal((width, 4 * width), dtype=np.float32) * scale,
        "lstm/b": np.zeros(4 * width, np.float32),
        "dense/W": rng.standard_normal((width, 2), dtype=np.float32) * scale,
        "dense/b": np.zeros(2, np.float32),
    }


def example_batch(rng, batch, vocabulary, tokens):
    x = rng.integers(0, vocabulary, (batch, tokens), dtype=np.int32)
    return x, rng.integers(0, 2, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="lstm",
    summary="embedding, LSTM over the tokens in plain operations, mean, dense 2",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"vocabulary": 50, "width": 8, "tokens": 7, "batch": 4},
        "paper": {"vocabulary": 10004, "width": 100, "tokens": 256, "batch": 128},
        "large": {"vocabulary": 10004, "width": 512, "tokens": 256, "batch": 256},
    },
    init_params=init_params,
    example_batch=example_batch,
    # Time steps in one trip of the loop; 0 leaves no loop.
    options={"unroll": 1},
    vectorize_options={"unroll": 0},
    origin="2020 runtime experiment on differentially private training",
    notes=(
        "TensorFlow's gradient of the embedding, an IndexedSlices by itself, is made dense, as JAX's is.",
        "The vectorised dp_train_step has no loop over time in either framework: TensorFlow 2.21 cannot compile "
        "tf.vectorized_map of a while loop's gradient.",
    ),
)
