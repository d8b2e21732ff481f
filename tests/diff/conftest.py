"""Real dumps for the diff's tests: each model and variant compiled once, in a child process per framework."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from xlacompare.errors import FrameworkMissing
from xlacompare.hlo import Module, read_file
from xlacompare.registry import find_model
from xlacompare.worker.launch import Launch, run_all

FRAMEWORKS = ("jax", "tensorflow")
WAIT_S = 300


def compile_pair(model: str, variant: str, folder: Path) -> None:
    """Compile a model with both frameworks; XLA's files land in `folder`/<framework>."""
    found = find_model(model)
    launches = []
    for framework in FRAMEWORKS:
        out = folder / framework
        out.mkdir(parents=True)
        request = {
            "task": "dump",
            "model_dir": str(found.folder),
            "size": dict(found.spec.sizes[found.spec.default_size]),
            "seed": 0,
            "settings": {"variant": variant, "options": {}},
            "outputs_file": str(out / "outputs.npz"),
        }
        launches.append(Launch(framework, request, xla_flags=f"--xla_dump_to={out}"))
    for outcome in run_all(launches):
        if isinstance(outcome, FrameworkMissing):
            pytest.skip(str(outcome))
        if isinstance(outcome, Exception):
            raise outcome


def compiled_once(folder: Path, model: str, variant: str) -> Path:
    """Return the folder with both dumps; of several test processes the first one compiles, the others wait."""
    done = folder / "done"
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        start = time.monotonic()
        while not done.exists():
            if time.monotonic() - start > WAIT_S:
                raise TimeoutError(f"the process that compiles {model} {variant} did not finish") from None
            time.sleep(0.05)
        return folder
    try:
        compile_pair(model, variant, folder)
    finally:
        done.touch()
    return folder


@pytest.fixture(scope="session")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Module, Module]]:
    """Return a function of (model, variant, stage) that returns JAX's and TensorFlow's module."""
    base = tmp_path_factory.getbasetemp()
    # Under xdist every process has a folder of its own inside the run's.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def get(model: str, variant: str, stage: str = "after") -> tuple[Module, Module]:
        folder = compiled_once(shared / f"diff-{model}-{variant}", model, variant)
        modules = []
        for framework in FRAMEWORKS:
            texts = [
                path
                for path in (folder / framework).glob(f"*{stage}_optimizations.txt")
                if f"{model}_{variant}" in path.name
            ]
            assert len(texts) == 1, texts
            modules.append(read_file(str(texts[0]))[0])
        return modules[0], modules[1]

    return get
