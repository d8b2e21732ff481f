"""Compile one program with dumping on, run it once, and store its outputs for the parity check."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from xlacompare.worker.tasks.program import build


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return the program's name, its parameters' names in order, versions, device and precision."""
    framework, program = build(request, reporter)
    for stage in ("trace", "lower", "compile"):
        reporter.stage(stage)
        getattr(program, stage)()
    reporter.stage("run")
    outputs = program.call()
    program.wait(outputs)
    np.savez(request["outputs_file"], **program.to_numpy(outputs))
    return {
        "name": program.name,
        "parameter_names": program.parameter_names,
        "versions": framework.versions(),
        "device": framework.device(),
        "precision": framework.precision(),
    }
