"""The arrows of ARCHITECTURE.md: which room may import which, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "xlacompare"
FILES = sorted(PACKAGE.rglob("*.py"))
FRAMEWORK_PACKAGES = {"jax", "jaxlib", "tensorflow", "keras"}
HEAVY_PACKAGES = {"pandas", "matplotlib"}
# A room may not import these other rooms, at the top or inside a function.
FORBIDDEN = {
    "hlo": {
        "analyze", "attribution", "bench", "census", "cli", "compare", "diff", "dump", "dumps", "registry", "report",
        "worker",
    },
    "dumps": {"cli", "report", "frameworks", "worker", "diff", "attribution", "bench", "dump"},
    "census": {"cli", "frameworks", "worker", "diff", "attribution", "bench", "dump"},
    "diff": {"cli", "frameworks", "attribution", "bench"},
    "attribution": {"cli"},
    "frameworks": {"cli", "report"},
    "worker": {"cli", "report"},
    "bench": {"cli"},
    "report": {"cli"},
}  # fmt: skip


def imports(file: Path) -> Iterator[tuple[str, bool]]:
    """Yield every imported module of a file, and whether the import stands at the top of the file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing_only = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.walk(node)
    }
    inside = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        top = id(node) not in inside
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, top
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module, top
            for name in node.names:
                yield f"{node.module}.{name.name}", top


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_the_arrows_hold(file: Path) -> None:
    for module, top in imports(file):
        first = module.split(".")[0]
        if room(file) != "frameworks":
            assert first not in FRAMEWORK_PACKAGES, f"{file} imports {module}: only frameworks/ may"
        assert not (top and first in HEAVY_PACKAGES), f"{file} imports {module} at the top: import it where it is used"
        if module.startswith("xlacompare."):
            other = module.split(".")[1]
            assert other not in FORBIDDEN.get(room(file), ()), (
                f"{file} imports {module}: the arrow points the other way"
            )
            assert other != "cli" or room(file) in ("cli", "__main__"), f"{file} imports the command line"


def test_every_package_is_installed() -> None:
    import configparser

    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    there = {".".join(file.parent.relative_to(REPOSITORY).parts) for file in FILES if file.name == "__init__.py"}
    assert listed == there | {"xlacompare.models"}


def test_no_module_is_too_large_to_read_in_one_sitting() -> None:
    long = {str(file): n for file in FILES if (n := len(file.read_text(encoding="utf-8").splitlines())) > 450}
    assert not long
