"""A file that is no HLO is named for what it is; nothing ever ends in a traceback."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from xlacompare.cli.main import main

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"
LLVM = b"; ModuleID = '__compute_module'\nsource_filename = \"__compute_module\"\ndefine void @f() {\n  ret void\n}\n"
MLIR = b"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n  func.func public @main() {\n    return\n  }\n}\n"
# The head of a serialized xla.HloProto: field 1, length-delimited, an HloModuleProto whose field 1 is a name.
PROTO = b"\x0a\xc8\x01\x0a\x05jit_f\x12\x06main.4\x1a\x40" + bytes(range(128))


@pytest.mark.parametrize("command", ["analyze", "diff"])
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.mlir", MLIR, "MLIR"),
        ("a.ll", LLVM, "LLVM"),
        ("a.png", PNG, "PNG"),
        ("a.txt", b"", "empty"),
        ("a.txt", b"\n  \n", "empty"),
        ("a.txt", b"Dear reader,\nthis is a letter.\n", "HLO"),
        ("a.hlo.pb", PROTO, "proto"),
        ("a.txt.gz", b"\x1f\x8b not really", "gz"),
    ],
)
def test_a_file_that_is_no_hlo_is_named_for_what_it_is(
    command: str, name: str, content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert main([command, str(path), str(path)] if command == "diff" else [command, str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert name in captured.err
    assert said.lower() in captured.err.lower()


def test_compressed_text_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n"))
    assert main(["analyze", str(path)]) == 0
    assert "ENTRY e" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["analyze", "/nowhere/a"], ["diff", "/nowhere/a", "/nowhere/b"]])
def test_a_path_that_is_not_there_is_a_usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "/nowhere/a" in capsys.readouterr().err


def test_a_folder_without_hlo_says_what_may_be_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err


def test_strict_makes_a_doubt_an_error_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(gone)\n}\n")
    assert main(["analyze", str(path)]) == 0
    assert "gone" in capsys.readouterr().out
    assert main(["analyze", str(path), "--strict"]) == 1
    error = capsys.readouterr().err
    assert f"{path}:4:" in error
    assert "^" in error


def test_markup_in_hlo_text_is_shown_and_not_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text('HloModule m\nENTRY e {\n  ROOT x = f32[2] custom-call(), custom_call_target="[red]<b>|`x`"\n}\n')
    for form in ("text", "markdown"):
        assert main(["analyze", str(path), "--format", form]) == 0
        assert main(["diff", str(path), str(path), "--format", form]) == 0
    assert "Traceback" not in capsys.readouterr().err
