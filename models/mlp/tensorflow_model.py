"""Multi-layer perceptron in TensorFlow."""

import tensorflow as tf


def apply(params, x):
    """Return logits f32[batch,classes] for x f32[batch,inputs]."""
    hidden = tf.nn.relu(x @ params["W1"] + params["b1"])
    hidden = tf.nn.relu(hidden @ params["W2"] + params["b2"])
    return hidden @ params["W3"] + params["b3"]
