"""The TensorFlow programs of the reference dumps, the same mathematics as programs_jax.py.

    XLA_FLAGS=--xla_dump_to=DIR python programs_tensorflow.py
"""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def array(*shape):
    return tf.constant(rng.standard_normal(shape).astype(np.float32))


def gradients(loss, params):
    with tf.GradientTape() as tape:
        tape.watch(params)
        value = loss(params)
    return tape.gradient(value, params)


def linear_grad(params, x, y):
    return gradients(lambda p: tf.reduce_mean((tf.linalg.matvec(p["W"], x) + p["b"] - y) ** 2), params)


def mlp_step(params, x, labels):
    def loss(p):
        hidden = tf.nn.relu(x @ p["W1"] + p["b1"])
        return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, hidden @ p["W2"] + p["b2"]))

    return {name: params[name] - 0.1 * grad for name, grad in gradients(loss, params).items()}


def scan_grad(W, xs):
    def loss(W):
        def body(i, h, total):
            return i + 1, tf.tanh(tf.linalg.matvec(W, h) + xs[i]), total + tf.reduce_sum(h)

        start = (0, tf.zeros(xs.shape[1]), 0.0)
        _, carry, total = tf.while_loop(lambda i, h, total: i < 10, body, start, maximum_iterations=10)
        return tf.reduce_sum(carry) + total

    return gradients(loss, W)


def conv(images, kernel):
    y = tf.nn.relu(tf.nn.conv2d(images, kernel, 2, "SAME"))
    return tf.nn.max_pool2d(y, 2, 1, "VALID")


PROGRAMS = [
    (linear_grad, ({"W": array(5, 5), "b": array(5)}, array(5), array(5))),
    (mlp_step, ({"W1": array(16, 32), "b1": array(32), "W2": array(32, 4), "b2": array(4)}, array(8, 16), array(8, 4))),
    (scan_grad, (array(8, 8), array(10, 8))),
    (conv, (array(2, 12, 12, 3), array(3, 3, 3, 4))),
]

for function, arguments in PROGRAMS:
    tf.nest.map_structure(lambda value: value.numpy(), tf.function(function, jit_compile=True)(*arguments))
