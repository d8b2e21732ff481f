"""`manifest.json`: what a dump folder of ours holds and how it came to be (schema `xlacompare.manifest`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from xlacompare import documents
from xlacompare.errors import DumpError, SchemaError

MANIFEST_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """How one dump folder was made, and which of its files are the ones meant.

    Attributes:
        framework: "jax" or "tensorflow".
        module: the name on the `HloModule` line of the module that is meant.
        module_reason: why it is this module, as a phrase.
        command: the command line that made the dump, one string a word.
        model: the model's name, None for a dump of something else (`capture`).
        variant: "forward", "grad", "train_step", …
        size: the size's numbers, `{"batch": 32, "hidden": 64}`.
        shapes: every argument's name and shape in the short form, `{"x": "f32[32,784]"}`.
        versions: "python", the framework, its compiler ("jaxlib") and its XLA revision where it is known.
        xla_flags: the final XLA_FLAGS of the process that compiled.
        device: what it compiled for, "cpu", "gpu", or the device's own name.
        before: path of the text before optimizations, relative to the folder, with forward slashes.
        after: path of the text after optimizations, likewise.
        before_sha256: SHA-256 of that file's bytes, in hexadecimal digits.
        after_sha256: likewise.
        outputs_checksum: a checksum of what the program computed; its form is the writer's.
        stages_s: wall time of each stage in seconds, in the order in which they ran.
        extra: what the file holds beyond these keys; kept when it is written again.
    """

    framework: str
    module: str
    module_reason: str
    command: tuple[str, ...] = ()
    model: str | None = None
    variant: str | None = None
    size: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    xla_flags: str = ""
    device: str = ""
    before: str | None = None
    after: str | None = None
    before_sha256: str | None = None
    after_sha256: str | None = None
    outputs_checksum: str | None = None
    stages_s: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json_dict(self) -> dict[str, Any]:
        """Return the document as `manifest.json` holds it."""
        body = {name: getattr(self, name) for name in _KEYS}
        body["command"] = list(self.command)
        for name in ("size", "shapes", "versions", "stages_s"):
            body[name] = dict(body[name])
        return documents.document("manifest", {**body, **self.extra})


_KEYS = tuple(each.name for each in fields(Manifest) if each.name != "extra")
_TEXTS = ("framework", "module", "module_reason", "xla_flags", "device")
_OPTIONAL_TEXTS = ("model", "variant", "before", "after", "before_sha256", "after_sha256", "outputs_checksum")
_MAPPINGS = ("size", "shapes", "versions", "stages_s")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_manifest(directory: Path | str, manifest: Manifest) -> Path:
    """Write `manifest.json` into the folder; the sums of the two texts are taken here if they are not given.

    Returns:
        The path written.

    Raises:
        DumpError: `before` or `after` names no file of the folder.
    """
    directory = Path(directory)
    sums: dict[str, Any] = {}
    for stage in ("before", "after"):
        relative = getattr(manifest, stage)
        if relative is None:
            continue
        path = directory / relative
        if not path.is_file():
            raise DumpError(f"The manifest of {directory} names {relative} as its text {stage} optimizations; no such file.")
        if getattr(manifest, f"{stage}_sha256") is None:
            sums[f"{stage}_sha256"] = file_sha256(path)
    path = directory / MANIFEST_NAME
    text = documents.dumps({**manifest.to_json_dict(), **sums})
    partial = path.with_name(f".{MANIFEST_NAME}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return path


def read_manifest(directory: Path | str) -> Manifest:
    """Return the manifest of a dump folder.

    Raises:
        DumpError: the folder has no `manifest.json`.
        SchemaError: it is of another kind or version, or a value has another type than it should.
    """
    path = Path(directory) / MANIFEST_NAME
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DumpError(f"{directory} has no readable {MANIFEST_NAME} ({error.strerror or error}).") from None
    doc = documents.load(text, "manifest", file=str(path))
    values: dict[str, Any] = {}
    for name in _TEXTS:
        required = name in ("framework", "module", "module_reason")
        values[name] = _typed(doc, name, str, path, default=None if required else "")
    for name in _OPTIONAL_TEXTS:
        values[name] = None if doc.get(name) is None else _typed(doc, name, str, path)
    for name in _MAPPINGS:
        values[name] = _typed(doc, name, dict, path, default={})
    values["command"] = tuple(str(word) for word in _typed(doc, "command", list, path, default=[]))
    known = {"schema", "schema_version", *_KEYS}
    values["extra"] = {key: value for key, value in doc.items() if key not in known}
    return Manifest(**values)


def check_manifest(directory: Path | str, manifest: Manifest) -> tuple[str, ...]:
    """Return what in the folder is no longer as the manifest says, a sentence each; nothing where all holds."""
    found = []
    for stage in ("before", "after"):
        relative, expected = getattr(manifest, stage), getattr(manifest, f"{stage}_sha256")
        if relative is None:
            continue
        path = Path(directory) / relative
        if not path.is_file():
            found.append(f"{relative} is named by the manifest and missing.")
        elif expected is not None and file_sha256(path) != expected:
            found.append(f"{relative} has changed since the manifest was written.")
    return tuple(found)


def _typed(doc: Mapping[str, Any], name: str, kind: type, path: Path, *, default: Any = None) -> Any:
    value = doc.get(name, default)
    if not isinstance(value, kind):
        seen = json.dumps(value, ensure_ascii=False)[:60]
        raise SchemaError(f"{path}: {name!r} should be a {kind.__name__}, found {seen}.")
    return value
