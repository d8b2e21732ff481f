"""Embedding, mean over the tokens and two dense layers in TensorFlow."""

import tensorflow as tf


def apply(params, x):
    """Return logits f32[batch,2] for tokens x s32[batch,tokens]."""
    mean = tf.reduce_mean(tf.gather(params["embedding"], x), axis=1)
    hidden = tf.nn.relu(mean @ params["W1"] + params["b1"])
    return hidden @ params["W2"] + params["b2"]
