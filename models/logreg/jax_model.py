"""Logistic regression in JAX."""


def apply(params, x):
    """Return logits f32[batch,1] for x f32[batch,features]."""
    return x @ params["W"] + params["b"]
