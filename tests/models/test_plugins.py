"""Packages that bring model pairs, installed for real by pip into an environment of their own."""

from __future__ import annotations

import json
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.model_folders import GOOD, SPEC

SETUP = """
[metadata]
name = {distribution}
version = 1.0

[options]
packages = {package}

[options.entry_points]
xlacompare.models =
    {entry}
"""


def write_package(folder: Path, package: str, entry: str, files: dict[str, str]) -> Path:
    """Write a package that pip can install, with one entry point."""
    (folder / package).mkdir(parents=True)
    distribution = package.replace("_", "-")
    (folder / "setup.cfg").write_text(SETUP.format(distribution=distribution, package=package, entry=entry))
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    )
    for name, text in {"__init__.py": "", **files}.items():
        (folder / package / name).write_text(text)
    return folder


def pair(name: str) -> dict[str, str]:
    return {"jax_model.py": GOOD, "tensorflow_model.py": GOOD, "spec.py": SPEC.format(name=name)}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that sees this one's packages, with plugins good and bad installed."""
    pytest.importorskip("setuptools")
    home = tmp_path_factory.mktemp("plugins")
    venv.create(home / "venv", symlinks=True)
    (interpreter,) = (home / "venv" / "bin").glob("python3")
    (packages,) = (home / "venv").glob("lib/python*/site-packages")
    here = [path for path in [*site.getsitepackages()] if Path(path).is_dir()]
    (packages / "outer.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in here))
    in_init = {**pair("inside"), "__init__.py": SPEC.format(name="inside")}
    del in_init["spec.py"]
    folders = [
        write_package(home / "good", "good_pairs", "good = good_pairs.spec:SPEC", pair("good")),
        write_package(home / "inside", "inside_pairs", "inside = inside_pairs:SPEC", in_init),
        write_package(
            home / "exits", "exit_pairs", "exits = exit_pairs:SPEC", {"__init__.py": "raise SystemExit(9)\n"}
        ),
        write_package(home / "raises", "raising_pairs", "raises = raising_pairs:SPEC", {"__init__.py": "1 / 0\n"}),
        write_package(home / "other", "other_pairs", "other = other_pairs:SPEC", {"__init__.py": "SPEC = 3\n"}),
        write_package(home / "renamed", "renamed_pairs", "alias = renamed_pairs.spec:SPEC", pair("original")),
        write_package(home / "taken", "taken_pairs", "linear = taken_pairs.spec:SPEC", pair("linear")),
    ]
    command = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet", "--no-index"]
    subprocess.run(
        [*command, "--no-deps", "--no-build-isolation", *map(str, folders)], check=True, capture_output=True, text=True
    )
    return interpreter


def run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-m", "xlacompare", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )


def test_plugins_are_listed_and_broken_ones_say_why(python: Path, tmp_path: Path) -> None:
    done = run(python, "models", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    listed: dict[str, list[dict[str, object]]] = {}
    for model in json.loads(done.stdout)["models"]:
        listed.setdefault(model["name"], []).append(model)
    assert {path.name for path in (REPOSITORY / "models").iterdir() if (path / "spec.py").is_file()} <= set(listed)
    assert listed["good"][0]["runnable"] and listed["inside"][0]["runnable"]
    reasons = {name: str(models[-1]["why_not"]) for name, models in listed.items()}
    assert "raised SystemExit: 9" in reasons["exits"]
    assert "raised ZeroDivisionError" in reasons["raises"]
    assert "is a int and no ModelSpec" in reasons["other"]
    assert "'original'; both names must be the same" in reasons["alias"]
    assert [model["runnable"] for model in listed["linear"]] == [True, False]
    assert "takes the name of a built-in pair" in reasons["linear"]


@pytest.mark.jax
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["good", "inside"])
def test_a_plugin_s_pair_is_compiled(python: Path, tmp_path: Path, name: str) -> None:
    done = run(python, "dump", name, "--variant", "grad", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parity"]["ok"]


def test_a_broken_plugin_is_an_error_for_who_asks_for_it(python: Path, tmp_path: Path) -> None:
    done = run(python, "dump", "raises", cwd=tmp_path)
    assert done.returncode == 1
    assert "the plugin 'raises' of raising-pairs raised ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr
