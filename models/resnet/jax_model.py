"""Residual network in JAX."""

import jax
from jax import lax


def conv_norm(x, params, name, stride=1):
    x = lax.conv_general_dilated(
        x, params[f"{name}/W"], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    normalised = (x - x.mean(axis=(0, 1, 2))) * lax.rsqrt(x.var(axis=(0, 1, 2)) + 1e-5)
    return normalised * params[f"{name}/scale"] + params[f"{name}/offset"]


def residual_block(x, params, name):
    # The block that changes the number of channels halves the image, and its shortcut with it.
    stride = 2 if f"{name}/shortcut/W" in params else 1
    hidden = jax.nn.relu(conv_norm(x, params, f"{name}/conv1", stride))
    hidden = conv_norm(hidden, params, f"{name}/conv2")
    shortcut = conv_norm(x, params, f"{name}/shortcut", stride) if stride == 2 else x
    return jax.nn.relu(hidden + shortcut)


def apply(params, x, channels, blocks):
    """Return logits f32[batch,10] for images x f32[batch,side,side,3]."""
    x = jax.nn.relu(conv_norm(x, params, "stem"))
    for stage in range(len(channels)):
        for block in range(blocks):
            x = residual_block(x, params, f"stage{stage}/block{block}")
    return x.mean(axis=(1, 2)) @ params["dense/W"] + params["dense/b"]
