"""How many kernels the timed programs have: compiled once more, with dumping on, in processes that are not timed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from xlacompare.bench.plan import Plan
from xlacompare.dump import DumpRequest, DumpResult, make_dumps


def dumped_columns(plan: Plan) -> dict[str, str]:
    """Return column name -> framework for the columns whose program is one XLA module."""
    return {column.name: column.framework for column in plan.columns if column.jit and column.xla}


def count_kernels(plan: Plan) -> dict[str, Any]:
    """Return column name -> "kernels" and "fusions" of the entry computation, for the columns that XLA compiles whole.

    Raises: as `xlacompare.dump.make_dumps`.
    """
    columns = dumped_columns(plan)
    if not columns:
        return {}
    with tempfile.TemporaryDirectory(prefix="xlacompare-bench-") as folder:
        dumps = make_dumps(dump_request_of(plan), Path(folder))
    counted = kernel_counts(dumps)
    return {column: counted[framework] for column, framework in columns.items()}


def dump_request_of(plan: Plan) -> DumpRequest:
    """Return the request for dumps of the programs that a plan times, under the plan's flags."""
    frameworks = tuple(dict.fromkeys(dumped_columns(plan).values()))
    program = {**plan.program, "settings": {**plan.program["settings"], "variant": plan.variant}}
    return DumpRequest(
        plan.model,
        plan.variant,
        dict.fromkeys(frameworks, program),
        rtol=plan.rtol,
        atol=plan.atol,
        size=plan.program["size"],
        frameworks=frameworks,
        device=plan.device,
        xla_flags=plan.xla_flags,
        pythons=plan.pythons,
        timeout_s=plan.timeout_s,
        command=plan.command,
    )


def kernel_counts(dumps: DumpResult) -> dict[str, dict[str, int | None]]:
    """Return framework -> "kernels" and "fusions" of the entry computation."""
    return {
        dump.framework: {"kernels": dump.census.entry.kernels, "fusions": dump.census.entry.fusions}
        for dump in dumps.dumps
    }
