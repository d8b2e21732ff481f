"""How one child hands its program to another: a bundle in one file, written whole or not at all.

A bundle holds a program (HLO text or serialized StableHLO), the inputs that it was run with in the order of its
parameters, and what it returned, by name in the order of its results. `<bundle>.failed` says why none will come.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

from xlacompare.frameworks.recompile import RouteError

POLL_S = 0.02
INPUT, OUTPUT = "input/", "output/"


@dataclass(frozen=True)
class Bundle:
    """A program, its inputs and its results; see the module's text."""

    program: bytes
    inputs: "List[Any]"
    outputs: "Dict[str, Any]"


def write_bundle(path: Path, bundle: Bundle) -> None:
    arrays = {f"{INPUT}{index:06d}": value for index, value in enumerate(bundle.inputs)}
    arrays.update({OUTPUT + name: value for name, value in bundle.outputs.items()})
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        np.savez(stream, program=np.frombuffer(bundle.program, np.uint8), **arrays)
    partial.replace(path)


def failed_file(path: Path) -> Path:
    return path.with_name(path.name + ".failed")


def write_failure(path: Path, why: str) -> None:
    """Tell whoever waits for the bundle `path` that it will not come."""
    partial = path.with_name(path.name + ".failed.partial")
    partial.write_text(why, encoding="utf-8")
    partial.replace(failed_file(path))


def wait_for_bundle(path: Path, limit_s: float) -> Bundle:
    """Return the bundle once another child has written it.

    Raises:
        RouteError: none will come, or none came within `limit_s` seconds.
    """
    deadline = time.monotonic() + limit_s
    while not path.exists():
        if failed_file(path).exists():
            raise RouteError(failed_file(path).read_text(encoding="utf-8"))
        if time.monotonic() > deadline:
            raise RouteError(f"its frontend offered no program within {limit_s:g} s")
        time.sleep(POLL_S)
    with np.load(path) as stored:
        arrays = dict(stored)
    return Bundle(
        program=arrays["program"].tobytes(),
        inputs=[arrays[key] for key in sorted(arrays) if key.startswith(INPUT)],
        outputs={key[len(OUTPUT) :]: value for key, value in arrays.items() if key.startswith(OUTPUT)},
    )
