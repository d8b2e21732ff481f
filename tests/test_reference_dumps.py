"""The reference dumps: what many versions of both frameworks write is read, counted and diffed.

The judge of the counts is jaxlib's own parser, in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from xlacompare.census import census
from xlacompare.diff import diff
from xlacompare.dumps import read_folder
from xlacompare.hlo import fingerprint, print_module, read_file, read_text

REFERENCE = REPOSITORY / "dumps" / "reference"
PROVENANCE: dict[str, Any] = json.loads((REFERENCE / "PROVENANCE.json").read_text())
FOLDERS = sorted(PROVENANCE)
PROGRAMS = ("linear_grad", "mlp_step", "scan_grad", "conv")


@cache
def judged() -> dict[str, Any]:
    """Return what jaxlib's parser makes of every reference text, by path; None where it refuses one."""
    files = sorted(REFERENCE.glob("*/*.txt"))
    lines = "".join(json.dumps({"text": file.read_text()}) + "\n" for file in files)
    oracle = REPOSITORY / "tests" / "hlo" / "jaxlib_oracle.py"
    done = subprocess.run([sys.executable, str(oracle)], input=lines, capture_output=True, text=True, check=True)
    return dict(zip(map(str, files), map(json.loads, done.stdout.splitlines()), strict=True))


def test_every_folder_is_as_its_provenance_says() -> None:
    assert {path.name for path in REFERENCE.iterdir() if path.is_dir()} == set(FOLDERS)
    for name in FOLDERS:
        assert sorted(PROVENANCE[name]["files"]) == sorted(path.name for path in (REFERENCE / name).iterdir())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_read_whole(name: str) -> None:
    folder = read_folder(REFERENCE / name)
    assert folder.warnings == ()
    assert {module.framework for module in folder.modules} == {name.split("-")[0]}
    for program in PROGRAMS:
        (module,) = [module for module in folder.modules if module.function == program]
        assert module.before is not None
        assert module.after is not None
        # The names of the era before 2021 do not say it.
        assert module.platform == ("cpu" if ".cpu_after" in module.after.name else None)


@pytest.mark.jax
@pytest.mark.parametrize("name", FOLDERS)
def test_instructions_are_those_of_xlas_parser(name: str) -> None:
    accepted = 0
    for file in sorted((REFERENCE / name).glob("*.txt")):
        (module,) = read_file(file, strict=True)
        verdict = judged()[str(file)]
        if "error" in verdict:
            continue
        accepted += 1
        ours = {each.name: Counter(each.opcodes) for each in module.computations}
        theirs = {computation: Counter(opcode for opcode, _ in rows) for computation, rows in verdict["computations"]}
        assert ours == theirs, file
        assert module.entry.name == verdict["entry"]
        fusions = theirs[module.entry.name]["fusion"]
        assert census(module).entry.fusions == fusions, file
    assert accepted == 2 * len(PROGRAMS)


@pytest.mark.parametrize("name", FOLDERS)
def test_printed_and_read_again_it_is_the_same_module(name: str) -> None:
    for file in sorted((REFERENCE / name).glob("*.txt")):
        (module,) = read_file(file)
        (again,) = read_text(print_module(module), strict=True)
        assert fingerprint(again) == fingerprint(module), file


@pytest.mark.parametrize("framework", ["jax", "tensorflow"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_versions_of_one_framework_are_diffed(framework: str, program: str) -> None:
    versions = sorted(
        (name for name in FOLDERS if name.startswith(framework)),
        key=lambda name: [int(part) for part in name.split("-")[1].split(".")],
    )
    for older, newer in pairwise(versions):
        left, right = (read_file(_after(REFERENCE / name, program))[0] for name in (older, newer))
        document = diff(left, right).to_json_dict()
        count = document["operations"]
        # One source, two compilers: most operations have a partner, and every kernel stands in exactly one group.
        assert count["matched"] >= 0.5 * min(count["left"], count["right"]), (older, newer)
        for side, module in (("left", left), ("right", right)):
            names = [name for group in document["kernels"] for name in group[side]]
            assert len(names) == census(module).reachable.kernels, (older, newer)
        assert diff(left, left).to_json_dict()["identical"]


def _after(folder: Path, program: str) -> Path:
    (module,) = [module for module in read_folder(folder).modules if module.function == program]
    assert module.after is not None
    return module.after
