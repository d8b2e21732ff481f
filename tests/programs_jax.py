"""Programs whose launches the census must tell; run by a child process that imports JAX and nothing else."""

from __future__ import annotations


def programs():
    import jax
    import jax.numpy as jnp
    from jax import lax

    ones = jnp.ones

    def mlp_step(w, b, x, y):
        loss, (gw, gb) = jax.value_and_grad(lambda w, b: jnp.mean((jnp.tanh(x @ w + b) - y) ** 2), (0, 1))(w, b)
        return w - 0.1 * gw, b - 0.1 * gb, loss

    def lstm_gradient(w, xs):
        def loss(w):
            def cell(carry, x):
                h, s = carry
                i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
                s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(s)
                return (h, s), h

            start = jnp.zeros((xs.shape[1], w.shape[1] // 4))
            return lax.scan(cell, (start, start), xs)[1].sum()

        return jax.grad(loss)(w)

    def unknown_length(x):
        return lax.while_loop(lambda c: c.sum() > 1.0, lambda c: jnp.sin(c) * 0.5, x)

    def conditional(x):
        return lax.cond(x.sum() > 0, lambda x: jnp.sin(x).sum(), lambda x: jnp.sort(x, axis=0).sum(), x)

    def dropout(key, x):
        keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.5, x.shape)
        return jnp.where(keep, x / 0.5, 0.0)

    def convolution(x, k):
        return jax.nn.relu(
            lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        ).sum()

    def nested_loops(x):
        return lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, 4, lambda j, d: jnp.sin(d) @ d, c), x)

    def max_pool_gradient(x):
        return jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum())(x)

    key = jax.random.key_data(jax.random.key(0))
    image = ones((8, 28, 28, 3))
    kernel = ones((3, 3, 3, 16))
    return {
        "mlp_step": (mlp_step, (ones((5, 3)), ones(3), ones((8, 5)), ones((8, 3)))),
        "mlp_step_large": (mlp_step, (ones((784, 256)), ones(256), ones((256, 784)), ones((256, 256)))),
        "lstm_gradient": (lstm_gradient, (ones((16, 32)) * 0.1, ones((12, 4, 8)))),
        "unknown_length": (unknown_length, (ones(100),)),
        "conditional": (conditional, (ones((64, 64)),)),
        "dropout": (dropout, (key, ones((64, 64)))),
        "convolution": (convolution, (image, kernel)),
        "convolution_gradient": (jax.grad(convolution, 1), (image, kernel)),
        "nested_loops": (nested_loops, (ones((32, 32)),)),
        "max_pool_gradient": (max_pool_gradient, (ones((2, 8, 8, 3)),)),
        "sort": (lambda x: jnp.sort(x), (ones(1000),)),
        "sort_computed": (lambda x: jnp.sort(jnp.sin(x)), (ones(1000),)),
        "argsort": (lambda x: jnp.argsort(x), (ones(1000),)),
        "sort_rows": (lambda x: lax.map(jnp.sort, x), (ones((5, 100)),)),
        "top_k": (lambda x: lax.top_k(x, 5), (ones((10, 100)),)),
        "cumulative_sum": (lambda x: jnp.cumsum(x), (ones(1000),)),
        "partitioned": (lambda x: jnp.tanh(x) * 2 + jnp.exp(x) + x.T, (ones((2048, 2048)),)),
        "reductions": (lambda x: (jnp.tanh(x).sum(0), x.max(1)), (ones((512, 512)),)),
        "scatter": (lambda x, i, u: x.at[i].add(u), (ones((100, 8)), jnp.arange(10), ones((10, 8)))),
        "gather": (lambda x, i: x[i] * 2, (ones((100, 8)), jnp.arange(10))),
        "cholesky": (lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(8)), (ones((8, 8)),)),
        "solve": (lambda x: jnp.linalg.solve(x + jnp.eye(8), x), (ones((8, 8)),)),
        "fourier": (lambda x: jnp.fft.fft(x), (ones((8, 64)),)),
        "constants": (lambda: (jnp.arange(10), ones(3)), ()),
        "identity": (lambda x: x, (ones(3),)),
        "small_loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + i, x), (ones(3),)),
        "random_bits": (lambda k: lax.rng_bit_generator(k, (100,)), (jnp.zeros(4, "uint32"),)),
        "switch": (
            lambda i, x: lax.switch(i, [lambda x: jnp.sin(x) @ x, lambda x: jnp.cos(x) @ x, lambda x: x], x),
            (jnp.int32(2), ones((20, 20))),
        ),
        "callback": (
            lambda x: jax.pure_callback(lambda a: a, jax.ShapeDtypeStruct((3,), "float32"), x) * 2,
            (ones(3),),
        ),
        "bfloat16": (lambda a, b: a @ b, (ones((64, 64), "bfloat16"), ones((64, 64), "bfloat16"))),
    }
