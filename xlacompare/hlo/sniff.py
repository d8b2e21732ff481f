"""What a file is when it is not HLO text, and what to do with it then."""

from __future__ import annotations

import gzip
import re
import zlib

from xlacompare.errors import HloError, NotHloError

_GZIP = b"\x1f\x8b"
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x7fELF", "an ELF binary: compiled code, after HLO"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O binary: compiled code, after HLO"),
    (b"BC\xc0\xde", "LLVM bitcode, which XLA made after HLO"),
    (b"ML\xefR", "MLIR bytecode (StableHLO, what a frontend gives to XLA)"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"(\xb5/\xfd", "a zstd file: unpack it first"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
)
_STABLEHLO = (
    "StableHLO/MLIR text, what a frontend gives to XLA, not HLO text; XLA writes the HLO that it makes of it as"
    " *.before_optimizations.txt under --xla_dump_to, and in JAX lowered.as_text(dialect='hlo') gives it"
)
# Looked for at the start of a line near the head of a text that has no HloModule line there.
_TEXTS = tuple(
    (re.compile(pattern, re.MULTILINE), name)
    for pattern, name in (
        (r"^\s*(?:module\s*(?:@|attributes\b|\{)|func\.func\b|#loc\d*\s*=|\"builtin\.module\")", _STABLEHLO),
        (r"^(?:; ModuleID|source_filename = |target (?:datalayout|triple) = )", "LLVM IR, which XLA made after HLO"),
        (r"^\s*\.(?:version \d|target sm_)", "PTX, the machine code of a GPU, which XLA made after HLO"),
        (r"^\s*\{ ?lambda\b", "a jaxpr, what JAX traced before it made HLO"),
        (r"^BufferAssignment:", "XLA's report on buffer assignment, which belongs to an HLO module"),
        (r"^\s*(?:<!DOCTYPE|<html|<\?xml|<svg)", "an HTML or XML document"),
        (r"^digraph\b", "a Graphviz drawing of a graph"),
    )
)
_PBTXT = re.compile(r"\A(?:\s*#[^\n]*\n)*\s*(?:hlo_module \{|hlo \{|name: \"|computations \{)")
_HEAD = 1 << 14


def decode(data: bytes, file: str) -> str:
    """Return a file's text, unpacked where it is gzip, printed where it is an HLO protobuf.

    Raises:
        NotHloError: it is binary or empty.
        HloError: a gzip or protobuf that is broken from the start.
        FrameworkMissing: a protobuf, and nothing is installed that reads it.
    """
    if data.startswith(_GZIP):
        data = _unzip(data, file)
    if not data.strip():
        raise NotHloError("the file is empty", file=file)
    for magic, name in _MAGIC:
        if data.startswith(magic):
            raise NotHloError(f"this is {name}, not HLO text", file=file)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    is_binary = b"\0" in data[:_HEAD]
    if is_binary or file.removesuffix(".gz").endswith(".pb"):
        return _from_proto(data, file, is_binary=is_binary)
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    if _PBTXT.match(text[:_HEAD]) and "HloModule" not in text[:_HEAD]:
        from xlacompare.frameworks import hlo_proto

        return hlo_proto.to_text(data, text_format=True, file=file)
    return text


def _from_proto(data: bytes, file: str, *, is_binary: bool) -> str:
    from xlacompare.frameworks import hlo_proto

    try:
        hlo_proto.module_bytes(data)
    except ValueError:
        if not is_binary:
            return data.decode("utf-8", errors="replace")
        raise NotHloError("this is a binary file, and no protobuf of an HLO module", file=file) from None
    return hlo_proto.to_text(data, text_format=False, file=file)


def _unzip(data: bytes, file: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        # Cut short: what can be unpacked is read, like any text that breaks off.
        unpacked = _unzip_start(data)
        if not unpacked:
            raise HloError("the gzip file is damaged and nothing of it can be unpacked", file=file) from None
        return unpacked


def _unzip_start(data: bytes) -> bytes:
    unzip = zlib.decompressobj(wbits=31)
    unpacked = []
    for at in range(0, len(data), 1 << 12):
        try:
            unpacked.append(unzip.decompress(data[at : at + (1 << 12)]))
        except zlib.error:
            break
    return b"".join(unpacked)


def refuse_other_formats(text: str, file: str | None) -> None:
    """Raise for a text that is recognisably something else than HLO; return where it may be HLO.

    Raises:
        NotHloError: with what it is and what to do.
    """
    head = text[:_HEAD]
    if not head.strip() and not text.strip():
        raise NotHloError("the text is empty" if file is None else "the file is empty", file=file)
    if "HloModule" in head:
        return
    for pattern, name in _TEXTS:
        if pattern.search(head):
            raise NotHloError(f"this is {name}", file=file)
