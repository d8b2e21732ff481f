"""Decoder-only transformer: causal attention and an MLP with residuals and layer normalisation."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, vocabulary, tokens, width, depth):
    def normal(rows, columns):
        return rng.standard_normal((rows, columns), dtype=np.float32) / np.float32(np.sqrt(rows))

    params = {
        "embedding": rng.standard_normal((vocabulary, width), dtype=np.float32),
        "positions": rng.standard_normal((tokens, width), dtype=np.float32),
        "logits/W": normal(width, vocabulary),
    }
    for block in range(depth):
        params[f"block{block:02}/qkv/W"] = normal(width, 3 * width)
        params[f"block{block:02}/out/W"] = normal(width, width)
        params[f"block{block:02}/mlp1/W"] = normal(width, 4 * width)
        params[f"block{block:02}/mlp1/b"] = np.zeros(4 * width, np.float32)
        params[f"block{block:02}/mlp2/W"] = normal(4 * width, width)
        params[f"block{block:02}/mlp2/b"] = np.zeros(width, np.float32)
    for norm in [f"block{block:02}/norm{position}" for block in range(depth) for position in (1, 2)] + ["norm"]:
        params[f"{norm}/scale"] = np.ones(width, np.float32)
        params[f"{norm}/offset"] = np.zeros(width, np.float32)
    return params


def example_batch(rng, batch, vocabulary, tokens):
    text = rng.integers(0, vocabulary, (batch, tokens + 1), dtype=np.int32)
    return np.ascontiguousarray(text[:, :-1]), np.ascontiguousarray(text[:, 1:])


SPEC = ModelSpec(
    name="transformer",
    summary="decoder block: causal attention, MLP, residuals, layer normalisation",
    loss="softmax_cross_entropy",
    sizes={
        "tiny": {"vocabulary": 50, "tokens": 6, "width": 8, "heads": 2, "batch": 4, "depth": 1},
        "paper": {"vocabulary": 1000, "tokens": 128, "width": 256, "heads": 8, "batch": 8, "depth": 4},
        "large": {"vocabulary": 32000, "tokens": 512, "width": 768, "heads": 12, "batch": 8, "depth": 12},
    },
    init_params=init_params,
    example_batch=example_batch,
    options={"depth": 1},
    origin="what is most often ported today",
    notes=(
        "TensorFlow's gradient of the embedding, an IndexedSlices by itself, is made dense, as JAX's is.",
        "Timed without XLA (bench --columns), TensorFlow 2.21 crashes in dp_train_step more often than not; "
        "TF_ENABLE_ONEDNN_OPTS=0 in the environment avoids it. Where its own kernels are not what is timed, it is set.",
    ),
)
