"""The variants of a model in JAX: what is differentiated, stepped and privatised around its `apply`."""

from __future__ import annotations

from typing import Any, Callable

import jax
import jax.numpy as jnp

from xlacompare.frameworks.program import Settings


def mean_squared_error(prediction: Any, target: Any) -> Any:
    return jnp.mean((prediction - target) ** 2)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean over logits f32[…,classes] and labels: class numbers s32[…], or one-hot f32[…,classes]."""
    log_probabilities = jax.nn.log_softmax(logits)
    if labels.ndim == logits.ndim:
        return -jnp.mean(jnp.sum(log_probabilities * labels, axis=-1))
    return -jnp.mean(jnp.take_along_axis(log_probabilities, labels[..., None], axis=-1))


def sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean of max(z,0) - z*y + log(1 + exp(-|z|)) for logits z and labels y of one shape."""
    return jnp.mean(jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits))))


LOSSES: "dict[str, Callable[..., Any]]" = {
    "mean_squared_error": mean_squared_error,
    "softmax_cross_entropy": softmax_cross_entropy,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
}


def variant_function(spec: Any, apply: "Callable[..., Any]", settings: Settings) -> "Callable[..., Any]":
    """Return the function of one variant; `apply` has its options bound, `key` below is there for a random model.

    forward is `(params, x, *key)`, grad, value_and_grad and train_step are `(params, x, y, *key)`, dp_train_step is
    `(params, x, y, key)`. Each returns a flat dictionary of arrays.
    """

    def loss_of(params: Any, x: Any, y: Any, *key: Any) -> Any:
        return LOSSES[spec.loss](apply(params, x, *key), y)

    def forward(params: Any, x: Any, *key: Any) -> Any:
        return {"output": apply(params, x, *key)}

    def grad(params: Any, x: Any, y: Any, *key: Any) -> Any:
        return named("grad", jax.grad(loss_of)(params, x, y, *key))

    def value_and_grad(params: Any, x: Any, y: Any, *key: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y, *key)
        return {"loss": loss, **named("grad", gradients)}

    def train_step(params: Any, x: Any, y: Any, *key: Any) -> Any:
        return named("params", sgd(params, jax.grad(loss_of)(params, x, y, *key), settings))

    if settings.variant == "dp_train_step":
        return private_step(spec, jax.grad(loss_of), settings)
    functions = {"forward": forward, "grad": grad, "value_and_grad": value_and_grad, "train_step": train_step}
    return functions[settings.variant]


def private_step(spec: Any, gradient_of: "Callable[..., Any]", settings: Settings) -> "Callable[..., Any]":
    """Return dp_train_step: clipped per-example gradients, their sum noised and averaged, one step of SGD."""

    def clipped_gradients(params: Any, x: Any, y: Any, *key: Any) -> Any:
        if spec.batched:
            x, y = x[None], y[None]
        return clip(gradient_of(params, x, y, *key), settings.l2_norm_clip)

    def dp_train_step(params: Any, x: Any, y: Any, key: Any) -> Any:
        examples: "tuple[Any, ...]" = (x, y) if spec.batched else (x[None], y[None])
        count = examples[0].shape[0]
        if spec.random:
            key, model_key = jax.random.split(key)
            examples = (*examples, jax.random.split(model_key, count))
        if settings.vectorize:
            in_axes = (None, *[0] * len(examples))
            gradients = jax.vmap(clipped_gradients, in_axes)(params, *examples)
            total = jax.tree.map(lambda gradient: jnp.sum(gradient, axis=0), gradients)
        else:

            def add(total: Any, example: Any) -> Any:
                return jax.tree.map(jnp.add, total, clipped_gradients(params, *example)), None

            total, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, params), examples)
        if settings.noise_multiplier:
            total = add_noise(total, key, settings.noise_multiplier * settings.l2_norm_clip)
        mean = jax.tree.map(lambda gradient: gradient / count, total)
        return named("params", sgd(params, mean, settings))

    return dp_train_step


def clip(gradients: Any, norm: float) -> Any:
    """Return the gradients scaled down so that their L2 norm over all parameters is at most `norm`."""
    actual = jnp.sqrt(sum(jnp.sum(gradient**2) for gradient in jax.tree.leaves(gradients)))
    divisor = jnp.maximum(actual / norm, 1.0)
    return jax.tree.map(lambda gradient: gradient / divisor, gradients)


def add_noise(gradients: "dict[str, Any]", key: Any, stddev: float) -> "dict[str, Any]":
    keys = jax.random.split(key, len(gradients))
    return {
        name: gradients[name] + stddev * jax.random.normal(keys[position], gradients[name].shape)
        for position, name in enumerate(sorted(gradients))
    }


def sgd(params: Any, gradients: Any, settings: Settings) -> Any:
    return jax.tree.map(lambda param, gradient: param - settings.learning_rate * gradient, params, gradients)


def named(prefix: str, values: "dict[str, Any]") -> "dict[str, Any]":
    return {f"{prefix}/{name}": value for name, value in values.items()}
