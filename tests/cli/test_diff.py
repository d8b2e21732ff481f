"""The options of `diff`: repeated compilations, two folders, Model Explorer's files, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from xlacompare.cli.main import main

REFERENCE = REPOSITORY / "dumps" / "reference"
LEFT, RIGHT = str(REFERENCE / "jax-0.10.2"), str(REFERENCE / "tensorflow-2.21.0")


@pytest.mark.jax
@pytest.mark.tensorflow
def test_repeated_compilations_are_the_noise_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["diff", "linear", "--variant", "forward", "--repeat", "2", "--out", str(tmp_path), "-q"]
    assert main(arguments) == 0
    # XLA's CPU compiler is deterministic: nothing differs between two runs of one program.
    assert capsys.readouterr().out.startswith("Noise floor: 2 compilations by JAX gave the same kernels every time.")
    stored = json.loads((tmp_path / "linear" / "forward" / "diff.json").read_text())
    assert stored["noise"]["tensorflow"] == {"compilations": 2, "different": [], "verdicts": {}}


def test_the_modules_of_two_folders_are_paired(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", LEFT, RIGHT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    # Both folders hold the four programs of the reference; the largest is the one meant, three stand beside it.
    functions = ("linear_grad", "mlp_step", "scan_grad", "conv")
    pairs = [(document["left"]["name"], document["right"]["name"])]
    pairs += [(pair["left"], pair["right"]) for pair in document["beside"]]
    assert len(pairs) == len(functions)
    for left, right in pairs:
        assert any(function in left and function in right for function in functions), (left, right)
    assert main(["diff", LEFT, RIGHT, "--width", "80"]) == 0
    assert "Other modules of the folders" in capsys.readouterr().out


def test_a_folder_against_itself_is_identical(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", LEFT, LEFT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["identical"]
    assert [pair["identical"] for pair in document["beside"]] == [True, True, True]


def test_files_go_where_they_are_told_and_replace_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["diff", LEFT, RIGHT, "--out", str(tmp_path / "out"), "--model-explorer", str(tmp_path / "explorer")]
    assert main(arguments) == 0
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {"report.md", "diff.json", "left.json", "right.json", "sync_navigation.json"}
    mapping = json.loads((tmp_path / "explorer" / "sync_navigation.json").read_text())
    drawn = {}
    for side in ("left", "right"):
        (graph,) = json.loads((tmp_path / "explorer" / f"{side}.json").read_text())["graphs"]
        drawn[side] = {node["id"] for node in graph["nodes"]}
    for entry in mapping["mappingEntries"]:
        assert set(entry["leftNodeIds"]) <= drawn["left"]
        assert set(entry["rightNodeIds"]) <= drawn["right"]
    assert main(arguments) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pair", "x"], "LEFT=RIGHT"),
        (["--pair", "nobody=0"], "nobody"),
        (["--repeat", "2"], "--repeat"),
        (["--depth", "2"], "--depth"),
    ],
)
def test_what_makes_no_sense_for_two_paths_is_refused(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", LEFT, RIGHT, *options]) == 2
    assert said in capsys.readouterr().err


def test_different_stages_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    (before,) = Path(LEFT).glob("*linear_grad*before*.txt")
    (after,) = Path(LEFT).glob("*linear_grad*after*.txt")
    assert main(["diff", str(before), str(after)]) == 2
    assert "the same stage" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", LEFT, RIGHT, "--width", str(width), "--color", "never", "--text-diff"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width
