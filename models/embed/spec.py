"""Embedding, mean over the tokens, two dense layers."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, vocabulary, width):
    return {
        "embedding": rng.standard_normal((vocabulary, width), dtype=np.float32),
        "W1": rng.standard_normal((width, width), dtype=np.float32) * np.float32(np.sqrt(2 / width)),
        "b1": np.zeros(width, np.float32),
        "W2": rng.standard_normal((width, 2), dtype=np.float32) / np.float32(np.sqrt(width)),
        "b2": np.zeros(2, np.float32),
    }


def example_batch(rng, batch, vocabulary, tokens):
    x = rng.integers(0, vocabulary, (batch, tokens), dtype=np.int32)
    return x, rng.integers(0, 2, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="embed",
    summary="embedding, mean over the tokens, dense 16, ReLU, dense 2",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"vocabulary": 100, "width": 16, "tokens": 12, "batch": 8},
        "paper": {"vocabulary": 10004, "width": 16, "tokens": 256, "batch": 128},
        "large": {"vocabulary": 10004, "width": 256, "tokens": 256, "batch": 1024},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="2020 runtime experiment on differentially private training",
    notes=("TensorFlow's gradient of the embedding, an IndexedSlices by itself, is made dense, as JAX's is.",),
)
