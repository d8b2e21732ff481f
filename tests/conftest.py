"""What every test may lean on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def shared_dir() -> Path:
    """Return the folder of shared test data: $XLACOMPARE_SHARED, else `shared` beside the repository."""
    return Path(os.environ.get("XLACOMPARE_SHARED", REPOSITORY.parent / "shared"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real HLO texts; a test that needs it is skipped where it is absent."""
    folder = shared_dir() / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}; set XLACOMPARE_SHARED to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of hand-counted texts; a test that needs it is skipped where it is absent."""
    folder = shared_dir() / "cases"
    if not folder.is_dir():
        pytest.skip(f"no cases at {folder}; set XLACOMPARE_SHARED to the folder that holds them")
    return folder
