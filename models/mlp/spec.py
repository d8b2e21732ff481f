"""Three dense layers on flat images: the pair of the JIT training benchmark."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, inputs, hidden, classes):
    widths = [inputs, *hidden, classes]
    params = {}
    for layer in range(1, len(widths)):
        rows, columns = widths[layer - 1], widths[layer]
        params[f"W{layer}"] = rng.standard_normal((rows, columns), dtype=np.float32) * np.float32(np.sqrt(2 / rows))
        params[f"b{layer}"] = np.zeros(columns, np.float32)
    return params


def example_batch(rng, batch, inputs, classes):
    labels = np.eye(classes, dtype=np.float32)[rng.integers(0, classes, batch)]
    return rng.random((batch, inputs), dtype=np.float32), labels


SPEC = ModelSpec(
    name="mlp",
    summary="multi-layer perceptron 784-512-256-10, ReLU",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"inputs": 36, "hidden": [16, 12], "classes": 10, "batch": 8},
        "paper": {"inputs": 784, "hidden": [512, 256], "classes": 10, "batch": 128},
        "large": {"inputs": 784, "hidden": [2048, 2048], "classes": 10, "batch": 1024},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="benchmark of JIT-compiled training on MNIST (535,818 parameters at size paper)",
)
