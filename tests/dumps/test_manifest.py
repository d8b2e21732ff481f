from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from xlacompare.dumps import Manifest, check_manifest, read_manifest, write_manifest
from xlacompare.errors import DumpError, SchemaError

BEFORE = "module_0004.jit_linear_grad.before_optimizations.txt"
AFTER = "module_0004.jit_linear_grad.cpu_after_optimizations.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / BEFORE).write_text("HloModule jit_linear_grad\n")
    (tmp_path / AFTER).write_text("HloModule jit_linear_grad, is_scheduled=true\n")
    return tmp_path


def manifest() -> Manifest:
    return Manifest(
        framework="jax",
        module="jit_linear_grad",
        module_reason="the name that was asked for",
        command=("xlacompare", "dump", "linear"),
        model="linear",
        variant="grad",
        size={"batch": 8},
        shapes={"x": "f32[8,5]"},
        versions={"python": "3.11.7", "jax": "0.10.2", "jaxlib": "0.10.2"},
        xla_flags="--xla_dump_to=/tmp/a",
        device="cpu",
        before=BEFORE,
        after=AFTER,
        outputs_checksum="crc32:1a2b",
        stages_s={"import": 0.5, "compile": 0.25},
        extra={"note": "kept"},
    )


def test_written_and_read_again(folder: Path) -> None:
    path = write_manifest(folder, manifest())
    doc = json.loads(path.read_text())
    assert (doc["schema"], doc["schema_version"]) == ("xlacompare.manifest", 1)
    # sha256sum's own figure of the same bytes
    assert doc["before_sha256"] == hashlib.sha256(b"HloModule jit_linear_grad\n").hexdigest()
    back = read_manifest(folder)
    assert back.before_sha256 == doc["before_sha256"]
    assert back.command == ("xlacompare", "dump", "linear")
    assert back.stages_s == {"import": 0.5, "compile": 0.25}
    assert back.extra == {"note": "kept"}
    write_manifest(folder, back)
    assert json.loads(path.read_text()) == doc
    assert {each.name for each in folder.iterdir()} == {BEFORE, AFTER, "manifest.json"}


def test_changed_and_missing_texts_are_found(folder: Path) -> None:
    write_manifest(folder, manifest())
    back = read_manifest(folder)
    assert check_manifest(folder, back) == ()
    (folder / BEFORE).unlink()
    (folder / AFTER).write_text("HloModule other\n")
    assert check_manifest(folder, back) == (
        f"{BEFORE} is named by the manifest and missing.",
        f"{AFTER} has changed since the manifest was written.",
    )


def test_a_text_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match="no such file"):
        write_manifest(tmp_path, manifest())
    assert list(tmp_path.iterdir()) == []


def test_folder_without_manifest(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match=r"manifest\.json"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": 9}, "schema_version 9"),
        ({"framework": None}, "'framework' should be a str, found null"),
        ({"stages_s": [1]}, "'stages_s' should be a dict"),
        ({"command": "xlacompare dump"}, "'command' should be a list"),
        ({"before": 3}, "'before' should be a str"),
    ],
)
def test_a_value_of_another_type_is_named(folder: Path, change: dict[str, object], words: str) -> None:
    path = write_manifest(folder, manifest())
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(SchemaError) as caught:
        read_manifest(folder)
    assert words in str(caught.value)
