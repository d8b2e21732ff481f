"""Convolutional network on images of digits, with overlapping max-pools."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, side, channels, hidden):
    first, second = channels
    # After a same convolution of stride 2, a pool, a valid convolution of 4 with stride 2 and another pool.
    flat_side = (((side + 1) // 2 - 1) - 4) // 2
    shapes = {
        "conv1/W": (8, 8, 1, first),
        "conv2/W": (4, 4, first, second),
        "dense1/W": (flat_side * flat_side * second, hidden),
        "dense2/W": (hidden, 10),
    }
    params = {}
    for name, shape in shapes.items():
        scale = np.float32(np.sqrt(2 / np.prod(shape[:-1])))
        params[name] = rng.standard_normal(shape, dtype=np.float32) * scale
        params[name.replace("W", "b")] = np.zeros(shape[-1], np.float32)
    return params


def example_batch(rng, batch, side):
    return rng.random((batch, side, side, 1), dtype=np.float32), rng.integers(0, 10, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="mnist",
    summary="two convolutions with overlapping max-pools, dense 32, dense 10",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"side": 16, "channels": [4, 4], "hidden": 8, "batch": 4},
        "paper": {"side": 28, "channels": [16, 32], "hidden": 32, "batch": 128},
        "large": {"side": 28, "channels": [64, 128], "hidden": 128, "batch": 512},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="2020 runtime experiment on differentially private training",
)
