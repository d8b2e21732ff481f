"""LSTM classifier in JAX."""

import jax
import jax.numpy as jnp


def apply(params, x, unroll):
    """Return logits f32[batch,2] for tokens x s32[batch,tokens], `unroll` (0: all) of them in one trip of the loop."""

    def step(state, inputs):
        hidden, cell = state
        gates = inputs @ params["lstm/W"] + hidden @ params["lstm/U"] + params["lstm/b"]
        input_gate, forget_gate, candidate, output_gate = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(forget_gate) * cell + jax.nn.sigmoid(input_gate) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(output_gate) * jnp.tanh(cell)
        return (hidden, cell), hidden

    embedded = params["embedding"][x].swapaxes(0, 1)
    zeros = jnp.zeros((x.shape[0], params["lstm/U"].shape[0]))
    _, hidden = jax.lax.scan(step, (zeros, zeros), embedded, unroll=unroll or True)
    return hidden.mean(axis=0) @ params["dense/W"] + params["dense/b"]
