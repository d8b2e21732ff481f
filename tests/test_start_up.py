"""Commands that only read text import no framework, and nothing heavy, and start at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NOT_IMPORTED = ("jax", "jaxlib", "tensorflow", "pandas", "matplotlib")
TEXT = """HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] tanh(x)
}
"""


def imported(arguments: list[str]) -> set[str]:
    """Run xlacompare and return the top-level packages that it imported."""
    command = [sys.executable, "-X", "importtime", "-m", "xlacompare", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in lines}


@pytest.mark.parametrize("command", ["--help", "analyze", "diff", "models", "diff --json", "analyze --json"])
def test_no_framework_is_imported(command: str, tmp_path: Path) -> None:
    file = tmp_path / "m.txt"
    file.write_text(TEXT)
    name, *options = command.split()
    arguments = {"analyze": [name, str(file), *options], "diff": [name, str(file), str(file), *options]}.get(
        name, [name]
    )
    names = imported(arguments)
    assert "xlacompare" in names
    assert not names & set(NOT_IMPORTED)


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import xlacompare; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['xlacompare']"


def test_the_face_for_scripts_imports_no_framework() -> None:
    code = f"import sys, xlacompare.analyze; print([n for n in {NOT_IMPORTED} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
