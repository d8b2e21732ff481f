"""A folder of the files that XLA writes: their names, the module that is meant, the manifest, the reports."""

from __future__ import annotations

from xlacompare.dumps.file_names import FileName, parse_file_name
from xlacompare.dumps.folder import DumpedModule, DumpFolder, read_folder
from xlacompare.dumps.headers import Header, framework_of, function_name, is_helper_name, read_header
from xlacompare.dumps.manifest import (
    MANIFEST_NAME,
    Manifest,
    check_manifest,
    file_sha256,
    read_manifest,
    write_manifest,
)
from xlacompare.dumps.publish import check_free, publish
from xlacompare.dumps.reports import (
    MemoryUse,
    Thunk,
    ThunkListing,
    debug_options,
    memory_use,
    parse_buffer_assignment,
    parse_debug_options,
    parse_thunks,
    reported_total_bytes,
    thunk_listing,
)

__all__ = [
    # our own folders
    "MANIFEST_NAME",
    # anybody's folders
    "DumpFolder",
    "DumpedModule",
    # names
    "FileName",
    "Header",
    "Manifest",
    # reports beside a text
    "MemoryUse",
    "Thunk",
    "ThunkListing",
    "check_free",
    "check_manifest",
    "debug_options",
    "file_sha256",
    "framework_of",
    "function_name",
    "is_helper_name",
    "memory_use",
    "parse_buffer_assignment",
    "parse_debug_options",
    "parse_file_name",
    "parse_thunks",
    "publish",
    "read_folder",
    "read_header",
    "read_manifest",
    "reported_total_bytes",
    "thunk_listing",
    "write_manifest",
]
