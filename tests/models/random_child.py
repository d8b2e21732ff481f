"""Draws of the random models over many keys, in one child process of one framework; started by `test_random.py`."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np
from xlacompare.models import BUILT_IN_DIR

from xlacompare.frameworks.program import Settings
from xlacompare.model_spec import accepted, load_apply, load_spec

DRAWS = 3000


def runner(framework, spec, settings, options):
    """Return a compiled `(params, x, y, seed) -> {name: array}`."""
    apply = load_apply(BUILT_IN_DIR / spec.name, framework)
    if framework == "jax":
        import jax

        from xlacompare.frameworks.jax_variants import variant_function

        function = variant_function(spec, functools.partial(apply, **accepted(apply, options)), settings)
        jitted = jax.jit(function)
        return lambda *arguments, seed: jitted(*arguments, jax.random.key(seed, impl=options.get("prng")))
    import tensorflow as tf

    from xlacompare.frameworks.tensorflow import ALGORITHMS
    from xlacompare.frameworks.tensorflow_variants import variant_function

    algorithm = ALGORITHMS[options.get("prng", "threefry2x32")]
    bound = functools.partial(apply, **accepted(apply, {**options, "prng": algorithm}))
    compiled = tf.function(variant_function(spec, bound, settings, algorithm), jit_compile=True)

    def call(*arguments, seed):
        return compiled(*arguments, tf.constant([0, seed], tf.int32))

    return call


def draws(framework, name, settings, options):
    """Return the moments over many keys of every output, and of one key drawn twice."""
    spec = load_spec(BUILT_IN_DIR / name)
    size = dict(spec.sizes["tiny"])
    batch = size.pop("batch")
    keywords = {**spec.option_defaults(), **size, **options}
    params = spec.init_params(np.random.default_rng(0), **accepted(spec.init_params, keywords))
    x, y = spec.example_batch(np.random.default_rng(1), batch, **accepted(spec.example_batch, keywords))
    arguments = (params, x) if settings.variant == "forward" else (params, x, y)
    if framework == "tensorflow":
        import tensorflow as tf

        arguments = tf.nest.map_structure(tf.constant, arguments)
    run = runner(framework, spec, settings, keywords)
    samples = [{key: np.asarray(value) for key, value in run(*arguments, seed=seed).items()} for seed in range(DRAWS)]
    again = run(*arguments, seed=7)
    for key in samples[0]:
        values = np.stack([sample[key] for sample in samples]).astype(np.float64)
        yield f"{key}:mean", values.mean(axis=0)
        yield f"{key}:variance", values.var(axis=0)
        yield f"{key}:repeats", np.asarray(np.array_equal(again[key], samples[7][key]))


def main(framework: str, out: str) -> None:
    stored = {}
    for prng in ("threefry2x32", "rbg", "unsafe_rbg"):
        options = {"depth": 1, "dropout": 0.3, "prng": prng}
        for key, value in draws(framework, "deep", Settings("forward"), options):
            stored[f"dropout/{prng}/{key}"] = value
    for vectorize in (True, False):
        settings = Settings("dp_train_step", vectorize=vectorize, learning_rate=0.5, noise_multiplier=2.0)
        for key, value in draws(framework, "logreg", settings, {}):
            stored[f"noise/{vectorize}/{key}"] = value
    for key, value in draws(
        framework, "logreg", Settings("dp_train_step", learning_rate=0.5, noise_multiplier=0.0), {}
    ):
        stored[f"still/{key}"] = value
    np.savez(Path(out), **stored)


if __name__ == "__main__":
    main(*sys.argv[1:])
