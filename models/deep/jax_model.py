"""Layers of dense, GELU, dropout and layer normalisation in JAX."""

import jax
import jax.numpy as jnp


def layer(x, params, key, dropout):
    x = jax.nn.gelu(x @ params["W"] + params["b"])
    if dropout:
        keep = jax.random.bernoulli(key, 1 - dropout, x.shape)
        x = jnp.where(keep, x / (1 - dropout), 0)
    normalised = (x - x.mean(axis=-1, keepdims=True)) * jax.lax.rsqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return normalised * params["scale"] + params["offset"]


def apply(params, x, key, depth, dropout, layers):
    """Return f32[batch,width] for x f32[batch,width]; a loop over layers has its parameters stacked."""
    keys = jax.random.split(key, depth)
    if layers == "loop":
        return jax.lax.scan(lambda x, one: (layer(x, *one, dropout), None), x, (params, keys))[0]
    for index in range(depth):
        own = {name: params[f"layer{index:03}/{name}"] for name in ("W", "b", "scale", "offset")}
        x = layer(x, own, keys[index], dropout)
    return x
