"""A folder of the files that XLA writes: their names, the module that is meant, the manifest, the reports."""

from __future__ import annotations

from xlacompare.dumps.manifest import (
    MANIFEST_NAME,
    Manifest,
    check_manifest,
    file_sha256,
    read_manifest,
    write_manifest,
)
from xlacompare.dumps.publish import check_free, publish

__all__ = [
    # our own folders
    "MANIFEST_NAME",
    "Manifest",
    "check_free",
    "check_manifest",
    "file_sha256",
    "publish",
    "read_manifest",
    "write_manifest",
]
