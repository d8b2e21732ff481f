"""Residual network in TensorFlow."""

import tensorflow as tf


def conv_norm(x, params, name, stride=1):
    x = tf.nn.conv2d(x, params[f"{name}/W"], strides=stride, padding="SAME")
    mean, variance = tf.nn.moments(x, axes=[0, 1, 2])
    return tf.nn.batch_normalization(x, mean, variance, params[f"{name}/offset"], params[f"{name}/scale"], 1e-5)


def residual_block(x, params, name):
    # The block that changes the number of channels halves the image, and its shortcut with it.
    stride = 2 if f"{name}/shortcut/W" in params else 1
    hidden = tf.nn.relu(conv_norm(x, params, f"{name}/conv1", stride))
    hidden = conv_norm(hidden, params, f"{name}/conv2")
    shortcut = conv_norm(x, params, f"{name}/shortcut", stride) if stride == 2 else x
    return tf.nn.relu(hidden + shortcut)


def apply(params, x, channels, blocks):
    """Return logits f32[batch,10] for images x f32[batch,side,side,3]."""
    x = tf.nn.relu(conv_norm(x, params, "stem"))
    for stage in range(len(channels)):
        for block in range(blocks):
            x = residual_block(x, params, f"stage{stage}/block{block}")
    return tf.reduce_mean(x, axis=[1, 2]) @ params["dense/W"] + params["dense/b"]
