"""Results as pandas tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from xlacompare.attribution import Attribution
from xlacompare.attribution.cells import MEASURES
from xlacompare.census import Census
from xlacompare.diff import Diff
from xlacompare.dump import DumpResult
from xlacompare.reading import Analysis
from xlacompare.results import Result

if TYPE_CHECKING:
    from pandas import DataFrame

SCOPES = ("entry", "reachable", "weighted")


@singledispatch
def to_pandas(result: Result) -> DataFrame:
    """Return a result as a table."""
    raise NotImplementedError(f"{type(result).__name__} has no table")


@to_pandas.register(Census)
def _(result: Census) -> DataFrame:
    document = result.to_json_dict()
    rows = [{"scope": scope, **_scope_counts(document, scope)} for scope in SCOPES]
    return _frame(rows).set_index("scope")


@to_pandas.register(Analysis)
def _(result: Analysis) -> DataFrame:
    return _frame([_module_row(module) for module in result.modules])


@to_pandas.register(DumpResult)
def _(result: DumpResult) -> DataFrame:
    return _frame([{"framework": dump.framework, **_module_row(dump.census)} for dump in result.dumps])


@to_pandas.register(Diff)
def _(result: Diff) -> DataFrame:
    rows = []
    for kernel in result.to_json_dict()["kernels"]:
        only = {side: len(kernel[f"{side}_only_operations"]) for side in ("left", "right")}
        rows.append({**kernel, "left_only_operations": only["left"], "right_only_operations": only["right"]})
    return _frame(rows)


@to_pandas.register(Attribution)
def _(result: Attribution) -> DataFrame:
    rows = [cell.to_json_dict() for cell in result.cells]
    columns = ("frontend", "compiler", *MEASURES, "signature", "why_not")
    return _frame([{name: row[name] for name in columns} for row in rows])


def _module_row(module: Census) -> dict[str, Any]:
    document = module.to_json_dict()
    row: dict[str, Any] = {key: document[key] for key in ("name", "stage", "platform", "main")}
    for scope in SCOPES:
        row.update({f"{key}_{scope}": value for key, value in _scope_counts(document, scope).items()})
    return row | {"instructions": document["instructions"]["total"]}


def _scope_counts(document: Mapping[str, Any], scope: str) -> dict[str, Any]:
    return {key: document[key][scope] for key in ("kernels", "fusions", "thunks")}


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows))
