"""Small model folders with one thing wrong, for tests."""

from __future__ import annotations

from pathlib import Path

SPEC = """
import numpy as np
from xlacompare.models import ModelSpec

SPEC = ModelSpec(
    name="{name}", summary="a test's own", loss="mean_squared_error",
    sizes={{"tiny": {{"width": 3, "batch": 1}}}},
    init_params=lambda rng, width: {{"w": rng.random(width, np.float32)}},
    example_batch=lambda rng, batch, width: (rng.random(width, np.float32), rng.random(width, np.float32)),
)
"""
GOOD = 'def apply(params, x):\n    return params["w"] * x\n'


def write_model(folder: Path, *, jax: str = GOOD, tensorflow: str = GOOD, spec: str = SPEC) -> Path:
    """Write a model folder named after its directory; each argument is the text of one file."""
    folder.mkdir(parents=True)
    (folder / "spec.py").write_text(spec.format(name=folder.name) if spec is SPEC else spec)
    (folder / "jax_model.py").write_text(jax)
    (folder / "tensorflow_model.py").write_text(tensorflow)
    return folder
