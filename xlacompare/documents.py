"""Every JSON document that xlacompare writes or reads: its kind, its version, its bytes.

A document starts `{"schema": "xlacompare.<kind>", "schema_version": 1, …}`. Times are seconds and sizes are
bytes, both said in the key's name. The same findings give the same bytes: key order is that of the code that
built the document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xlacompare.errors import SchemaError

SCHEMA_VERSION = 1
PREFIX = "xlacompare."


def document(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` under the two keys that name its kind and version.

    >>> document("census", {"modules": []})
    {'schema': 'xlacompare.census', 'schema_version': 1, 'modules': []}
    """
    return {"schema": PREFIX + kind, "schema_version": SCHEMA_VERSION, **body}


def dumps(doc: Mapping[str, Any]) -> str:
    """Return the document as text, indented by two, with a newline at the end.

    Raises:
        ValueError: a NaN or an infinity, which JSON has no word for.
    """
    return json.dumps(doc, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def load(text: str, kind: str, *, file: str | None = None) -> dict[str, Any]:
    """Return a document's content, after checking that this xlacompare reads its kind and version.

    Args:
        text: the JSON text.
        kind: the kind that is expected, without the prefix: "census", "manifest", "bench", …
        file: the path to name in an error.

    Raises:
        SchemaError: the text is not JSON, not an object, of another kind, or of a version not known here.
    """
    where = file or "this document"
    try:
        doc = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{where} is not JSON ({error}); expected an {PREFIX}{kind} document.") from None
    if not isinstance(doc, dict):
        raise SchemaError(f"{where} holds a JSON {type(doc).__name__}; expected an {PREFIX}{kind} object.")
    schema, version = doc.get("schema"), doc.get("schema_version")
    if schema != PREFIX + kind:
        seen = f"has the schema {schema!r}" if schema is not None else "names no schema"
        raise SchemaError(f"{where} {seen}; expected {PREFIX + kind!r}.")
    # `True == 1` in Python, and a version written as a word or a fraction is none that was ever written.
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise SchemaError(
            f"{where} has schema_version {version!r} of {schema}; this xlacompare reads up to version "
            f"{SCHEMA_VERSION}. Use the xlacompare that wrote it, or a newer one."
        )
    return doc
