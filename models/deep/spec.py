"""Many layers of dense, GELU, dropout and layer normalisation: what makes compilers slow."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, width, depth, layers):
    # Near the identity, in GELU's nearly linear part: otherwise hundreds of layers blow a rounding error up until the
    # gradients of two correct programs have nothing in common.
    noise = rng.standard_normal((depth, width, width), dtype=np.float32) / np.float32(4 * np.sqrt(width))
    stacked = {
        "W": np.eye(width, dtype=np.float32) + noise,
        "b": np.full((depth, width), 3, np.float32),
        "scale": np.ones((depth, width), np.float32),
        "offset": np.zeros((depth, width), np.float32),
    }
    if layers == "loop":
        return stacked
    return {f"layer{layer:03}/{name}": values[layer] for name, values in stacked.items() for layer in range(depth)}


def example_batch(rng, batch, width):
    return rng.standard_normal((batch, width), dtype=np.float32), rng.standard_normal((batch, width), dtype=np.float32)


SPEC = ModelSpec(
    name="deep",
    summary="layers of dense, GELU, dropout and layer normalisation",
    loss="mean_squared_error",
    sizes={
        "tiny": {"width": 8, "batch": 4, "depth": 2},
        "paper": {"width": 256, "batch": 32, "depth": 64},
        "large": {"width": 1024, "batch": 128, "depth": 400},
    },
    init_params=init_params,
    example_batch=example_batch,
    random=True,
    options={
        "depth": 2,
        "dropout": 0.1,
        "layers": ("unrolled", "loop"),
        "prng": ("threefry2x32", "rbg", "unsafe_rbg"),
    },
    still_options={"dropout": 0.0},
    origin="field report of 2019 on compile time with and without dropout",
    notes=(
        "With --layers loop, TensorFlow 2.21 cannot compile dp_train_step unless it is given --no-vectorize: "
        "tf.vectorized_map of a while loop's gradient fails.",
        "The frameworks draw different dropout masks from one seed; parity is asserted at dropout 0.",
        "TensorFlow draws with the stateless generator of the same algorithm: threefry2x32 as threefry, rbg as philox, "
        "unsafe_rbg as the backend's choice. Outside XLA it has Philox alone.",
    ),
)
