"""What `xlacompare models` lists: every model pair, and whether it can run here."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xlacompare.frameworks import FRAMEWORKS
from xlacompare.frameworks.program import VARIANTS
from xlacompare.registry import BrokenModel, Model, all_models


@dataclass(frozen=True)
class CatalogueEntry:
    """One model pair as a user chooses it; `why_not` is a sentence where `runnable` is false."""

    name: str
    summary: str
    variants: tuple[str, ...]
    sizes: tuple[str, ...]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    origin: str
    runnable: bool
    why_not: str | None

    def to_json_dict(self) -> dict[str, Any]:
        return asdict(self)


def missing_frameworks() -> list[str]:
    """Return the frameworks that this interpreter cannot import, found without importing any."""
    return [name for name in FRAMEWORKS if importlib.util.find_spec(name) is None]


def catalogue() -> list[CatalogueEntry]:
    """Return every built-in and plugin pair; a broken one is listed with its reason."""
    missing = missing_frameworks()
    why_not = None
    if missing:
        extras = "all" if len(missing) == len(FRAMEWORKS) else missing[0]
        why_not = f"{' and '.join(missing)} not installed: pip install 'xlacompare[{extras}]'"
    return [_entry(model, why_not) for model in all_models()]


def _entry(model: Model | BrokenModel, why_not: str | None) -> CatalogueEntry:
    if isinstance(model, BrokenModel):
        return CatalogueEntry(model.name, "broken", (), (), {}, (), model.origin, False, model.reason)
    spec = model.spec
    variants = VARIANTS if spec.loss is not None else ("forward",)
    return CatalogueEntry(
        name=spec.name,
        summary=spec.summary,
        variants=tuple(variants),
        sizes=tuple(spec.sizes),
        options=dict(spec.options),
        notes=tuple(spec.notes),
        origin=spec.origin or model.origin,
        runnable=why_not is None,
        why_not=why_not,
    )
