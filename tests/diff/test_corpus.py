"""Everything that the reader accepts can be diffed, with itself and with anything else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlacompare.diff import diff
from xlacompare.errors import XlaCompareError
from xlacompare.hlo import Module, read_file

SKIPPED = {".gz", ".tsv", ".jsonl", ".md", ".bin"}
SAMPLE = 300


def files(corpus: Path) -> list[Path]:
    return sorted(path for path in corpus.rglob("*") if path.is_file() and path.suffix not in SKIPPED)


def modules(paths: list[Path]) -> Iterator[Module]:
    for path in paths:
        try:
            yield from read_file(str(path))
        except XlaCompareError:
            continue


@pytest.mark.corpus
def test_a_sample_is_identical_with_itself(corpus: Path) -> None:
    small = [path for path in files(corpus) if path.stat().st_size < 50_000]
    for module in modules(random.Random(0).sample(small, min(200, len(small)))):
        assert diff(module, module).identical, module.file


@pytest.mark.corpus
@pytest.mark.slow
def test_every_file_is_identical_with_itself(corpus: Path) -> None:
    different = [module.file for module in modules(files(corpus)) if not diff(module, module).identical]
    assert different == []


@pytest.mark.corpus
@pytest.mark.slow
def test_any_two_files_can_be_diffed(corpus: Path) -> None:
    small = [path for path in files(corpus) if path.stat().st_size < 30_000]
    sample = list(modules(random.Random(1).sample(small, min(SAMPLE, len(small)))))[:SAMPLE]
    for left in sample:
        for right in sample:
            found = diff(left, right)
            counts = found.operation_counts
            assert counts["matched"] + counts["right_only"] == counts["right"]
            assert sum(len(group.left) for group in found.groups) == len(found.graphs[0].kernels)
