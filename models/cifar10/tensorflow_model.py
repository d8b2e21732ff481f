"""All-convolutional network on small colour images in TensorFlow."""

import tensorflow as tf


def conv(x, params, layer):
    return tf.nn.conv2d(x, params[f"conv{layer}/W"], strides=1, padding="SAME") + params[f"conv{layer}/b"]


def apply(params, x):
    """Return logits f32[batch,10] for images x f32[batch,side,side,3]."""
    for pair in range(3):
        x = tf.nn.relu(conv(x, params, 2 * pair))
        x = tf.nn.relu(conv(x, params, 2 * pair + 1))
        x = tf.nn.avg_pool2d(x, ksize=2, strides=2, padding="VALID")
    x = tf.nn.relu(conv(x, params, 6))
    return tf.reduce_mean(conv(x, params, 7), axis=[1, 2])
