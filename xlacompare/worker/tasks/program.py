"""From a request to a built program: shared by every task that compiles a model."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np

from xlacompare.frameworks import adapter
from xlacompare.frameworks.program import Settings
from xlacompare.model_spec import load_apply, load_spec


def build(request: "Dict[str, Any]", reporter: Any) -> "Tuple[Any, Any]":
    """Import the framework and return (its adapter, the program of the request), inputs on the device."""
    reporter.stage("import")
    framework = adapter(request["framework"])
    reporter.stage("build")
    if "functions_file" in request:
        return framework, _from_functions_file(framework, request)
    folder = Path(request["model_dir"])
    spec = load_spec(folder)
    size = dict(request["size"])
    batch = size.pop("batch")
    # Both frameworks draw from the same seed, so that they start from the same numbers.
    params = spec.init_params(np.random.default_rng(request["seed"]), **size)
    x, y = spec.example_batch(np.random.default_rng(request["seed"] + 1), batch, **size)
    known = {field.name for field in fields(Settings)}
    settings = Settings(**{key: value for key, value in request["settings"].items() if key in known})
    return framework, framework.build(spec, load_apply(folder, request["framework"]), settings, params, x, y)


def _from_functions_file(framework: Any, request: "Dict[str, Any]") -> Any:
    import cloudpickle

    with Path(request["functions_file"]).open("rb") as stream:
        function, arguments = cloudpickle.load(stream)
    return framework.from_function(function, arguments, request["name"])
