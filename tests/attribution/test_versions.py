"""Compilers of other versions, in environments of their own where xlacompare is not installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from xlacompare.attribution import attribute
from xlacompare.dump import dump_request
from xlacompare.report.attribution import attribution_markdown

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow, pytest.mark.slow]

# The last jax for Python 3.9, and the oldest Python that a child may run under.
OLD = "0.4.30"


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a new environment that holds an old jax and nothing of ours."""
    python = next((found for name in ("python3.9", "python3.10") if (found := runnable(name))), None)
    if python is None:
        pytest.skip(f"jax {OLD} needs Python 3.9 or 3.10, and neither is here")
    folder = tmp_path_factory.mktemp("old") / "environment"
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"jax=={OLD}", f"jaxlib=={OLD}"], check=True)
    return str(folder / "bin" / "python")


def runnable(name: str) -> str | None:
    """Return the path of an interpreter that starts; a version manager leaves names of such that do not."""
    candidates = [shutil.which(name), *map(str, sorted(Path.home().glob(f".pyenv/versions/{name[6:]}.*/bin/python")))]
    for path in candidates:
        if path and subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def test_an_older_jaxlib_is_the_compilers_doing(old_python: str) -> None:
    found = attribute(dump_request("linear", variant="grad"), further_pythons={"jax": [old_python]})
    assert found.environment("jax-2").label == f"jaxlib {OLD}"
    main, versions = found.verdicts
    assert (main.left, main.right, main.verdict) == ("jax", "tensorflow", "compiler")
    assert (versions.left, versions.right, versions.verdict) == ("jax", "jax-2", "compiler")
    # The old XLA fuses the product with what follows, as TensorFlow's does; the new one has it made by a library.
    kernels = {(cell.frontend, cell.compiler): cell.to_json_dict()["fusions"] for cell in found.cells}
    assert kernels["jax", "jax"] == 2
    assert kernels["jax", "jax-2"] == kernels["tensorflow", "jax-2"] == 3
    assert f"jaxlib {OLD}" in attribution_markdown(found).replace("\\", "")


def test_two_versions_of_one_framework_are_enough(old_python: str) -> None:
    request = dump_request("linear", variant="grad", frameworks=("jax",))
    found = attribute(request, further_pythons={"jax": [old_python]})
    assert [cell.to_json_dict()["why_not"] for cell in found.cells] == [None] * 4
    assert found.verdict == "compiler"
    assert len(found.verdicts) == 1


def test_what_an_older_parser_does_not_know_empties_its_cells_only(old_python: str) -> None:
    # jax 0.10 writes gather with operand_batching_dims, which jaxlib 0.4.30 cannot read.
    found = attribute(dump_request("ffnn", variant="grad"), further_pythons={"jax": [old_python]})
    empty = {(cell.frontend, cell.compiler): cell.to_json_dict()["why_not"] for cell in found.cells}
    assert "refused the text" in str(empty["jax", "jax-2"])
    assert "unexpected attribute" in str(empty["jax", "jax-2"])
    assert empty["tensorflow", "jax-2"] is None
    assert found.verdict == "both"
    assert any("jax's program under jax-2's compiler" in sentence for sentence in found.unable)
