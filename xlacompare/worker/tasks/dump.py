"""Compile one program with dumping on, run it once, and store its outputs for the parity check."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from xlacompare.worker.tasks.program import build, build_still


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return the program's name, its parameters' names in order, versions, device and precision.

    A program that draws random numbers is run as it is, but what is stored for the parity check are the outputs of the
    same program drawing none; `compared_at` says what that took.
    """
    framework, program = build(request, reporter)
    for stage in ("trace", "lower", "compile"):
        reporter.stage(stage)
        getattr(program, stage)()
    reporter.stage("run")
    outputs = program.call()
    program.wait(outputs)
    reporter.stage("store outputs")
    still, compared_at = build_still(framework, request)
    np.savez(request["outputs_file"], **(still.run_undumped() if still else program.to_numpy(outputs)))
    return {
        "name": program.name,
        "parameter_names": program.parameter_names,
        "compared_at": compared_at,
        "versions": framework.versions(),
        "device": framework.device(),
        "precision": framework.precision(),
    }
