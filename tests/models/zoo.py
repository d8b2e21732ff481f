"""The whole zoo compiled and run once per framework, for every test that asks something about it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xlacompare.models import BUILT_IN_DIR

from tests.conftest import REPOSITORY
from xlacompare.dumps import DumpedModule, read_folder
from xlacompare.frameworks import FRAMEWORKS
from xlacompare.frameworks.program import Settings, function_name, variants_of
from xlacompare.model_spec import ModelSpec
from xlacompare.registry import built_in_names, find_model
from xlacompare.worker.launch import OWN_KERNELS_ENVIRONMENT

CHILD = Path(__file__).with_name("zoo_child.py")
SPECS: dict[str, ModelSpec] = {name: find_model(name).spec for name in built_in_names()}
# Eager, and TensorFlow's graph without XLA; `jitted` is each framework's compiler entry.
MODES: dict[str, dict[str, Any]] = {"jitted": {}, "eager": {"jit": False}, "graph": {"xla": False}}


@dataclass(frozen=True)
class Case:
    """One variant of one pair: as a user gets it, or `still`, without its random draws."""

    model: str
    variant: str
    vectorize: bool = True
    mode: str = "jitted"
    still: bool = True
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"variant": self.variant, "vectorize": self.vectorize, **MODES[self.mode]}
        if self.still:
            still = {**SPECS[self.model].still_options, **dict(self.options)}
            settings |= {"options": still, "noise_multiplier": 0.0}
        return settings

    @property
    def name(self) -> str:
        """What the model is called in the dump: a still program and one with options have names of their own."""
        options = [f"{name}_{value}" for name, value in self.options]
        return "_".join([self.model, *(["still"] if self.still and self.draws else []), *options])

    @property
    def function(self) -> str:
        """The compiled function's name."""
        return function_name(self.name, Settings(self.variant, vectorize=self.vectorize))

    @property
    def draws(self) -> bool:
        return SPECS[self.model].random or self.variant == "dp_train_step"

    @property
    def id(self) -> str:
        mode = [] if self.mode == "jitted" else [self.mode]
        return "-".join([self.function, *mode])

    def to_child(self, traced: bool) -> dict[str, Any]:
        folder = str(BUILT_IN_DIR / self.model)
        return {"id": self.id, "name": self.name, "folder": folder, "settings": self.settings, "trace": traced}


def variants() -> list[tuple[str, str, bool]]:
    """Return every (model, variant, vectorize)."""
    return [
        (model, variant, vectorize)
        for model, spec in SPECS.items()
        for variant in variants_of(spec)
        for vectorize in ((True, False) if variant == "dp_train_step" else (True,))
    ]


PARITY = [Case(*each) for each in variants()]
# What options make of a program: loops and unrolled loops, whole and with a rest, and deeper models.
OPTIONS = [
    *(Case("lstm", variant, options=(("unroll", unroll),)) for variant in ("forward", "grad") for unroll in (0, 3, 4)),
    *(Case("deep", variant, options=(("layers", "loop"), ("depth", 3))) for variant in ("forward", "grad")),
    Case("deep", "dp_train_step", vectorize=False, options=(("layers", "loop"),)),
    Case("transformer", "grad", options=(("depth", 2),)),
]
# The programs whose launches are counted are those that a user gets, with their random draws.
LAUNCHES = [Case(*each, still=not (SPECS[each[0]].random or each[1] == "dp_train_step")) for each in variants()]
# A third that has every pair and every variant in it.
LAUNCHES_THIRD = [case for position, case in enumerate(LAUNCHES) if (position + position // 6) % 3 == 0]
OTHER_MODES = [Case(*each, mode=mode) for mode in ("eager", "graph") for each in variants()]


@dataclass(frozen=True)
class Run:
    """What one framework's child made of its cases."""

    folder: Path
    parameter_names: dict[str, list[str]]
    failed: dict[str, str]
    launched: dict[str, Counter[str]]

    def outputs(self, case: Case) -> dict[str, Any]:
        assert case.id not in self.failed, self.failed[case.id]
        with np.load(self.folder / f"{case.id}.npz") as stored:
            return dict(stored)

    def module_text(self, case: Case) -> tuple[str, str]:
        """Return (name, optimized text) of the module of a case."""
        assert case.id not in self.failed, self.failed[case.id]
        (module,) = [each for each in dumped_modules(self.folder / "dump") if each.function == case.function]
        assert module.after is not None
        return module.name, module.after.read_text()


@functools.cache
def dumped_modules(folder: Path) -> tuple[DumpedModule, ...]:
    return read_folder(folder).modules


def load_run(folder: Path) -> Run:
    """Return what a child left in its folder."""
    answer = json.loads((folder / "answer.json").read_text())
    launched = {module: Counter(counts) for module, counts in answer["launched"].items()}
    return Run(folder, answer["parameter_names"], answer["failed"], launched)


def run_zoo(
    cases: list[Case], traced: list[Case], folder: Path, environment: dict[str, str] | None = None
) -> dict[str, Run]:
    """Run the cases in one child per framework, both at once; those of `traced` also under the runtime's trace."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list({case.id: case for case in [*cases, *traced]}.values())
    traced_ids = {case.id for case in traced}
    functions = f"_({'|'.join(case.function for case in traced)})" + r"(_\d+__.*)?$"
    children = {}
    for framework in FRAMEWORKS:
        out = folder / framework
        out.mkdir()
        mine = [case for case in wanted if framework == "tensorflow" or case.mode != "graph"]
        (out / "cases.json").write_text(json.dumps([case.to_child(case.id in traced_ids) for case in mine]))
        variables = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "XLA_FLAGS": f"--xla_dump_to={out / 'dump'} --xla_dump_hlo_as_text --xla_dump_hlo_module_re={functions}",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **OWN_KERNELS_ENVIRONMENT,
            "JAX_PLATFORMS": "cpu",
            "CUDA_VISIBLE_DEVICES": "-1",
            **(environment or {}),
        }
        with (out / "log.txt").open("wb") as log:
            children[framework] = subprocess.Popen(
                [sys.executable, str(CHILD), framework, str(out / "cases.json"), str(out)],
                env=variables,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
    runs = {}
    try:
        for framework, child in children.items():
            assert child.wait(timeout=1500) == 0, (folder / framework / "log.txt").read_text()[-3000:]
            runs[framework] = load_run(folder / framework)
    finally:
        for child in children.values():
            child.kill()
            child.wait()
    return runs
