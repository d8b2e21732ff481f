"""Embedding, mean over the tokens and two dense layers in JAX."""

import jax


def apply(params, x):
    """Return logits f32[batch,2] for tokens x s32[batch,tokens]."""
    mean = params["embedding"][x].mean(axis=1)
    hidden = jax.nn.relu(mean @ params["W1"] + params["b1"])
    return hidden @ params["W2"] + params["b2"]
