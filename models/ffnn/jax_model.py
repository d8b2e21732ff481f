"""Feed-forward network in JAX."""

import jax


def apply(params, x):
    """Return logits f32[batch,2] for x f32[batch,features]."""
    hidden = jax.nn.relu(x @ params["W1"] + params["b1"])
    return hidden @ params["W2"] + params["b2"]
