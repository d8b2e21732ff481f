"""What more than one test file leans on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def shared_dir() -> Path | None:
    """Return the folder of shared HLO text that tests may read, or None where there is none.

    `XLACOMPARE_SHARED` names it; without that it is looked for beside the repository.
    """
    path = Path(os.environ.get("XLACOMPARE_SHARED") or REPOSITORY.parent / "shared")
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared HLO text; the test is skipped where there is none."""
    path = shared_dir()
    if path is None:
        pytest.skip("no shared corpus here: set XLACOMPARE_SHARED, or put it beside the repository as ../shared")
    return path
