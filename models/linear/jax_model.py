"""`W @ x + b` in JAX."""


def apply(params, x):
    """Return f32[width] for W f32[width,width], b and x f32[width]."""
    return params["W"] @ x + params["b"]
