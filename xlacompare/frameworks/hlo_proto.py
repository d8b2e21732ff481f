"""HLO protobufs (`.hlo.pb`, `.pbtxt`) turned into text, by whatever installed framework can read them.

jaxlib has a printer for the binary form; TensorFlow ships the message classes, which the text form needs. Either runs
in a child process: a damaged protobuf can take the process down, and the caller's stays free of frameworks.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from xlacompare.errors import FrameworkMissing, HloError

_MISSING = 3
_FIRST_FIELD = re.compile(r"(?:\s|#[^\n]*\n)*(\w+)\s*[:{]")
_SEPARATOR = re.compile(r"^//\s*-{3,}\s*$", re.MULTILINE)
_TIMEOUT_S = 600.0


def to_text(data: bytes, *, text_format: bool, file: str) -> str:
    """Return the HLO text of a protobuf.

    Args:
        data: an HloProto, HloModuleProto or HloSnapshot.
        text_format: whether it is the protobuf's text form.
        file: what errors call it.

    Raises:
        FrameworkMissing: no installed framework can read this form; the message has the pip line.
        HloError: it cannot be read.
    """
    command = [sys.executable, "-m", "xlacompare.frameworks.hlo_proto", "text" if text_format else "binary"]
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise HloError(f"reading this protobuf took more than {_TIMEOUT_S:.0f} s", file=file) from None
    if child.returncode == _MISSING:
        packages = "tensorflow" if text_format else "jaxlib"
        raise FrameworkMissing(f"{file} is a protobuf, which needs {packages} to be read: pip install {packages}")
    text = child.stdout.decode("utf-8", "replace")
    if child.returncode or not text.strip():
        last = child.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise HloError(f"this protobuf cannot be read as HLO: {last[0]}", file=file)
    return text


def module_bytes(data: bytes) -> bytes:
    """Return the serialized HloModuleProto inside an HloProto or HloSnapshot, or `data` if it is one itself.

    Raises:
        ValueError: it is none of them.
    """
    for _ in range(3):
        fields = dict(reversed(list(_fields(data))))
        name, entry = fields.get(1), fields.get(2)
        if name is None:
            break
        if entry is not None and 3 in fields and _is_plain(name) and _is_plain(entry):
            return data
        data = name
    raise ValueError("not an HloProto, HloModuleProto or HloSnapshot")


def _is_plain(data: bytes) -> bool:
    try:
        return data.decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of the outermost fields of a message, in order.

    Raises:
        ValueError: it is no message.
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            _, end = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            end = at + size
        elif kind in (1, 5):
            end = at + (8 if kind == 1 else 4)
        else:
            raise ValueError("not a protobuf message")
        if end > len(data) or tag < 8:
            raise ValueError("not a protobuf message")
        yield tag >> 3, data[at:end]
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("not a protobuf message")


@cache
def _messages() -> Any:
    """Return TensorFlow's module of HLO messages, without importing TensorFlow, which takes many seconds."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("tensorflow is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    # Empty packages in TensorFlow's place: this process does nothing else.
    for name in ("tensorflow", "tensorflow.compiler", "tensorflow.compiler.xla", "tensorflow.compiler.xla.service"):
        package = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    return importlib.import_module("tensorflow.compiler.xla.service.hlo_pb2")


def _serialized_from_text(text: str) -> bytes:
    messages = _messages()
    text_format = importlib.import_module("google.protobuf.text_format")
    first = _FIRST_FIELD.match(text)
    kind = {"hlo_module": "HloProto", "hlo": "HloSnapshot"}.get(first[1] if first else "", "HloModuleProto")
    message = getattr(messages, kind)()
    # A ParseError is no ValueError, and an unknown field is a newer XLA's.
    try:
        text_format.Parse(text, message, allow_unknown_field=True)
    except text_format.ParseError as error:
        raise ValueError(str(error)) from None
    return bytes(message.SerializeToString())


def _print(serialized: bytes) -> str:
    try:
        from jaxlib import _hlo
    except ImportError:
        from xlacompare.frameworks.hlo_messages import module_text

        return module_text(_messages().HloModuleProto.FromString(serialized))
    return str(_hlo.HloModule.from_serialized_hlo_module_proto(serialized).to_string())


def _main(form: str) -> int:
    data = sys.stdin.buffer.read()
    try:
        if form == "text":
            parts = [part for part in _SEPARATOR.split(data.decode("utf-8", "replace")) if _FIRST_FIELD.match(part)]
            texts = [_print(module_bytes(_serialized_from_text(part))) for part in parts]
        else:
            texts = [_print(module_bytes(data))]
    except ImportError:
        return _MISSING
    except (ValueError, RuntimeError) as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        return 1
    sys.stdout.buffer.write("\n".join(texts).encode("utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1]))
