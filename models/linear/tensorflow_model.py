"""`W @ x + b` in TensorFlow."""

import tensorflow as tf


def apply(params, x):
    """Return f32[width] for W f32[width,width], b and x f32[width]."""
    return tf.linalg.matvec(params["W"], x) + params["b"]
