"""A pair that somebody adds: what CONTRIBUTING.md shows, and what `models new` writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import xlacompare.analyze as xa
from tests.conftest import REPOSITORY
from xlacompare.cli.main import main
from xlacompare.errors import UsageError
from xlacompare.new_model import new_model
from xlacompare.registry import find_model


def contributing_example() -> dict[str, str]:
    """Return path -> text of every file that CONTRIBUTING.md shows in full."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^`(\S+\.py)`\n\n```python\n(.*?)```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.jax
@pytest.mark.tensorflow
def test_the_example_of_contributing_runs(tmp_path: Path) -> None:
    files = contributing_example()
    assert sorted(files) == ["glu/jax_model.py", "glu/spec.py", "glu/tensorflow_model.py"]
    assert sum(len(text.splitlines()) for text in files.values()) < 40
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    result = xa.dump(str(tmp_path / "glu"), variant="train_step", out=tmp_path / "dumps")
    assert result.parity is not None and result.parity.ok
    assert [each.framework for each in result.dumps] == ["jax", "tensorflow"]


@pytest.mark.jax
@pytest.mark.tensorflow
def test_a_new_model_runs(tmp_path: Path) -> None:
    folder = new_model("my-model", tmp_path)
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in folder.iterdir()) < 50
    result = xa.dump(str(folder), variant="grad", out=tmp_path / "dumps")
    assert result.parity is not None and result.parity.ok
    assert {"my_model_grad" in each.manifest.module for each in result.dumps} == {True}


@pytest.mark.parametrize("name", ["", "3d", "a b", "../up", ".hidden"])
def test_a_name_that_cannot_be_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a model"):
        new_model(name, tmp_path)


def test_the_command_writes_a_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["models", "new", "mine"]) == 0
    assert "xlacompare dump ./mine" in capsys.readouterr().out
    assert find_model("mine").spec.name == "mine"
    assert main(["models", "new", "mine", "--json"]) == 2
    assert "mine is there already" in capsys.readouterr().err
    assert main(["models", "new"]) == 2
    assert "needs a NAME" in capsys.readouterr().err
    assert main(["models", "new", "other", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dir"] == "other"


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        new_model("mine", tmp_path)
