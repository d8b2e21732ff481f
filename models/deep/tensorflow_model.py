"""Layers of dense, GELU, dropout and layer normalisation in TensorFlow."""

import tensorflow as tf


def layer(x, params, key, dropout, prng):
    x = tf.nn.gelu(x @ params["W"] + params["b"], approximate=True)
    if dropout:
        keep = tf.random.stateless_uniform(x.shape, key, alg=prng) < 1 - dropout
        x = tf.where(keep, x / (1 - dropout), 0.0)
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, params["offset"], params["scale"], 1e-5)


def apply(params, x, key, depth, dropout, layers, prng):
    """Return f32[batch,width] for x f32[batch,width]; a loop over layers has its parameters stacked."""
    keys = tf.random.split(key, depth, alg=prng)
    if layers == "loop":
        return tf.foldl(lambda x, one: layer(x, *one, dropout, prng), (params, keys), initializer=x)
    for index in range(depth):
        own = {name: params[f"layer{index:03}/{name}"] for name in ("W", "b", "scale", "offset")}
        x = layer(x, own, keys[index], dropout, prng)
    return x
