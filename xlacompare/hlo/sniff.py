"""What a file is when it is not HLO text, and what to do with it then."""

from __future__ import annotations

import gzip
import zlib

from xlacompare.errors import HloError, NotHloError

_GZIP = b"\x1f\x8b"
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x7fELF", "an ELF binary"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"ML\xefR", "MLIR bytecode"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"(\xb5/\xfd", "a zstd file: unpack it first"),
    (b"SQLite format 3", "an SQLite database"),
)


def decode(data: bytes, file: str) -> str:
    """Return a file's text, unpacked where it is gzip.

    Raises:
        NotHloError: it is binary or empty.
        HloError: a gzip that is broken from the start.
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
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")


def _unzip(data: bytes, file: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        # Cut short: what can be unpacked is read, like any text that breaks off.
        text = zlib.decompressobj(wbits=31).decompress(data) if len(data) > 18 else b""
        if not text:
            raise HloError("the gzip file is damaged and nothing of it can be unpacked", file=file) from None
        return text


def refuse_other_formats(text: str, file: str | None) -> None:
    """Raise for a text that is recognisably something else than HLO; return where it is not recognised.

    Raises:
        NotHloError: always with what it is and what to do.
    """
    if not text.strip():
        raise NotHloError("the file is empty", file=file)
