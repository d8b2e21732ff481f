"""LSTM classifier in TensorFlow."""

import tensorflow as tf


def lstm_step(params, inputs, hidden, cell):
    gates = inputs @ params["lstm/W"] + hidden @ params["lstm/U"] + params["lstm/b"]
    input_gate, forget_gate, candidate, output_gate = tf.split(gates, 4, axis=-1)
    cell = tf.sigmoid(forget_gate) * cell + tf.sigmoid(input_gate) * tf.tanh(candidate)
    return tf.sigmoid(output_gate) * tf.tanh(cell), cell


def looped(params, embedded, zeros, unroll):
    """Return the hidden states f32[tokens,batch,width], computed `unroll` at a time in a while loop."""
    steps = embedded.shape[0]
    inputs = tf.TensorArray(tf.float32, steps, element_shape=zeros.shape).unstack(embedded)
    outputs = tf.TensorArray(tf.float32, steps, element_shape=zeros.shape)

    def advance(time, hidden, cell, outputs, count=unroll):
        for offset in range(count):
            hidden, cell = lstm_step(params, inputs.read(time + offset), hidden, cell)
            outputs = outputs.write(time + offset, hidden)
        return time + count, hidden, cell, outputs

    trips, rest = divmod(steps, unroll)
    state = (tf.constant(0), zeros, zeros, outputs)
    state = tf.while_loop(lambda time, *_: time < trips * unroll, advance, state, maximum_iterations=trips)
    return advance(*state, count=rest)[-1].stack()


def unrolled(params, embedded, zeros):
    hidden, cell, outputs = zeros, zeros, []
    for inputs in tf.unstack(embedded):
        hidden, cell = lstm_step(params, inputs, hidden, cell)
        outputs.append(hidden)
    return tf.stack(outputs)


def apply(params, x, unroll):
    """Return logits f32[batch,2] for tokens x s32[batch,tokens], `unroll` (0: all) of them in one trip of the loop."""
    embedded = tf.transpose(tf.gather(params["embedding"], x), [1, 0, 2])
    zeros = tf.zeros([x.shape[0], params["lstm/U"].shape[0]])
    # A loop of one trip is none: TensorFlow 2.21 crashes when it compiles such a loop's gradient.
    no_loop = unroll == 0 or unroll > x.shape[1] // 2
    hidden = unrolled(params, embedded, zeros) if no_loop else looped(params, embedded, zeros, unroll)
    return tf.reduce_mean(hidden, axis=0) @ params["dense/W"] + params["dense/b"]
