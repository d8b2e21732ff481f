"""Logistic regression: one output, sigmoid cross-entropy."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, features):
    return {
        "W": rng.standard_normal((features, 1), dtype=np.float32) / np.float32(np.sqrt(features)),
        "b": np.zeros(1, np.float32),
    }


def example_batch(rng, batch, features):
    x = rng.standard_normal((batch, features), dtype=np.float32)
    return x, rng.integers(0, 2, (batch, 1)).astype(np.float32)


SPEC = ModelSpec(
    name="logreg",
    summary="logistic regression, one output",
    loss="sigmoid_cross_entropy",
    sizes={
        "tiny": {"features": 12, "batch": 8},
        "paper": {"features": 104, "batch": 128},
        "large": {"features": 104, "batch": 32768},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="2020 runtime experiment on differentially private training",
)
