"""What a plan asks of one process of one column."""

from __future__ import annotations

from typing import Any

from xlacompare.bench.plan import Column, Plan
from xlacompare.worker.launch import Launch


def column_launch(plan: Plan, column: Column, task: str, **wanted: Any) -> Launch:
    """Return the launch of a task on a column's program; `wanted` is what that task is asked besides."""
    request = {
        **plan.program,
        "task": task,
        "settings": plan.settings(column),
        "cpus": list(plan.cpus),
        "warm_up_min_s": plan.limits.warm_up_min_s,
        "warm_up_max_s": plan.limits.warm_up_max_s,
        **wanted,
    }
    return Launch(
        column.framework,
        request,
        xla_flags=plan.xla_flags.get(column.framework, ""),
        python=plan.pythons.get(column.framework),
        device=plan.device,
        timeout_s=plan.timeout_s,
    )
