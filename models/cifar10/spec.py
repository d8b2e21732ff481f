"""All-convolutional network on small colour images."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, channels):
    one, two, three, four = channels
    outputs = [one, one, two, two, three, three, four, 10]
    inputs = [3, *outputs[:-1]]
    params = {}
    for layer in range(len(outputs)):
        shape = (3, 3, inputs[layer], outputs[layer])
        scale = np.float32(np.sqrt(2 / np.prod(shape[:-1])))
        params[f"conv{layer}/W"] = rng.standard_normal(shape, dtype=np.float32) * scale
        params[f"conv{layer}/b"] = np.zeros(outputs[layer], np.float32)
    return params


def example_batch(rng, batch, side):
    return rng.random((batch, side, side, 3), dtype=np.float32), rng.integers(0, 10, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="cifar10",
    summary="pairs of 3x3 convolutions with average pools, global mean",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"side": 8, "channels": [4, 4, 6, 8], "batch": 4},
        "paper": {"side": 32, "channels": [32, 64, 128, 256], "batch": 128},
        "large": {"side": 32, "channels": [64, 128, 256, 512], "batch": 256},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="2020 runtime experiment on differentially private training",
)
