"""Runs without a framework: a fake child in place of the interpreter."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xlacompare.models import BUILT_IN_DIR

from xlacompare.bench.plan import Limits, Plan
from xlacompare.bench.request import bench_plan

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


@pytest.fixture
def fake_python(tmp_path: Path) -> str:
    """A program that is called as the interpreter is, and runs the fake child."""
    program = tmp_path / "fake-python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE_WORKER}" "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Set what the fake children do, and return the log with a line for each of them."""
    log = tmp_path / "children.log"

    def set_script(**values: Any) -> Path:
        monkeypatch.setenv("FAKE_WORKER", json.dumps({"log": str(log), **values}))
        return log

    set_script()
    return set_script


@pytest.fixture
def plan(fake_python: str) -> Callable[..., Plan]:
    """Return a plan for `linear` whose children are fake."""

    def make(**choices: Any) -> Plan:
        pythons = {"jax": fake_python, "tensorflow": fake_python}
        return bench_plan("linear", **{"rounds": 6, "pythons": pythons, "limits": Limits(batches=5), **choices})

    return make


@pytest.fixture
def linear_copy(tmp_path: Path) -> Path:
    """A copy of the model folder `linear` that a test may change."""
    folder = tmp_path / "linear_copy"
    shutil.copytree(BUILT_IN_DIR / "linear", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
