"""Compile one model's program with this framework's XLA, and what other frontends made of the same model.

One child fills the whole column of its compiler: its own program first, which it offers to the others as HLO text or
StableHLO, then each program that another child offers. XLA dumps everything into one folder; after each compilation
the new files move into the folder of their cell.
"""

from __future__ import annotations

import shutil
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from xlacompare.frameworks.recompile import RouteError
from xlacompare.worker.tasks.exchange import Bundle, wait_for_bundle, write_bundle, write_failure
from xlacompare.worker.tasks.program import build, build_still


def run(request: "Dict[str, Any]", reporter: Any) -> "Dict[str, Any]":
    """Return versions, device, the options in force, and for each cell how it went.

    Of the request: "key" names this column; "dump_root" is the folder of `--xla_dump_to`; "own" and each of "foreign"
    give a cell's "dir" and "outputs_file"; "offers" maps "text" and "stablehlo" to the bundles to write;
    "parity_file" is where the outputs go that the frontends are compared by; each of
    "foreign" has the frontend's key and the "bundles" to wait for, at most "wait_s" seconds, and to try in order;
    "conversions" lists bundles of "text" to be written again as "stablehlo" (JAX alone can).
    """
    framework, program = build(request, reporter)
    column = Column(request, program, reporter)
    cells = {request["key"]: column.cell(request["own"], column.compile_own)}
    for kind, path in request["offers"].items():
        tell_if_failed(attempt(partial(column.offer, kind, Path(path))), Path(path))
    for conversion in request["conversions"]:
        tell_if_failed(attempt(partial(column.convert, conversion)), Path(conversion["stablehlo"]))
    for foreign in request["foreign"]:
        cells[foreign["frontend"]] = column.cell(foreign, partial(column.compile_foreign, foreign))
    parity = attempt(partial(column.store_for_parity, framework))
    return {
        "name": program.name,
        "parameter_names": program.parameter_names,
        "versions": framework.versions(),
        "device": framework.device(),
        "precision": framework.precision(),
        "options": column.options_in_force(),
        "cells": cells,
        "parity": parity,
    }


def attempt(action: "Callable[[], Any]") -> "Dict[str, Any]":
    """Run one step and say how it went; a step that fails must not take the others along."""
    started = time.perf_counter()
    try:
        action()
    except RouteError as error:
        return {"ok": False, "why": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {"ok": False, "why": f"{type(error).__name__}: {error}"[:2000]}
    return {"ok": True, "seconds": time.perf_counter() - started}


def tell_if_failed(outcome: "Dict[str, Any]", bundle: Path) -> None:
    if not outcome["ok"]:
        write_failure(bundle, outcome["why"])


class Column:
    """One compiler and the programs that it is given."""

    def __init__(self, request: "Dict[str, Any]", program: Any, reporter: Any) -> None:
        self.request = request
        self.program = program
        self.reporter = reporter
        self.recompile = recompile_module(request["framework"])
        self._outputs: "Optional[Dict[str, Any]]" = None

    def cell(self, cell: "Dict[str, Any]", compile_it: "Callable[[], Dict[str, Any]]") -> "Dict[str, Any]":
        """Fill one cell: `compile_it` returns the outputs, and what XLA dumped moves into the cell's folder.

        The outputs are written last: where they are, the cell is complete, even if the child crashes in the next.
        """
        outputs: "Dict[str, Any]" = {}
        outcome = attempt(lambda: outputs.update(compile_it()))
        folder = Path(cell["dir"])
        folder.mkdir(parents=True, exist_ok=True)
        for path in Path(self.request["dump_root"]).iterdir():
            shutil.move(str(path), str(folder / path.name))
        if outcome["ok"]:
            partial_file = Path(cell["outputs_file"] + ".partial")
            with partial_file.open("wb") as stream:
                np.savez(stream, **outputs)
            partial_file.replace(cell["outputs_file"])
        return outcome

    def compile_own(self) -> "Dict[str, Any]":
        program = self.program
        for stage in ("trace", "lower", "compile"):
            self.reporter.stage(stage)
            getattr(program, stage)()
        self.reporter.stage("run")
        outputs = program.call()
        program.wait(outputs)
        arrays = program.to_numpy(outputs)
        # Both frameworks flatten a dict by its sorted keys, so this is the order of the module's results.
        self._outputs = {name: arrays[name] for name in sorted(arrays)}
        return self._outputs

    def store_for_parity(self, framework: Any) -> None:
        """Store what the frontends are compared by: the outputs, without whatever they draw at random."""
        self.reporter.stage("store outputs")
        still, _ = build_still(framework, self.request)
        outputs = still.run_undumped() if still else self._outputs
        if outputs is None:
            raise RouteError("the frontend's own program could not be compiled and run")
        with Path(self.request["parity_file"]).open("wb") as stream:
            np.savez(stream, **outputs)

    def offer(self, kind: str, path: Path) -> None:
        """Write this frontend's program where the other columns wait for it."""
        if self._outputs is None:
            raise RouteError("the frontend's own program could not be compiled and run")
        content = self._text() if kind == "text" else self._stablehlo()
        write_bundle(path, Bundle(content, self.recompile.numpy_inputs(self.program), self._outputs))

    def _text(self) -> bytes:
        return own_text(Path(self.request["own"]["dir"]), self.program.name).read_bytes()

    def _stablehlo(self) -> bytes:
        try:
            return bytes(self.recompile.stablehlo_of_program(self.program))
        except RouteError as error:
            # The dumped text says the same, and goes the way that a TensorFlow program goes.
            try:
                return bytes(self.recompile.portable_artifact(self.recompile.stablehlo_of_text(self._text().decode())))
            except RouteError as second:
                raise RouteError(f"{error}; {second}") from second

    def convert(self, conversion: "Dict[str, str]") -> None:
        bundle = wait_for_bundle(Path(conversion["text"]), self.request["wait_s"])
        module = self.recompile.portable_artifact(self.recompile.stablehlo_of_text(bundle.program.decode()))
        write_bundle(Path(conversion["stablehlo"]), Bundle(module, bundle.inputs, bundle.outputs))

    def compile_foreign(self, foreign: "Dict[str, Any]") -> "Dict[str, Any]":
        """Compile and run the first form of a foreign program that this framework takes."""
        self.reporter.stage(f"compile the program of {foreign['frontend']}")
        refusals = []
        for path in foreign["bundles"]:
            try:
                return self._compile_bundle(wait_for_bundle(Path(path), self.request["wait_s"]), foreign["frontend"])
            except RouteError as error:
                refusals.append(str(error))
        raise RouteError("; ".join(refusals))

    def _compile_bundle(self, bundle: Bundle, frontend: str) -> "Dict[str, Any]":
        inputs = self.recompile.on_device(bundle.inputs)
        name = f"{self.program.name}_of_{frontend}".replace("-", "_")
        executable = self.recompile.compile_program(bundle.program, name, inputs, list(bundle.outputs.values()))
        outputs = executable.call(inputs)
        executable.wait(outputs)
        values = executable.to_numpy(outputs)
        if len(values) != len(bundle.outputs):
            raise RouteError(
                f"the program returned {len(values)} results here and {len(bundle.outputs)} under its own framework"
            )
        return dict(zip(bundle.outputs, values))

    def options_in_force(self) -> str:
        """Return every debug option of this XLA where it can be asked for them, "" elsewhere."""
        return str(self.recompile.options_in_force())


def recompile_module(framework: str) -> Any:
    if framework == "jax":
        from xlacompare.frameworks import recompile_jax

        return recompile_jax
    from xlacompare.frameworks import recompile_tensorflow

    return recompile_tensorflow


def own_text(folder: Path, name: str) -> Path:
    """Return the text before optimizations of the module that holds the function `name`, the largest if several do."""
    found: "List[Path]" = [path for path in folder.rglob("*before_optimizations.txt") if name in module_line(path)]
    if not found:
        raise RouteError(f"no module named after {name} was dumped; XLA wrote {len(list(folder.iterdir()))} files")
    return max(found, key=lambda path: path.stat().st_size)


def module_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.readline().split(",")[0]
