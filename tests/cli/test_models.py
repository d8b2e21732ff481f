"""`models` lists what is there; a broken plugin is listed as broken and harms nothing else."""

from __future__ import annotations

import importlib.metadata as metadata
import json
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from xlacompare.cli.main import main

# "Runs here" is true where both are installed.
pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    assert main(["models", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "xlacompare.models"
    return {model["name"]: model for model in document["models"]}


def test_every_model_folder_is_listed_and_runs_here(capsys: pytest.CaptureFixture[str]) -> None:
    models = listed(capsys)
    assert set(models) == {path.parent.name for path in (REPOSITORY / "models").glob("*/spec.py")}
    assert all(model["runnable"] for model in models.values())
    keys = {"name", "summary", "variants", "sizes", "origin", "runnable", "why_not"}
    assert all(keys <= set(model) for model in models.values())


def test_a_broken_plugin_is_listed_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "broken_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xlacompare.models]\nshaky = broken_plugin:SPEC\n")
    (tmp_path / "broken_plugin.py").write_text("raise RuntimeError('[bold]not today')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [entry.name for entry in metadata.entry_points(group="xlacompare.models")] == ["shaky"]
    models = listed(capsys)
    assert "not today" in str(models["shaky"]["why_not"])
    assert "broken-plugin" in str(models["shaky"]["why_not"])
    assert models["linear"]["runnable"]
    assert main(["models"]) == 0
    assert "[bold]not" in capsys.readouterr().out
    assert main(["models", "-v"]) == 0
