"""Reading whole texts: what stands at the outermost level, in every form that it comes in."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from xlacompare.errors import FrameworkMissing, HloError, NotHloError
from xlacompare.hlo import read_file, read_text

PRINTED = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "/home/me/f.py"

FunctionNames
1 "f"
2 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=8 end_column=11}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=5}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


%fused (p.0: f32[4]) -> f32[4] {
  %p.0 = f32[4]{0} parameter(0)
  ROOT %m = f32[4]{0} multiply(%p.0, %p.0), metadata={op_name="jit(f)/mul" stack_frame_id=2}
}

ENTRY %main.2 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
  ROOT %mul_fusion = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused, backend_config={"a":{"b":"}"}}
}

"""


def test_the_printers_own_form() -> None:
    (module,) = read_text(PRINTED)
    assert module.name == "jit_f"
    assert module.is_scheduled
    assert [one.name for one in module.computations] == ["fused", "main.2"]
    assert module.entry.name == "main.2"
    assert module.entry.opcodes == ["parameter", "fusion"]
    fusion = module.entry.root
    assert fusion.fusion_kind == "kLoop"
    assert fusion.operands == (module.entry.instructions[0],)
    assert fusion.called == (module.computations[0],)
    assert fusion.backend_config == {"a": {"b": "}"}}
    assert str(fusion.shape) == "f32[4]"
    multiply = module.computations[0].root
    assert [(str(frame), frame.function) for frame in multiply.source_frames] == [
        ("/home/me/f.py:3", "f"),
        ("/home/me/f.py:9", "<module>"),
    ]
    assert multiply.line == 21
    assert module.check() == ()


SMALL = "HloModule a\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n"


def test_several_modules_in_one_text() -> None:
    for between in ("", "\n// -----\n", "*** End a ***\n*** Begin b ***\n"):
        modules = read_text(SMALL + between + SMALL.replace("HloModule a", "HloModule b"))
        assert [module.name for module in modules] == ["a", "b"]
        assert [len(module.entry) for module in modules] == [2, 2]


def test_a_separator_parts_modules_without_headers() -> None:
    body = SMALL.partition("\n")[2]
    modules = read_text(body + "\n// -----\n\n" + body)
    assert [len(module.computations) for module in modules] == [1, 1]


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("\n", "\r\n"),
        "\n".join(f"I0000 00:00:1796061924.852568   32389 dump.cc:153] {line}" for line in SMALL.splitlines()),
        "\n".join(f"2024-05-01 10:00:00.123456: I xla/dump.cc:15] {line}" for line in SMALL.splitlines()),
        "*** Begin module_0000.a.before_optimizations.txt ***\n" + SMALL,
        SMALL.replace("HloModule a\n", "// a comment\nHloModule a\n"),
        SMALL.replace("ENTRY ", ""),
        SMALL.replace("ROOT ", ""),
        SMALL.replace("f32[2] negate(p)", "\n    f32[2]\n    negate(\n      f32[2] %p\n    )"),
        SMALL.replace("n = f32[2] negate(p)", "n= f32[2]negate(p), future_attribute=<new>, another={[(x)]}"),
        'TEST(A, B) { const char* text = R"(\n' + SMALL + ')"; }',
    ],
    ids=[
        "CRLF", "absl log", "TSL log", "stdout dump", "a comment first", "no ENTRY", "no ROOT", "wrapped",
        "unknown attributes", "inside a C++ test",
    ],
)  # fmt: skip
def test_every_way_that_a_text_comes_in(text: str) -> None:
    (module,) = read_text(text)
    assert module.entry.name == "e"
    assert module.entry.opcodes == ["parameter", "negate"]
    assert module.entry.root.name == "n"
    assert module.entry.root.operands == (module.entry.parameters[0],)


def test_what_is_unknown_is_kept_verbatim() -> None:
    text = "ENTRY e { ROOT n = future9[2]{0:Q(1)} brand-new.op(), zig={a ; b}, zag=[1;2] }"
    root = read_text(text)[0].entry.root
    assert (root.opcode, root.shape.element_type, root.shape.text) == ("brand-new.op", "future9", "future9[2]{0:Q(1)}")
    assert dict(root.attributes) == {"zig": "{a ; b}", "zag": "[1;2]"}


@pytest.mark.parametrize("cut", range(len("HloModule a\nENTRY e {\n  p = f32[2] parameter(0)"), len(SMALL) - 2))
def test_a_text_that_breaks_off_keeps_what_is_whole(cut: int) -> None:
    (module,) = read_text(SMALL[:cut])
    assert module.entry.instruction("p") is not None
    assert len(module.entry) <= 2
    assert any((warning.line, warning.column) == (2, 1) for warning in module.warnings)


def test_a_name_that_nothing_defines_is_a_doubt_with_its_place() -> None:
    text = SMALL.replace("negate(p)", "add(p, %gone), to_apply=%nowhere")
    (module,) = read_text(text, file="a.txt")
    assert module.entry.root.operands == (module.entry.instructions[0],)
    assert [(warning.line, warning.column) for warning in module.check()] == [(4, 3), (4, 3)]
    assert "%gone" in module.warnings[1].message or "%gone" in module.warnings[0].message
    with pytest.raises(HloError, match="%gone") as caught:
        read_text(text, file="a.txt", strict=True)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("a.txt", 4, 3)
    assert caught.value.line_text == "  ROOT n = f32[2] add(p, %gone), to_apply=%nowhere"


def test_strict_refuses_what_is_no_instruction() -> None:
    text = SMALL.replace("  ROOT", "  what is this?\n  ROOT")
    assert read_text(text)[0].warnings == ((4, 3, "expected an instruction; this line is left out"),)
    with pytest.raises(HloError) as caught:
        read_text(text, strict=True)
    assert str(caught.value).splitlines()[0] == "<text>:4:3: expected an instruction; this line is left out"
    assert str(caught.value).splitlines()[-1].index("^") == 4


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n", "StableHLO"),
        ("; ModuleID = 'x'\nsource_filename = 'x'\n", "LLVM IR"),
        ("//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.0\n.target sm_80\n", "PTX"),
        ("{ lambda ; a:f32[]. let b:f32[] = mul a a in (b,) }", "jaxpr"),
        ("BufferAssignment:\nallocation 0: size 4\n", "buffer assignment"),
        ("<!DOCTYPE html>\n", "HTML"),
        ("once upon a time\n", "neither a HloModule line nor a computation"),
    ],
)
def test_what_is_no_hlo_is_named(text: str, named: str) -> None:
    with pytest.raises(NotHloError, match=named):
        read_text(text)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"\x89PNG\r\n", "PNG"),
        (b"\x7fELF", "ELF"),
        (b"PK\x03\x04", "zip"),
        (b"\x01\x02\x00\xff" * 9, "binary"),
        (b"", "empty"),
    ],
)
def test_binary_files_are_named(data: bytes, named: str, tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(data)
    with pytest.raises(NotHloError, match=named):
        read_file(file)


def test_compressed_and_foreign_encodings(tmp_path: Path) -> None:
    packed = gzip.compress(SMALL.encode() * 50)
    for data in (packed, packed[: len(packed) - 9], SMALL.encode("utf-16"), b"\xef\xbb\xbf" + SMALL.encode()):
        file = tmp_path / "x.txt"
        file.write_bytes(data)
        assert read_file(file)[0].entry.opcodes == ["parameter", "negate"]


@pytest.mark.jax
def test_a_protobuf_is_read_through_jaxlib(tmp_path: Path) -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    serialized = hlo.hlo_module_from_text(SMALL).as_serialized_hlo_module_proto()
    # An HloProto is a message with the module as its first field.
    wrapped = b"\x0a" + bytes([len(serialized) & 0x7F | 0x80, len(serialized) >> 7]) + serialized
    for data in (serialized, wrapped, gzip.compress(wrapped)):
        file = tmp_path / "x.hlo.pb"
        file.write_bytes(data)
        (module,) = read_file(file)
        assert (module.name, module.entry.opcodes) == ("a", ["parameter", "negate"])


def test_the_tables_may_be_missing_or_short() -> None:
    for text in (
        PRINTED.replace("FileNames", "\nFunctionNames"),
        PRINTED.replace("stack_frame_id=2", "stack_frame_id=99"),
    ):
        multiply = read_text(text)[0].computations[0].root
        assert multiply.source is None or multiply.source.file == ""


def test_users_and_parameters() -> None:
    (module,) = read_text("ENTRY e { b = f32[] parameter(1) a = f32[] parameter(0) ROOT s = f32[] add(a, a) }")
    first, second = module.entry.parameters
    assert (first.name, second.name) == ("a", "b")
    assert first.users == (module.entry.root,)
    assert second.users == ()


@pytest.mark.corpus
def test_every_corpus_file_is_read(corpus: Path) -> None:
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        names = [row["file"] for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for name in names:
        try:
            modules = read_file(corpus / name)
        except (HloError, FrameworkMissing) as error:
            assert "expected_errors" in name or isinstance(error, FrameworkMissing), name
            continue
        for module in modules:
            module.check()
