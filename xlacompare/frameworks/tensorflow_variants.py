"""The variants of a model in TensorFlow: what is differentiated, stepped and privatised around its `apply`."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from xlacompare.frameworks.program import Settings


def mean_squared_error(prediction: Any, target: Any) -> Any:
    return tf.reduce_mean((prediction - target) ** 2)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean over logits f32[…,classes] and labels: class numbers s32[…], or one-hot f32[…,classes]."""
    if labels.shape.rank == logits.shape.rank:
        return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean of max(z,0) - z*y + log(1 + exp(-|z|)) for logits z and labels y of one shape."""
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


LOSSES: "dict[str, Callable[..., Any]]" = {
    "mean_squared_error": mean_squared_error,
    "softmax_cross_entropy": softmax_cross_entropy,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
}


def variant_function(
    spec: Any, apply: "Callable[..., Any]", settings: Settings, algorithm: str
) -> "Callable[..., Any]":
    """Return the function of one variant; `apply` has its options bound, `key` below is there for a random model.

    forward is `(params, x, *key)`, grad, value_and_grad and train_step are `(params, x, y, *key)`, dp_train_step is
    `(params, x, y, key)`. Each returns a flat dictionary of tensors. `algorithm` draws the noise and splits keys.
    """

    def value_and_gradients(params: Any, x: Any, y: Any, *key: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(params)
            loss = LOSSES[spec.loss](apply(params, x, *key), y)
        gradients = tape.gradient(loss, params, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        # The gradient of a gather is an IndexedSlices; JAX's is dense, so it is made dense here.
        return loss, {name: tf.convert_to_tensor(gradient) for name, gradient in gradients.items()}

    def forward(params: Any, x: Any, *key: Any) -> Any:
        return {"output": apply(params, x, *key)}

    def grad(params: Any, x: Any, y: Any, *key: Any) -> Any:
        return named("grad", value_and_gradients(params, x, y, *key)[1])

    def value_and_grad(params: Any, x: Any, y: Any, *key: Any) -> Any:
        loss, gradients = value_and_gradients(params, x, y, *key)
        return {"loss": loss, **named("grad", gradients)}

    def train_step(params: Any, x: Any, y: Any, *key: Any) -> Any:
        return named("params", sgd(params, value_and_gradients(params, x, y, *key)[1], settings))

    if settings.variant == "dp_train_step":
        return private_step(spec, lambda *arguments: value_and_gradients(*arguments)[1], settings, algorithm)
    functions = {"forward": forward, "grad": grad, "value_and_grad": value_and_grad, "train_step": train_step}
    return functions[settings.variant]


def private_step(
    spec: Any, gradient_of: "Callable[..., Any]", settings: Settings, algorithm: str
) -> "Callable[..., Any]":
    """Return dp_train_step: clipped per-example gradients, their sum noised and averaged, one step of SGD."""

    def clipped_gradients(params: Any, x: Any, y: Any, *key: Any) -> Any:
        if spec.batched:
            x, y = x[None], y[None]
        return clip(gradient_of(params, x, y, *key), settings.l2_norm_clip)

    def looped_sum(params: Any, examples: Any, count: int) -> Any:
        def add(index: Any, total: Any) -> Any:
            gradients = clipped_gradients(params, *[values[index] for values in examples])
            return index + 1, {name: total[name] + gradients[name] for name in total}

        zeros = {name: tf.zeros_like(param) for name, param in params.items()}
        start = (tf.constant(0), zeros)
        return tf.while_loop(lambda index, total: index < count, add, start, maximum_iterations=count)[1]

    def dp_train_step(params: Any, x: Any, y: Any, key: Any) -> Any:
        examples: "tuple[Any, ...]" = (x, y) if spec.batched else (x[None], y[None])
        count = examples[0].shape[0]
        if spec.random:
            key, model_key = tf.unstack(tf.random.split(key, 2, alg=algorithm))
            examples = (*examples, tf.random.split(model_key, count, alg=algorithm))
        if settings.vectorize:
            gradients = tf.vectorized_map(lambda example: clipped_gradients(params, *example), examples)
            total = {name: tf.reduce_sum(gradient, axis=0) for name, gradient in gradients.items()}
        else:
            total = looped_sum(params, examples, count)
        if settings.noise_multiplier:
            total = add_noise(total, key, settings.noise_multiplier * settings.l2_norm_clip, algorithm)
        mean = {name: gradient / count for name, gradient in total.items()}
        return named("params", sgd(params, mean, settings))

    return dp_train_step


def clip(gradients: "dict[str, Any]", norm: float) -> "dict[str, Any]":
    """Return the gradients scaled down so that their L2 norm over all parameters is at most `norm`."""
    actual = tf.sqrt(tf.add_n([tf.reduce_sum(gradient**2) for gradient in gradients.values()]))
    divisor = tf.maximum(actual / norm, 1.0)
    return {name: gradient / divisor for name, gradient in gradients.items()}


def add_noise(gradients: "dict[str, Any]", key: Any, stddev: float, algorithm: str) -> "dict[str, Any]":
    seeds = tf.random.split(key, len(gradients), alg=algorithm)
    return {
        name: gradients[name]
        + stddev * tf.random.stateless_normal(gradients[name].shape, seeds[position], alg=algorithm)
        for position, name in enumerate(sorted(gradients))
    }


def sgd(params: "dict[str, Any]", gradients: "dict[str, Any]", settings: Settings) -> "dict[str, Any]":
    return {name: param - settings.learning_rate * gradients[name] for name, param in params.items()}


def named(prefix: str, values: "dict[str, Any]") -> "dict[str, Any]":
    return {f"{prefix}/{name}": value for name, value in values.items()}
