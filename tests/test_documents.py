from __future__ import annotations

import json

import pytest

from xlacompare import documents
from xlacompare.errors import SchemaError


def test_document_starts_with_its_kind_and_version() -> None:
    doc = documents.document("census", {"modules": []})
    assert list(doc) == ["schema", "schema_version", "modules"]
    assert documents.load(documents.dumps(doc), "census") == doc


def test_same_document_gives_same_bytes() -> None:
    doc = documents.document("census", {"b": 1, "a": "é"})
    assert documents.dumps(doc) == documents.dumps(json.loads(documents.dumps(doc)))
    assert "é" in documents.dumps(doc)


def test_nan_has_no_place_in_json() -> None:
    with pytest.raises(ValueError):
        documents.dumps({"median_s": float("nan")})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[1]", "JSON list"),
        ("{}", "names no schema"),
        ('{"schema": "xlacompare.bench", "schema_version": 1}', "'xlacompare.bench'"),
        ('{"schema": "xlacompare.census", "schema_version": 2}', "schema_version 2 of"),
        ('{"schema": "xlacompare.census", "schema_version": "1"}', "schema_version '1' of"),
        ('{"schema": "xlacompare.census", "schema_version": true}', "schema_version True of"),
        ('{"schema": "xlacompare.census"}', "schema_version None of"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, words: str) -> None:
    with pytest.raises(SchemaError, match=r"run\.json") as caught:
        documents.load(text, "census", file="run.json")
    assert words in str(caught.value)
