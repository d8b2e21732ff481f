"""Decoder-only transformer in JAX."""

import jax
import jax.numpy as jnp


def layer_norm(x, params, name):
    normalised = (x - x.mean(axis=-1, keepdims=True)) * jax.lax.rsqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return normalised * params[f"{name}/scale"] + params[f"{name}/offset"]


def attention(x, params, name, heads):
    batch, tokens, width = x.shape
    qkv = (x @ params[f"{name}/qkv/W"]).reshape(batch, tokens, 3, heads, width // heads)
    query, key, value = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / (width // heads) ** 0.5
    causal = jnp.tril(jnp.ones((tokens, tokens), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(batch, tokens, width)
    return mixed @ params[f"{name}/out/W"]


def mlp(x, params, name):
    hidden = jax.nn.gelu(x @ params[f"{name}/mlp1/W"] + params[f"{name}/mlp1/b"])
    return hidden @ params[f"{name}/mlp2/W"] + params[f"{name}/mlp2/b"]


def apply(params, x, depth, heads):
    """Return logits f32[batch,tokens,vocabulary] for tokens x s32[batch,tokens]."""
    x = params["embedding"][x] + params["positions"]
    for index in range(depth):
        name = f"block{index:02}"
        x = x + attention(layer_norm(x, params, f"{name}/norm1"), params, name, heads)
        x = x + mlp(layer_norm(x, params, f"{name}/norm2"), params, name)
    return layer_norm(x, params, "norm") @ params["logits/W"]
