"""Write the three files of a new model pair, which run as they are."""

from __future__ import annotations

import re
from pathlib import Path

from xlacompare.errors import UsageError
from xlacompare.model_spec import FRAMEWORK_FILES, SPEC_FILE

SPEC = '''"""{name}: say here what the model is."""

import numpy as np
from xlacompare.models import ModelSpec


def init_params(rng, width):
    return {{"W": rng.standard_normal((width, width), dtype=np.float32), "b": np.zeros(width, np.float32)}}


def example_batch(rng, batch, width):
    return rng.standard_normal((batch, width), dtype=np.float32), rng.standard_normal((batch, width), dtype=np.float32)


SPEC = ModelSpec(
    name="{name}",
    summary="one dense layer with tanh",
    loss="mean_squared_error",
    sizes={{"tiny": {{"width": 8, "batch": 4}}, "large": {{"width": 1024, "batch": 128}}}},
    init_params=init_params,
    example_batch=example_batch,
)
'''
JAX_MODEL = '''"""{name} in JAX."""

import jax.numpy as jnp


def apply(params, x):
    return jnp.tanh(x @ params["W"] + params["b"])
'''
TENSORFLOW_MODEL = '''"""{name} in TensorFlow."""

import tensorflow as tf


def apply(params, x):
    return tf.tanh(x @ params["W"] + params["b"])
'''
FILES = {SPEC_FILE: SPEC, FRAMEWORK_FILES["jax"]: JAX_MODEL, FRAMEWORK_FILES["tensorflow"]: TENSORFLOW_MODEL}


def new_model(name: str, parent: Path | str = ".") -> Path:
    """Write the folder `parent/name` of a model pair that runs, and return its path.

    Raises:
        UsageError: the name is no name for a folder and a function, or something is there already.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise UsageError(f"{name!r} cannot name a model: take a letter, then letters, digits, '-' and '_'.")
    folder = Path(parent) / name
    if folder.exists():
        raise UsageError(f"{folder} is there already; take another name, or remove it.")
    folder.mkdir(parents=True)
    for file, text in FILES.items():
        (folder / file).write_text(text.format(name=name), encoding="utf-8")
    return folder
