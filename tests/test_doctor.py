"""`doctor` compiles for real, says what it found, and names what would hide a dump."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from xlacompare.cli.main import main

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]


def test_both_frameworks_write_a_dump_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "xlacompare.doctor"
    states = {state["framework"]: state for state in document["frameworks"]}
    assert [states[name]["dumps"] for name in ("jax", "tensorflow")] == [True, True]
    import importlib.metadata as metadata

    assert states["jax"]["versions"]["jaxlib"] == metadata.version("jaxlib")
    assert states["tensorflow"]["versions"]["tensorflow"] == metadata.version("tensorflow")


def test_what_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache"))
    bare = str(tmp_path / "bare" / "bin" / "python")
    assert main(["doctor", "-q", "--tensorflow-python", bare, "--width", "200"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "JAX: a compile writes a dump" in text
    assert "pip install 'xlacompare[tensorflow]'" in text
    assert f"JAX_COMPILATION_CACHE_DIR={tmp_path}" in text
    assert "a cache hit compiles nothing" in text
