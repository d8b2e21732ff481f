"""In an environment with neither jax nor tensorflow, whatever only reads text works; installed as users install it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

LEFT = """HloModule jit_left, is_scheduled=true
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p)
  ROOT %n = f32[8]{0} negate(%t)
}
ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %tanh_negate_fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""
RIGHT = """HloModule a_inference_right_1, is_scheduled=true
ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%x)
  ROOT %n = f32[8]{0} negate(%t)
}
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of a virtual environment with xlacompare and what it requires, no extra."""
    folder = tmp_path_factory.mktemp("bare")
    source = folder / "source"
    source.mkdir()
    for name in ("xlacompare", "models"):
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", str(source)]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "venv" / "bin"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "left.txt").write_text(LEFT)
    (folder / "right.txt").write_text(RIGHT)
    return str(folder / "left.txt"), str(folder / "right.txt")


def run(bare: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(bare / "xlacompare"), *arguments], capture_output=True, text=True, cwd=bare)


def test_neither_framework_is_there(bare: Path) -> None:
    for name in ("jax", "tensorflow"):
        done = subprocess.run([str(bare / "python"), "-c", f"import {name}"], capture_output=True, text=True)
        assert "ModuleNotFoundError" in done.stderr


def test_analyze_works(bare: Path, texts: tuple[str, str]) -> None:
    done = run(bare, "analyze", texts[0], "--json")
    assert done.returncode == 0, done.stderr
    (module,) = json.loads(done.stdout)["modules"]
    assert module["fusions"]["entry"] == 1
    assert run(bare, "analyze", texts[0]).returncode == 0


def test_diff_works(bare: Path, texts: tuple[str, str]) -> None:
    done = run(bare, "diff", *texts, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["operations"] == {"left": 2, "right": 2, "matched": 2, "left_only": 0, "right_only": 0}
    assert run(bare, "diff", *texts).returncode == 0


def test_the_built_in_models_are_installed_and_say_why_they_cannot_run(bare: Path) -> None:
    done = run(bare, "models", "--json")
    assert done.returncode == 0, done.stderr
    models = {model["name"]: model for model in json.loads(done.stdout)["models"]}
    assert not models["linear"]["runnable"]
    assert "pip install 'xlacompare[all]'" in models["linear"]["why_not"]


def test_dump_says_what_to_install(bare: Path, tmp_path: Path) -> None:
    done = run(bare, "dump", "linear", "--out", str(tmp_path / "out"), "-q")
    assert done.returncode == 1
    assert "pip install 'xlacompare[jax]'" in done.stderr
    assert "pip install 'xlacompare[tensorflow]'" in done.stderr
    assert "Traceback" not in done.stderr
