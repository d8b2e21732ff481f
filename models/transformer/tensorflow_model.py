"""Decoder-only transformer in TensorFlow."""

import tensorflow as tf


def layer_norm(x, params, name):
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, params[f"{name}/offset"], params[f"{name}/scale"], 1e-5)


def attention(x, params, name, heads):
    batch, tokens, width = x.shape
    qkv = tf.reshape(x @ params[f"{name}/qkv/W"], [batch, tokens, 3, heads, width // heads])
    query, key, value = tf.unstack(qkv, axis=2)
    scores = tf.einsum("bqhd,bkhd->bhqk", query, key) / (width // heads) ** 0.5
    causal = tf.linalg.band_part(tf.ones([tokens, tokens], tf.bool), -1, 0)
    weights = tf.nn.softmax(tf.where(causal, scores, -1e9), axis=-1)
    mixed = tf.reshape(tf.einsum("bhqk,bkhd->bqhd", weights, value), [batch, tokens, width])
    return mixed @ params[f"{name}/out/W"]


def mlp(x, params, name):
    hidden = tf.nn.gelu(x @ params[f"{name}/mlp1/W"] + params[f"{name}/mlp1/b"], approximate=True)
    return hidden @ params[f"{name}/mlp2/W"] + params[f"{name}/mlp2/b"]


def apply(params, x, depth, heads):
    """Return logits f32[batch,tokens,vocabulary] for tokens x s32[batch,tokens]."""
    x = tf.gather(params["embedding"], x) + params["positions"]
    for index in range(depth):
        name = f"block{index:02}"
        x = x + attention(layer_norm(x, params, f"{name}/norm1"), params, name, heads)
        x = x + mlp(layer_norm(x, params, f"{name}/norm2"), params, name)
    return layer_norm(x, params, "norm") @ params["logits/W"]
