"""Programs whose cost XLA's own analysis tells as well; run by a child process that imports JAX."""

from __future__ import annotations


def programs():
    import jax
    import jax.numpy as jnp
    from jax import lax

    ones = jnp.ones

    def linear_gradient(w, b, x, y):
        return jax.value_and_grad(lambda w, b: jnp.mean((x @ w + b - y) ** 2), (0, 1))(w, b)

    def linear(batch, inputs, outputs):
        arguments = (ones((inputs, outputs)), ones(outputs), ones((batch, inputs)), ones((batch, outputs)))
        return (linear_gradient, arguments)

    def convolve(x, k, **options):
        return lax.conv_general_dilated(
            x, k, options.pop("stride", (1, 1)), options.pop("padding", "SAME"),
            dimension_numbers=("NHWC", "HWIO", "NHWC"), **options,
        )  # fmt: skip

    def pooled(x, padding):
        return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), padding)

    def softmax_loss(x, y):
        return jax.grad(lambda x: -(jax.nn.log_softmax(x) * y).sum())(x)

    image, square = ones((4, 16, 16, 8)), ones((64, 64))
    found = {
        "linear_tiny": linear(8, 5, 3),
        "linear_small": linear(33, 10, 7),
        "linear_large": linear(256, 784, 128),
        "dot_batched": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (ones((5, 6, 7)), ones((5, 7, 8)))),
        "dot_two_axes": (lambda a, b: jnp.tensordot(a, b, 2), (ones((5, 6, 7)), ones((6, 7, 8)))),
        "dot_vectors": (jnp.dot, (ones(100), ones(100))),
        "dot_integers": (lambda a, b: lax.dot(a, b), (ones((8, 9), "int32"), ones((9, 10), "int32"))),
        "dot_complex": (lambda a, b: a @ b, (ones((8, 9), "complex64"), ones((9, 10), "complex64"))),
        "convolution_stride": (lambda x, k: convolve(x, k, stride=(2, 2)), (image, ones((3, 3, 8, 4)))),
        "convolution_valid": (lambda x, k: convolve(x, k, padding="VALID"), (image, ones((5, 3, 8, 4)))),
        "convolution_groups": (lambda x, k: convolve(x, k, feature_group_count=4), (image, ones((3, 3, 2, 8)))),
        "convolution_depthwise": (lambda x, k: convolve(x, k, feature_group_count=8), (image, ones((3, 3, 1, 8)))),
        "convolution_dilated": (lambda x, k: convolve(x, k, rhs_dilation=(2, 3)), (image, ones((3, 3, 8, 4)))),
        "convolution_transposed": (
            lambda x, k: convolve(x, k, lhs_dilation=(2, 2), padding=((2, 2), (1, 2))),
            (image, ones((3, 3, 8, 4))),
        ),
        "convolution_input_gradient": (
            lambda x, k: jax.grad(lambda x: (convolve(x, k, stride=(2, 2)) ** 2).sum())(x),
            (image, ones((3, 3, 8, 4))),
        ),
        "convolution_kernel_gradient": (
            lambda x, k: jax.grad(lambda k: (convolve(x, k, stride=(2, 2)) ** 2).sum())(k),
            (image, ones((3, 3, 8, 4))),
        ),
        "reduce_all": (lambda x: x.sum(), (ones((17, 19)),)),
        "reduce_rows": (lambda x: x.max(1), (ones((100, 50)),)),
        "reduce_with_place": (lambda x: jnp.argmax(x, 1), (ones((10, 50)),)),
        "reduce_product": (lambda x: x.prod(0), (ones((10, 50)),)),
        "pool_valid": (lambda x: pooled(x, "VALID"), (image,)),
        "pool_same": (lambda x: pooled(x, "SAME"), (image,)),
        "cumulative": (lambda x: jnp.cumsum(x, 0), (ones((100, 3)),)),
        "scatter_add": (lambda x, i, u: x.at[i].add(u), (ones((50, 8)), jnp.arange(7), ones((7, 8)))),
        "scatter_set": (lambda x, i, u: x.at[i].set(u), (ones((50, 8)), jnp.arange(7), ones((7, 8)))),
        "gather": (lambda x, i: x[i], (ones((50, 8)), jnp.arange(7))),
        "slices": (lambda x: x[3:40:2, 1:] + 1, (square,)),
        "update": (lambda x, i: lax.dynamic_update_slice(x, ones((2, 3)), (i, i)), (square, jnp.int32(3))),
        "sort": (lambda x: jnp.sort(x), (ones(777),)),
        "fourier": (lambda x: jnp.fft.fft(x), (ones((8, 128)),)),
        "fourier_real": (lambda x: jnp.fft.rfft(x), (ones((8, 128)),)),
        "softmax_loss": (softmax_loss, (ones((32, 10)), ones((32, 10)))),
        "layer_norm": (
            lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
            (ones((32, 100)),),
        ),
        "integers": (lambda a, b: (a * b + (a // (b + 1)) - (a % 7)) ^ (b >> 2), (ones(100, "int32"),) * 2),
        "comparisons": (lambda a, b: jnp.where(a > b, a, jnp.clip(b, 0, 1)), (ones(100), ones(100))),
        "conversions": (lambda a: a.astype("bfloat16").astype("float32").astype("int8"), (ones(100),)),
        "complex": (lambda a, b: (a * b).real + jnp.abs(a), (ones(100, "complex64"), ones(100, "complex64"))),
        "attention": (
            lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v,
            (ones((2, 16, 32)), ones((2, 16, 32)), ones((2, 16, 32))),
        ),
        "normal": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (20,)), (jnp.zeros(2, "uint32"),)),
        # where the two differ on purpose
        "scan": (lambda x: lax.scan(lambda c, _: (jnp.sin(c @ c), None), x, None, 10)[0], (square,)),
        "sort_rows": (lambda x: jnp.sort(x, -1), (ones((100, 8)),)),
        "fourier_two_axes": (lambda x: jnp.fft.fft2(x.astype("complex64")), (ones((16, 16)),)),
        "top_k": (lambda x: lax.top_k(x, 5), (ones((10, 100)),)),
        "cholesky": (lambda x: lax.linalg.cholesky(x, symmetrize_input=False), (jnp.eye(32),)),
        "conditional": (lambda x: lax.cond(x.sum() > 0, lambda x: jnp.sin(x @ x), lambda x: x + 1, x), (square,)),
    }
    for name in ("exp", "log", "expm1", "log1p", "tanh", "sin", "cos", "tan", "sqrt", "cbrt", "sinh", "arctan"):
        found[name] = (getattr(jnp, name), (ones(100),))
    for name in ("rsqrt", "logistic", "erf", "erf_inv", "lgamma", "digamma", "sign", "floor", "round", "is_finite"):
        found[name] = (getattr(lax, name), (ones(100),))
    found["power"] = (lambda a, b: a**b, (ones(100), ones(100)))
    found["arctan2"] = (jnp.arctan2, (ones(100), ones(100)))
    return found
