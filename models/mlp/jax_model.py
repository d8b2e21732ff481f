"""Multi-layer perceptron in JAX."""

import jax


def apply(params, x):
    """Return logits f32[batch,classes] for x f32[batch,inputs]."""
    hidden = jax.nn.relu(x @ params["W1"] + params["b1"])
    hidden = jax.nn.relu(hidden @ params["W2"] + params["b2"])
    return hidden @ params["W3"] + params["b3"]
