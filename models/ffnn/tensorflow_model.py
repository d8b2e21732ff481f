"""Feed-forward network in TensorFlow."""

import tensorflow as tf


def apply(params, x):
    """Return logits f32[batch,2] for x f32[batch,features]."""
    hidden = tf.nn.relu(x @ params["W1"] + params["b1"])
    return hidden @ params["W2"] + params["b2"]
