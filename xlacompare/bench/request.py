"""From names and numbers that a user chose to a plan, checked before any process is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xlacompare.bench.plan import QUICK_ROUNDS, Plan, columns, self_check_columns
from xlacompare.errors import UsageError
from xlacompare.frameworks import FRAMEWORKS
from xlacompare.registry import Model, find_model
from xlacompare.settings import program_of
from xlacompare.worker.xla_flags import check_flags, merge_flags, user_flags


def bench_plan(
    model: str | Model,
    *,
    variant: str = "grad",
    size: str | None = None,
    batch: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    names: Sequence[str] = FRAMEWORKS,
    self_check: str | None = None,
    quick: bool = False,
    rounds: int | None = None,
    xla_flags: Mapping[str, str] | None = None,
    **others: Any,
) -> Plan:
    """Return the plan for a model pair; `others` are `Plan`'s fields.

    Args:
        model: a name, a folder's path, or a pair that was found before.
        variant: "forward", "grad", …
        size: one of the model's sizes; None is its first.
        batch: instead of the size's own.
        seed: of parameters and batch.
        options: the model's own options.
        settings: further fields of `frameworks.program.Settings`, such as vectorize.
        names: the columns to time: "jax", "jax-eager", "tensorflow", "tensorflow-graph", "tensorflow-eager".
        self_check: time this column against itself instead.
        quick: three rounds instead of ten, unless `rounds` says otherwise.
        rounds: how many.
        xla_flags: framework -> flags of the command line; the environment's XLA_FLAGS come before them.

    Raises:
        UsageError: there is no such model, variant, size, option or column, or a flag that XLA would misread.
        ModelError: the model's folder cannot be used.
    """
    if isinstance(model, str):
        model = find_model(model)
    spec = model.spec
    program = program_of(model, variant=variant, size=size, batch=batch, seed=seed, options=options, settings=settings)
    chosen = self_check_columns(self_check) if self_check else columns(names)
    if others.get("min_effect", 1) <= 0:
        raise UsageError(
            f"--min-effect {others['min_effect']:.1%}: no run can prove two times equal; give a size above 0."
        )
    if quick and rounds is None:
        rounds = QUICK_ROUNDS
    if rounds is not None:
        others["rounds"] = rounds
    return Plan(
        model=spec.name,
        variant=variant,
        program=program,
        rtol=spec.rtol,
        atol=spec.atol,
        columns=chosen,
        size_name=size or spec.default_size,
        self_check=self_check,
        xla_flags={framework: _flags(framework, xla_flags or {}) for framework in FRAMEWORKS},
        **others,
    )


def _flags(framework: str, given: Mapping[str, str]) -> str:
    return merge_flags(user_flags(), check_flags(given.get(framework, ""), f"--{framework}-xla-flags"))
