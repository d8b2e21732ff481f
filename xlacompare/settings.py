"""What a user chose of a model, checked against its spec before any process is started."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from xlacompare.errors import UsageError
from xlacompare.frameworks.program import VARIANTS
from xlacompare.model_spec import ModelFolderError, ModelSpec
from xlacompare.registry import Model


def check_settings(
    spec: ModelSpec, *, variant: str, size: str | None, batch: int | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the numbers of the size, with the batch that was chosen.

    Raises:
        UsageError: no such variant, size or option; the message has the nearest names.
    """
    variants = VARIANTS if spec.loss is not None else ("forward",)
    _known("variant", variant, variants, spec)
    if size is not None:
        _known("size", size, spec.sizes, spec)
    for option in options:
        _known("option", option, spec.options, spec)
    try:
        spec.check_options(options)
    except ModelFolderError as error:
        raise UsageError(f"{error}.") from error
    numbers = dict(spec.sizes[size or spec.default_size])
    if batch is not None:
        numbers["batch"] = batch
    return numbers


def program_of(
    model: Model,
    *,
    variant: str,
    size: str | None,
    batch: int | None,
    seed: int,
    options: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return what a child is asked to build (`worker/tasks/program.py`) for what was chosen of a model.

    Args:
        size: one of the model's sizes; None is its first.
        batch: instead of the size's own.
        seed: of parameters and batch.
        options: the model's own options.
        settings: further fields of `frameworks.program.Settings`, such as vectorize.

    Raises: as `check_settings`.
    """
    options = dict(options or {})
    return {
        "model_dir": str(model.folder),
        "size": check_settings(model.spec, variant=variant, size=size, batch=batch, options=options),
        "seed": seed,
        "settings": {**(settings or {}), "options": options},
    }


def _known(kind: str, name: str, choices: Iterable[str], spec: ModelSpec) -> None:
    names = list(choices)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=3) or names
    has = f"it has {', '.join(near)}" if near else f"it has no {kind}s"
    raise UsageError(f"the model {spec.name!r} has no {kind} {name!r}; {has}.")
