"""Feed-forward network: dense 50, ReLU, dense 2."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, features, hidden):
    return {
        "W1": rng.standard_normal((features, hidden), dtype=np.float32) * np.float32(np.sqrt(2 / features)),
        "b1": np.zeros(hidden, np.float32),
        "W2": rng.standard_normal((hidden, 2), dtype=np.float32) / np.float32(np.sqrt(hidden)),
        "b2": np.zeros(2, np.float32),
    }


def example_batch(rng, batch, features):
    return rng.standard_normal((batch, features), dtype=np.float32), rng.integers(0, 2, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="ffnn",
    summary="feed-forward network: dense 50, ReLU, dense 2",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"features": 12, "hidden": 50, "batch": 8},
        "paper": {"features": 104, "hidden": 50, "batch": 128},
        "large": {"features": 104, "hidden": 2048, "batch": 4096},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="2020 runtime experiment on differentially private training",
)
