"""What runs in a child process keeps to Python 3.9, the oldest interpreter that a child may have."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

FOLDERS = ["xlacompare/frameworks", "xlacompare/worker/tasks", "models"]
FILES = ["xlacompare/__init__.py", "xlacompare/model_spec.py", "xlacompare/worker/child.py"]


def python39() -> str | None:
    """Return a Python 3.9 that starts, or None: pyenv leaves a `python3.9` that only says that it is not chosen."""
    versions = sorted(map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python3.9")))
    for candidate in [shutil.which("python3.9"), *versions]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


@pytest.fixture(scope="module")
def old_python() -> str:
    found = python39()
    if found is None:
        pytest.skip("no Python 3.9 on this machine")
    return found


def test_files_of_the_child_compile(old_python: str) -> None:
    files = [path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py")]
    files += [REPOSITORY / file for file in FILES]
    code = "import sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
    done = subprocess.run([old_python, "-c", code, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("file", ["xlacompare/model_spec.py", "xlacompare/frameworks/program.py"])
def test_files_without_a_framework_run(old_python: str, file: str) -> None:
    done = subprocess.run([old_python, str(REPOSITORY / file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
