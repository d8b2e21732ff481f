"""Stored documents compared: what differs first, other things refused, and no claim that the data do not carry."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.bench.made_runs import make_run
from tests.bench.test_profile import made_profile
from xlacompare import documents
from xlacompare.bench.across import compare_files, read_document
from xlacompare.cli.main import main
from xlacompare.report.across import comparison_markdown, comparison_text

WOBBLE = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0]
Edit = Callable[[dict[str, Any]], None]


def stored(path: Path, factor: float = 1.0, edit: Edit | None = None, **choices: Any) -> Path:
    run = make_run([factor * 1e-3 * value for value in WOBBLE], [2e-3 * value for value in WOBBLE], **choices)
    document = run.to_json_dict()
    if edit is not None:
        edit(document)
    path.write_text(documents.dumps(document))
    return path


def rendered(comparison: Any) -> str:
    console = Console(width=80, file=io.StringIO(), color_system=None)
    console.print(comparison_text(comparison))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_faster_run_is_called_faster(tmp_path: Path) -> None:
    comparison = compare_files([stored(tmp_path / "old.json"), stored(tmp_path / "new.json", 0.8)])
    by_metric = {(each.column, each.metric): each for each in comparison.measures}
    faster = by_metric["jax", "time a call"]
    assert (faster.before, faster.after, faster.verdict) == (1e-3, 0.8e-3, "faster")
    assert faster.ratio is not None
    assert faster.ratio.low < 1.25 < faster.ratio.high
    assert by_metric["tensorflow", "time a call"].verdict == "no difference"
    text = rendered(comparison)
    assert "same machine, versions and flags" in text
    assert "across runs: drift not cancelled" in text
    assert "-20.0%  faster" in text


def test_versions_and_machine_come_first(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["environment"]["cpu"] = "Another CPU"
        document["fairness"]["columns"]["jax"]["versions"]["jax"] = "9.9.9"

    comparison = compare_files([stored(tmp_path / "old.json"), stored(tmp_path / "new.json", edit=edit)])
    lines = rendered(comparison).splitlines()
    assert lines[1] == "cpu: Some CPU → Another CPU"
    assert lines[2] == "jax jax: 1.2.3 → 9.9.9"


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda document: document.update(model="other"), "model"),
        (lambda document: document.update(variant="forward"), "variant"),
        (lambda document: document["size"].update(batch=64), "size"),
        (lambda document: document["fairness"].update(dtypes=["bfloat16"]), "types"),
        (lambda document: document["plan"].update(device="gpu"), "device"),
        (lambda document: document.update(mode="throughput"), "mode"),
    ],
)
def test_other_things_are_refused_unless_forced(
    tmp_path: Path, edit: Edit, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(stored(tmp_path / "old.json")), str(stored(tmp_path / "new.json", edit=edit))]
    assert main(["compare", *paths]) == 1
    assert f"these measure different things ({what}: " in capsys.readouterr().err
    assert main(["compare", *paths, "--force"]) == 0
    assert f"compared by --force: {what}:" in capsys.readouterr().out


def test_few_processes_give_no_verdict(tmp_path: Path) -> None:
    paths = []
    for name, factor in (("old", 1.0), ("new", 0.5)):
        run = make_run([factor * 1e-3, factor * 1.01e-3, factor * 1e-3], [1e-3, 1e-3, 1e-3])
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(run.to_json())
    assert {each.verdict for each in compare_files(paths).measures if each.metric == "time a call"} == {"inconclusive"}


def test_three_runs_against_the_first(tmp_path: Path) -> None:
    paths = [stored(tmp_path / f"{name}.json", factor) for name, factor in (("a", 1.0), ("b", 0.9), ("c", 1.1))]
    comparison = compare_files(paths)
    times = [each for each in comparison.measures if (each.column, each.metric) == ("jax", "time a call")]
    assert [(each.document, each.verdict) for each in times] == [(1, "faster"), (2, "slower")]
    assert comparison_markdown(comparison).count("### ") == 2


def test_profiles(tmp_path: Path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    paths[0].write_text(made_profile().to_json())
    document = made_profile().to_json_dict()
    document["sides"][0]["kernels"][0]["time_s"] *= 3
    paths[1].write_text(documents.dumps(document))
    comparison = compare_files(paths)
    kernel = next(each for each in comparison.measures if (each.column, each.metric) == ("jax", "kernel fusion"))
    assert kernel.after == pytest.approx(3 * (kernel.before or 0))
    assert "kernel fusion" in rendered(comparison)


def census(kernels: int, name: str) -> dict[str, Any]:
    scopes = dict.fromkeys(("entry", "reachable", "weighted"), kernels)
    return {
        "name": name,
        "framework": "tensorflow",
        "main": True,
        "kernels": scopes,
        "fusions": scopes,
        "thunks": scopes,
        "instructions": {"total": 40, "entry": 9},
        "opcodes": {"entry": {"fusion": kernels, "dot": 1}, "total": {}},
    }


def test_censuses_whatever_number_tensorflow_gave_the_function(tmp_path: Path) -> None:
    paths = []
    for kernels, number in ((3, 88), (4, 1207)):
        paths.append(tmp_path / f"{kernels}.json")
        module = census(kernels, f"a_inference_mlp_grad_{number}__XlaMustCompile.{number % 10}")
        paths[-1].write_text(documents.dumps(documents.document("census", {"modules": [module]})))
    comparison = compare_files(paths)
    changed = {each.metric for each in comparison.measures if each.verdict == "changed"}
    assert {"kernels (entry)", "fusions (weighted)", "fusion (entry)"} <= changed
    text = rendered(comparison)
    assert "kernels (entry)" in text
    assert "kernels (weighted)" not in text
    assert "drift" not in text


def test_dumps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"model": "mlp", "variant": "grad", "dumps": [
        {"framework": "tensorflow", "versions": {"tensorflow": "2.21.0"}, "census": census(3, "m")}]}  # fmt: skip
    path = tmp_path / "dump.json"
    path.write_text(documents.dumps(documents.document("dump", body)))
    assert main(["compare", str(path), str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"]) == ("xlacompare.comparison", "dump")
    assert {each["verdict"] for each in document["measures"]} == {"same"}


@pytest.mark.parametrize(
    ("texts", "code", "said"),
    [
        (["{}"], 2, "two stored runs"),
        (["{}", "{}"], 1, "is no stored run"),
        (["not json", "{}"], 1, "is no stored run"),
        (['{"schema": "xlacompare.manifest"}', "{}"], 1, "compare takes bench"),
        (['{"schema": "xlacompare.bench", "schema_version": 99}', "{}"], 1, "schema_version 99"),
        (['{"schema": "xlacompare.bench", "schema_version": 1}'] * 2, 1, "lacks what its kind has"),
        (
            [
                '{"schema": "xlacompare.bench", "schema_version": 1}',
                '{"schema": "xlacompare.dump", "schema_version": 1}',
            ],
            2,
            "of one kind",
        ),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: list[str], code: int, said: str
) -> None:
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(text)
    assert main(["compare", *map(str, paths)]) == code
    assert said in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no stored run"):
        read_document(tmp_path / "missing.json")
