"""From a request to a built program: shared by every task that compiles a model."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Dict, Mapping, Tuple

import numpy as np

from xlacompare.frameworks import adapter
from xlacompare.frameworks.program import Settings
from xlacompare.model_spec import ModelFolderError, accepted, load_apply, load_spec


def build(request: "Dict[str, Any]", reporter: Any) -> "Tuple[Any, Any]":
    """Import the framework and return (its adapter, the program of the request), inputs on the device."""
    framework = adapter(request["framework"])
    reporter.stage("build")
    if "functions_file" in request:
        return framework, _from_functions_file(framework, request)
    folder = Path(request["model_dir"])
    apply = load_apply(folder, request["framework"])
    return framework, build_model(framework, load_spec(folder), apply, request, settings_of(request))


def build_model(framework: Any, spec: Any, apply: Any, request: "Dict[str, Any]", settings: Settings) -> Any:
    """Return the program of one variant of a model pair, with the numbers that the request's seed gives."""
    keywords = _keywords(spec, request, settings)
    _check_all_taken(spec, apply, keywords)
    # Both frameworks draw from the same seed, so that they start from the same numbers.
    params = spec.init_params(np.random.default_rng(request["seed"]), **accepted(spec.init_params, keywords))
    x, y = spec.example_batch(
        np.random.default_rng(request["seed"] + 1), request["size"]["batch"], **accepted(spec.example_batch, keywords)
    )
    return framework.build(spec, apply, settings, params, x, y, keywords)


def build_still(framework: Any, request: "Dict[str, Any]") -> "Tuple[Any, Dict[str, Any]]":
    """Return (a program that draws nothing, what that changed), or (None, {}) if the request's own draws nothing.

    Random numbers differ between the frameworks, so what both compute is compared without them.
    """
    if "functions_file" in request:
        return None, {}
    folder = Path(request["model_dir"])
    spec = load_spec(folder)
    settings = settings_of(request)
    keywords = _keywords(spec, request, settings)
    changes = {name: value for name, value in spec.still_options.items() if keywords[name] != value}
    noisy = settings.variant == "dp_train_step" and settings.noise_multiplier
    if not changes and not noisy:
        return None, {}
    still_options = {**settings.options, **changes}
    settings = replace(settings, noise_multiplier=0.0, options=still_options, **framework.UNDUMPED)
    program = build_model(framework, spec, load_apply(folder, request["framework"]), request, settings)
    return program, {**changes, "noise_multiplier": 0.0} if noisy else changes


def settings_of(request: "Dict[str, Any]") -> Settings:
    known = {field.name for field in fields(Settings)}
    values = {key: value for key, value in request["settings"].items() if key in known}
    return Settings(**{"seed": request["seed"], **values})


def _keywords(spec: Any, request: "Dict[str, Any]", settings: Settings) -> "Dict[str, Any]":
    vectorized = settings.variant == "dp_train_step" and settings.vectorize
    keywords: "Dict[str, Any]" = spec.keywords(request["size"], settings.options, vectorized=vectorized)
    return keywords


def _check_all_taken(spec: Any, apply: Any, keywords: "Mapping[str, Any]") -> None:
    taken = {
        name for function in (spec.init_params, spec.example_batch, apply) for name in accepted(function, keywords)
    }
    for name in keywords:
        if name not in taken and name not in spec.options:
            raise ModelFolderError(
                f"model {spec.name!r}: its sizes give {name!r}, which none of init_params, example_batch and "
                "apply takes"
            )


def _from_functions_file(framework: Any, request: "Dict[str, Any]") -> Any:
    import cloudpickle

    with Path(request["functions_file"]).open("rb") as stream:
        function, arguments = cloudpickle.load(stream)
    return framework.from_function(function, arguments, request["name"])
