"""Programs whose launches the census must tell; run by a child process that imports TensorFlow and nothing else."""

from __future__ import annotations


def programs():
    import tensorflow as tf

    ones = tf.ones

    def mlp_step(w, b, x, y):
        with tf.GradientTape() as tape:
            tape.watch((w, b))
            loss = tf.reduce_mean((tf.tanh(x @ w + b) - y) ** 2)
        gw, gb = tape.gradient(loss, (w, b))
        return w - 0.1 * gw, b - 0.1 * gb, loss

    def lstm_gradient(w, xs):
        with tf.GradientTape() as tape:
            tape.watch(w)
            h = tf.zeros((xs.shape[1], w.shape[1] // 4))
            s = tf.zeros_like(h)
            for t in tf.range(xs.shape[0]):
                i, f, g, o = tf.split(tf.concat([xs[t], h], -1) @ w, 4, -1)
                s = tf.sigmoid(f) * s + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(s)
            loss = tf.reduce_sum(h)
        return tape.gradient(loss, w)

    def unknown_length(x):
        return tf.while_loop(lambda c: tf.reduce_sum(c) > 1.0, lambda c: (tf.sin(c) * 0.5,), (x,))

    def conditional(x):
        return tf.cond(
            tf.reduce_sum(x) > 0,
            lambda: tf.reduce_sum(tf.sin(x)),
            lambda: tf.reduce_sum(tf.sort(x, axis=0)),
        )

    def convolution(x, k):
        return tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")))

    def convolution_gradient(x, k):
        with tf.GradientTape() as tape:
            tape.watch(k)
            loss = convolution(x, k)
        return tape.gradient(loss, k)

    def dropout(x):
        return tf.where(tf.random.stateless_uniform(x.shape, (1, 2)) > 0.5, x / 0.5, 0.0)

    image = ones((8, 28, 28, 3))
    kernel = ones((3, 3, 3, 16))
    return {
        "mlp_step": (mlp_step, (ones((5, 3)), ones(3), ones((8, 5)), ones((8, 3)))),
        "mlp_step_large": (mlp_step, (ones((784, 256)), ones(256), ones((256, 784)), ones((256, 256)))),
        "lstm_gradient": (lstm_gradient, (ones((16, 32)) * 0.1, ones((12, 4, 8)))),
        "unknown_length": (unknown_length, (ones(100),)),
        "conditional": (conditional, (ones((64, 64)),)),
        "convolution": (convolution, (image, kernel)),
        "convolution_gradient": (convolution_gradient, (image, kernel)),
        "dropout": (dropout, (ones((64, 64)),)),
        "sort": (lambda x: tf.sort(x), (ones(1000),)),
        "top_k": (lambda x: tf.math.top_k(x, 5), (ones((10, 100)),)),
        "cumulative_sum": (lambda x: tf.cumsum(x), (ones(1000),)),
        "partitioned": (lambda x: tf.tanh(x) * 2 + tf.exp(x) + tf.transpose(x), (ones((2048, 2048)),)),
        "reductions": (lambda x: (tf.reduce_sum(tf.tanh(x), 0), tf.reduce_max(x, 1)), (ones((512, 512)),)),
        "scatter": (
            lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u),
            (ones((100, 8)), tf.range(10)[:, None], ones((10, 8))),
        ),
        "gather": (lambda x, i: tf.gather(x, i) * 2, (ones((100, 8)), tf.range(10))),
        "fourier": (lambda x: tf.signal.fft(tf.cast(x, tf.complex64)), (ones((8, 64)),)),
    }
