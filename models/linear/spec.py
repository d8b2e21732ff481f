"""`W @ x + b` for one vector x: the pair of the field's founding experiment of 2020."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, width):
    return {
        "W": rng.standard_normal((width, width), dtype=np.float32) / np.float32(np.sqrt(width)),
        "b": rng.standard_normal(width, dtype=np.float32),
    }


def example_batch(rng, batch, width):
    return rng.standard_normal(width, dtype=np.float32), rng.standard_normal(width, dtype=np.float32)


SPEC = ModelSpec(
    name="linear",
    summary="matrix-vector product with bias, W @ x + b",
    loss="mean_squared_error",
    sizes={"tiny": {"width": 5, "batch": 1}, "large": {"width": 2048, "batch": 1}},
    init_params=init_params,
    example_batch=example_batch,
    batched=False,
    origin="2020 supplement on fusion in JAX and TensorFlow",
)
