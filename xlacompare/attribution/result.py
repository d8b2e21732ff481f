"""What an attribution found: the table, the verdicts, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlacompare.attribution.cells import Cell, EmptyCell
from xlacompare.attribution.compilers import CompilerDiff
from xlacompare.attribution.frontends import FrontendDiff
from xlacompare.attribution.options import OptionDifference
from xlacompare.attribution.passes import PipelineDiff
from xlacompare.attribution.trials import Trial
from xlacompare.attribution.verdict import Verdict
from xlacompare.documents import document
from xlacompare.parity import Parity
from xlacompare.results import Result


@dataclass(frozen=True, slots=True)
class Environment:
    """One column of the table.

    Attributes:
        key: what the table calls it.
        framework: "jax", "tensorflow" or "unknown".
        label: framework and version in words, "jaxlib 0.10.2".
        versions: every version that is known.
        xla_flags: the flags that it was given, without those for dumping.
        python: its interpreter, where it is not the one that runs xlacompare.
    """

    key: str
    framework: str
    label: str
    versions: Mapping[str, str]
    xla_flags: tuple[str, ...] = ()
    python: str | None = None

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "framework": self.framework,
            "label": self.label,
            "versions": dict(self.versions),
            "xla_flags": list(self.xla_flags),
            "python": self.python,
        }


@dataclass(frozen=True)
class Attribution(Result):
    """Whose doing the differences between environments are.

    Attributes:
        title: what was compared, in words.
        environments: the columns; the first two are those that the main verdict is about.
        cells: a cell for each frontend and compiler that was tried.
        verdicts: the verdict on the first two columns, then on each further one and the first of its framework.
        frontends: what the frontends of the main verdict did differently; None where that cannot be told.
        compilers: what the compilers of the main verdict did differently, for each program.
        pipelines: pipelines side by side, those of one program under two compilers first.
        options: XLA's options that differ between the two compilers.
        trials: options that were tried.
        parity: of the two frontends' own outputs; None where there are none.
        doubts: outputs that disagree, a sentence each.
        unable: what could not be said, and why, a sentence each.
    """

    title: str
    environments: tuple[Environment, ...]
    cells: tuple[Cell | EmptyCell, ...]
    verdicts: tuple[Verdict, ...]
    frontends: FrontendDiff | None
    compilers: tuple[CompilerDiff, ...]
    pipelines: tuple[PipelineDiff, ...]
    options: tuple[OptionDifference, ...]
    trials: tuple[Trial, ...]
    parity: Parity | None
    doubts: tuple[str, ...]
    unable: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The main verdict: "none", "frontend", "compiler", "both" or "unknown"."""
        return self.verdicts[0].verdict if self.verdicts else "unknown"

    def environment(self, key: str) -> Environment:
        return next(each for each in self.environments if each.key == key)

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.attribution` document."""
        partings = [
            {"left": pipeline.left_name, "right": pipeline.right_name, **parting.to_json_dict()}
            for pipeline in self.pipelines
            for parting in pipeline.partings
        ]
        return document(
            "attribution",
            {
                "title": self.title,
                "cells": [cell.to_json_dict() for cell in self.cells],
                "verdict": self.verdict,
                "first_divergent_pass": partings[0] if partings else None,
                "environments": [each.to_json_dict() for each in self.environments],
                "pairs": [each.to_json_dict() for each in self.verdicts],
                "frontends": None if self.frontends is None else self.frontends.to_json_dict(),
                "compilers": [each.to_json_dict() for each in self.compilers],
                "pipelines": [each.to_json_dict() for each in self.pipelines],
                "options": [each.to_json_dict() for each in self.options],
                "trials": [each.to_json_dict() for each in self.trials],
                "parity": None if self.parity is None else self.parity.to_json_dict(),
                "doubts": list(self.doubts),
                "unable": list(self.unable),
            },
        )
