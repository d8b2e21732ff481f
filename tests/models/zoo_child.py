"""Runs many programs of the zoo in one child process of one framework; started by `zoo.py`.

Every case is compiled; its outputs are stored, and those that are to be traced are run once more, all under one trace.
What XLA wrote of them lies in the folder that XLA_FLAGS names.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from xlacompare.frameworks import adapter
from xlacompare.frameworks.program import Settings
from xlacompare.model_spec import load_apply, load_spec
from xlacompare.worker.tasks.program import build_model


def built(adapter_module, framework, case):
    folder = Path(case["folder"])
    # The same function with and without its random draws are two modules: they need two names.
    spec = replace(load_spec(folder), name=case["name"])
    request = {"size": spec.sizes[spec.default_size], "seed": 0}
    apply = load_apply(folder, framework)
    return build_model(adapter_module, spec, apply, request, Settings(**case["settings"]))


def trace(framework, programs, folder):
    if framework == "jax":
        import jax

        with jax.profiler.trace(folder):
            for program in programs:
                program.wait(program.call())
    else:
        import tensorflow as tf

        tf.profiler.experimental.start(folder)
        for program in programs:
            program.wait(program.call())
        tf.profiler.experimental.stop()


def main(framework: str, cases_file: str, out: str) -> None:
    from tests.runtime_trace import _events

    adapter_module = adapter(framework)
    traced, answer = [], {"parameter_names": {}, "seconds": {}, "failed": {}}
    for case in json.loads(Path(cases_file).read_text()):
        started = time.perf_counter()
        try:
            program = built(adapter_module, framework, case)
            program.trace()
            program.lower()
            program.compile()
            outputs = program.call()
            program.wait(outputs)
        except Exception as error:
            answer["failed"][case["id"]] = f"{type(error).__name__}: {error}"[:2000]
            continue
        np.savez(Path(out) / f"{case['id']}.npz", **program.to_numpy(outputs))
        answer["parameter_names"][case["id"]] = program.parameter_names
        answer["seconds"][case["id"]] = time.perf_counter() - started
        if case["trace"]:
            traced.append(program)
    launched: dict[str, dict[str, int]] = {}
    if traced:
        trace(framework, traced, f"{out}/trace")
        for (module, op), count in _events(Path(out) / "trace").items():
            launched.setdefault(module, {})[op] = count
    answer["launched"] = launched
    (Path(out) / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
