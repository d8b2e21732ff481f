"""Convolutional network on images of digits in TensorFlow."""

import tensorflow as tf


def conv(x, params, name, padding):
    x = tf.nn.conv2d(x, params[f"{name}/W"], strides=2, padding=padding)
    return tf.nn.relu(x + params[f"{name}/b"])


def max_pool(x):
    return tf.nn.max_pool2d(x, ksize=2, strides=1, padding="VALID")


def apply(params, x):
    """Return logits f32[batch,10] for images x f32[batch,side,side,1]."""
    x = max_pool(conv(x, params, "conv1", "SAME"))
    x = max_pool(conv(x, params, "conv2", "VALID"))
    x = tf.reshape(x, [x.shape[0], -1])
    x = tf.nn.relu(x @ params["dense1/W"] + params["dense1/b"])
    return x @ params["dense2/W"] + params["dense2/b"]
