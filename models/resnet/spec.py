"""Residual convolution blocks normalised with the statistics of the batch."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, channels, blocks):
    params = {}

    def conv(name, side, inputs, outputs):
        scale = np.float32(np.sqrt(2 / (side * side * inputs)))
        params[f"{name}/W"] = rng.standard_normal((side, side, inputs, outputs), dtype=np.float32) * scale
        params[f"{name}/scale"] = np.ones(outputs, np.float32)
        params[f"{name}/offset"] = np.zeros(outputs, np.float32)

    conv("stem", 3, 3, channels[0])
    inputs = channels[0]
    for stage, outputs in enumerate(channels):
        for block in range(blocks):
            name = f"stage{stage}/block{block}"
            conv(f"{name}/conv1", 3, inputs, outputs)
            conv(f"{name}/conv2", 3, outputs, outputs)
            if inputs != outputs:
                conv(f"{name}/shortcut", 1, inputs, outputs)
            inputs = outputs
    params["dense/W"] = rng.standard_normal((inputs, 10), dtype=np.float32) / np.float32(np.sqrt(inputs))
    params["dense/b"] = np.zeros(10, np.float32)
    return params


def example_batch(rng, batch, side):
    return rng.random((batch, side, side, 3), dtype=np.float32), rng.integers(0, 10, batch, dtype=np.int32)


SPEC = ModelSpec(
    name="resnet",
    summary="residual convolution blocks with batch statistics",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"side": 8, "channels": [4, 8], "blocks": 1, "batch": 4},
        "paper": {"side": 32, "channels": [16, 32, 64], "blocks": 3, "batch": 128},
        "large": {"side": 32, "channels": [64, 128, 256, 512], "blocks": 2, "batch": 128},
    },
    init_params=init_params,
    example_batch=example_batch,
    origin="residual network of 20 layers for images of 32x32",
    notes=("dp_train_step takes each example's own statistics: it normalises over height and width alone.",),
)
