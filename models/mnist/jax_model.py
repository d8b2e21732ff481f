"""Convolutional network on images of digits in JAX."""

import jax
import jax.numpy as jnp
from jax import lax


def conv(x, params, name, padding):
    x = lax.conv_general_dilated(
        x, params[f"{name}/W"], window_strides=(2, 2), padding=padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.nn.relu(x + params[f"{name}/b"])


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")


def apply(params, x):
    """Return logits f32[batch,10] for images x f32[batch,side,side,1]."""
    x = max_pool(conv(x, params, "conv1", "SAME"))
    x = max_pool(conv(x, params, "conv2", "VALID"))
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ params["dense1/W"] + params["dense1/b"])
    return x @ params["dense2/W"] + params["dense2/b"]
