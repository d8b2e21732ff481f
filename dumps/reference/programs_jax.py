"""The JAX programs of the reference dumps; they run on every jax since 0.4.13.

    XLA_FLAGS=--xla_dump_to=DIR python programs_jax.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.RandomState(0)


def array(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def linear_grad(params, x, y):
    return jax.grad(lambda p: jnp.mean((p["W"] @ x + p["b"] - y) ** 2))(params)


def mlp_step(params, x, labels):
    def loss(p):
        hidden = jax.nn.relu(x @ p["W1"] + p["b1"])
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(hidden @ p["W2"] + p["b2"]) * labels, axis=-1))

    return {name: params[name] - 0.1 * grad for name, grad in jax.grad(loss)(params).items()}


def scan_grad(W, xs):
    def loss(W):
        carry, ys = lax.scan(lambda h, x: (jnp.tanh(W @ h + x), jnp.sum(h)), jnp.zeros(xs.shape[1]), xs)
        return jnp.sum(carry) + jnp.sum(ys)

    return jax.grad(loss)(W)


def conv(images, kernel):
    y = lax.conv_general_dilated(images, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")


PROGRAMS = [
    (linear_grad, ({"W": array(5, 5), "b": array(5)}, array(5), array(5))),
    (mlp_step, ({"W1": array(16, 32), "b1": array(32), "W2": array(32, 4), "b2": array(4)}, array(8, 16), array(8, 4))),
    (scan_grad, (array(8, 8), array(10, 8))),
    (conv, (array(2, 12, 12, 3), array(3, 3, 3, 4))),
]

for function, arguments in PROGRAMS:
    jax.tree_util.tree_map(np.asarray, jax.jit(function)(*arguments))
