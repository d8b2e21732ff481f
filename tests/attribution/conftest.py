"""Controls that several tests look at, each run once a test process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xlacompare.attribution.columns import Column, Places, name_columns
from xlacompare.attribution.control import Control, run_control
from xlacompare.registry import find_model

BOTH = (("jax", None, ()), ("tensorflow", None, ()))


def make_places(folder: Path) -> Places:
    places = Places(folder / "cells", folder / "exchange")
    places.cells.mkdir(parents=True)
    places.exchange.mkdir()
    return places


def compile_all(folder: Path, model: str, variant: str, columns: list[Column], **choices: object) -> Control:
    found = find_model(model)
    program = {
        "model_dir": str(found.folder),
        "size": dict(found.spec.sizes[found.spec.default_size]),
        "seed": 0,
        "settings": {"variant": variant, "options": {}},
    }
    return run_control(columns, {"jax": program, "tensorflow": program}, make_places(folder), **choices)


@pytest.fixture(scope="session")
def control_of() -> Callable[..., Control]:
    """Return a function of (folder, model, variant, columns) that compiles every cell."""
    return compile_all


@pytest.fixture(scope="session")
def linear_grad(tmp_path_factory: pytest.TempPathFactory) -> Control:
    return compile_all(tmp_path_factory.mktemp("linear_grad"), "linear", "grad", name_columns(BOTH))


WITHOUT = """
import sys

class Remove:
    # Called when the child imports its way to compile foreign programs: by then the framework itself is imported.
    def find_spec(self, name, path=None, target=None):
        if name.startswith("xlacompare.frameworks.recompile_"):
            module = __import__({module!r}, fromlist=["x"])
            delattr(module, {attribute!r})
            sys.modules[{module!r} + "." + {attribute!r}] = None

sys.meta_path.insert(0, Remove())
"""


@pytest.fixture
def python_without(tmp_path: Path) -> Callable[[str, str], str]:
    """Return a function of a module and a name in it that returns an interpreter where that name is missing."""

    def make(module: str, attribute: str) -> str:
        folder = tmp_path / "crippled"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(WITHOUT.format(module=module, attribute=attribute))
        script = folder / "python"
        script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
        script.chmod(0o755)
        return str(script)

    return make
