"""`attribute`, end to end: what is the frontend's doing, what the compiler's, what a flag's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.model_folders import write_model
from xlacompare.attribution import Attribution, attribute, attribute_folders
from xlacompare.cli.main import main
from xlacompare.dump import dump_request
from xlacompare.dumps import check_manifest, read_manifest
from xlacompare.report.attribution import attribution_markdown, sections
from xlacompare.report.attribution_words import answer

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]

TANH_BY_EXPONENTIALS = """
import tensorflow as tf


def apply(params, x):
    e = tf.exp(2.0 * params["w"] * x)
    return (e - 1.0) / (e + 1.0)
"""
JAX_TANH = 'import jax.numpy as jnp\n\n\ndef apply(params, x):\n    return jnp.tanh(params["w"] * x)\n'
TENSORFLOW_TANH = 'import tensorflow as tf\n\n\ndef apply(params, x):\n    return tf.tanh(params["w"] * x)\n'
# One operation alone: a fusion of its own where XLA emits fusions, none where it does not.
JAX_ALONE = 'import jax.numpy as jnp\n\n\ndef apply(params, x):\n    return jnp.tanh(params["w"])\n'
TENSORFLOW_ALONE = 'import tensorflow as tf\n\n\ndef apply(params, x):\n    return tf.tanh(params["w"])\n'
FLAG = "--xla_cpu_use_fusion_emitters=false"


def cells(document: dict[str, Any], measure: str) -> list[float]:
    return [cell[measure] for cell in document["cells"]]


def texts(sentences: list[tuple[str, ...]]) -> str:
    return "\n".join("".join(sentence) for sentence in sentences)


@pytest.fixture(scope="module")
def mlp(tmp_path_factory: pytest.TempPathFactory) -> tuple[Attribution, Path]:
    out = tmp_path_factory.mktemp("dumps")
    return attribute(dump_request("mlp", variant="train_step"), out=out), out / "mlp" / "train_step" / "attribution"


def test_linear_is_the_compilers_doing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", "linear", "--variant", "grad", "--json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "xlacompare.attribution"
    assert document["verdict"] == "compiler"
    # Hand-counted in the native dumps; either compiler makes of the other's program what it makes of its own.
    assert cells(document, "kernels") == [3, 3, 3, 3]
    assert cells(document, "fusions") == [2, 3, 2, 3]
    (pair,) = document["pairs"]
    assert pair["compiler_share"] == 1
    assert pair["kernels_apart"] == {
        "native": 6,
        "by_frontend": {"jax": 0, "tensorflow": 0},
        "by_compiler": {"jax": 6, "tensorflow": 6},
    }
    assert document["first_divergent_pass"]["left_passes"] == ["HLO_passes_through_layout_assignment / gemv-rewriter"]
    assert document["parity"]["ok"]
    assert not document["unable"]


def test_mlp_is_the_doing_of_both(mlp: tuple[Attribution, Path]) -> None:
    found, _ = mlp
    document = found.to_json_dict()
    assert document["verdict"] == "both"
    assert 0.1 < document["pairs"][0]["frontend_share"] < 0.9
    makers = {made["maker"] for made in document["frontends"]["left_only"]}
    assert "gradient of log_softmax" in makers
    replaced = [each["replaced"] for each in document["compilers"]]
    assert replaced == 2 * [[{"left": "kCustom fusion (__ynn_fusion)", "right": "dot", "kernels": 5}]]
    libraries = [part for part in document["pipelines"][0]["partings"] if "dot-library-rewriter" in str(part)]
    assert len(libraries) == 1
    assert {operation["opcode"] for operation in libraries[0]["operations"]} == {"dot"}


def test_the_shares_of_every_number_add_up(mlp: tuple[Attribution, Path]) -> None:
    for share in mlp[0].verdicts[0].shares:
        assert share.frontend + share.compiler == share.difference


def test_the_report_says_it_in_words(mlp: tuple[Attribution, Path]) -> None:
    found, _ = mlp
    assert "both, the frontends" in texts(answer(found))
    said = {title: texts(sentences) for title, sentences in sections(found)}
    assert "JAX alone, from gradient of log_softmax" in said["What the frontends did differently"]
    assert "kCustom fusion (__ynn_fusion) under the XLA of jaxlib" in said["What the compilers did differently"]
    assert "dot-library-passes / dot-library-rewriter" in said["Pass by pass"]
    assert attribution_markdown(found) == attribution_markdown(found)
    assert "| jax | tensorflow |" in attribution_markdown(found)


def test_what_is_kept_can_be_attributed_again_from_its_texts(mlp: tuple[Attribution, Path]) -> None:
    _, kept = mlp
    # One program under two compilers: the inputs are the same, so the texts alone tell.
    compilers = attribute_folders(kept / "jax-by-jax", kept / "jax-by-tensorflow")
    assert compilers.verdict == "compiler"
    assert "dot-library-rewriter" in str(compilers.to_json_dict()["pipelines"])
    # Two programs under one, as both manifests say.
    frontends = attribute_folders(kept / "jax-by-jax", kept / "tensorflow-by-jax")
    assert frontends.verdict == "frontend"
    manifest = read_manifest(kept / "tensorflow-by-jax")
    assert (manifest.framework, manifest.extra["frontend"]) == ("jax", "tensorflow")
    assert not check_manifest(kept / "tensorflow-by-jax", manifest)
    # Without them nobody knows whether it was one compiler, and the passes say only that the inputs differ.
    for cell in ("jax-by-jax", "tensorflow-by-jax"):
        copy = shutil.copytree(kept / cell, kept.parent / "bare" / cell)
        (copy / "manifest.json").unlink()
    bare = attribute_folders(kept.parent / "bare" / "jax-by-jax", kept.parent / "bare" / "tensorflow-by-jax")
    assert bare.verdict == "unknown"
    assert any("no manifest.json" in sentence for sentence in bare.unable)
    same = attribute_folders(kept / "jax-by-jax", kept / "jax-by-jax")
    assert same.verdict == "none"
    assert not same.unable
    assert sorted(path.name for path in kept.parent.iterdir()) == ["attribution", "bare"]


def test_a_planted_frontend_difference_is_the_frontends_doing(tmp_path: Path) -> None:
    model = write_model(tmp_path / "planted", jax=JAX_TANH, tensorflow=TANH_BY_EXPONENTIALS)
    found = attribute(dump_request(str(model), variant="forward"))
    assert found.verdict == "frontend"
    assert found.verdicts[0].frontend_share == 1
    assert found.frontends is not None
    opcodes = [
        {opcode for made in side for opcode in made.opcodes}
        for side in (found.frontends.left_only, found.frontends.right_only)
    ]
    assert "tanh" in opcodes[0]
    assert {"exponential", "divide"} <= opcodes[1]


def test_a_planted_flag_is_the_flags_doing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_model(tmp_path / "planted", jax=JAX_ALONE, tensorflow=TENSORFLOW_ALONE)
    plot = tmp_path / "passes.svg"
    arguments = ["attribute", str(model), "--variant", "forward", "-q", f"--jax-xla-flags={FLAG}", "--plot", str(plot)]
    assert main([*arguments, "--width", "200"]) == 0
    report = " ".join(capsys.readouterr().out.split())
    assert f"of that all is the doing of {FLAG}, which the XLA of jaxlib" in report
    assert "xla_cpu_use_fusion_emitters is false for jaxlib" in report
    assert plot.read_text().lstrip().startswith("<?xml")


def test_the_same_program_and_flags_on_both_sides_differ_in_nothing(tmp_path: Path) -> None:
    model = write_model(tmp_path / "planted", jax=JAX_TANH, tensorflow=TENSORFLOW_TANH)
    found = attribute(dump_request(str(model), variant="forward"))
    assert found.verdict == "none"
    assert "no difference" in texts(answer(found))


def test_one_environment_is_not_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", "linear", "--frameworks", "jax"]) == 2
    assert "two environments" in capsys.readouterr().err


def test_from_one_cell_nothing_can_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "dumps"
    assert main(["attribute", "linear", "-q", "--jax-xla-flags=--xla_no_such", "--out", str(out)]) == 1
    assert not out.exists()
    error = capsys.readouterr().err
    assert "JAX's XLA refused --xla_no_such" in error
    assert error.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["linear", "--no-jit"], "leave --no-jit"),
        (["linear", "--plot", "passes.pdf"], ".svg or .png"),
        (["linear", "--jax-python", "/no/such/python"], "no program there"),
        (["lineaar"], "linear"),
        (["no-such-left", "no-such-right"], "no folder"),
    ],
)
def test_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", *arguments]) == 2
    assert words in capsys.readouterr().err
