"""Cells that are kept: each is a dump folder like any other, with a manifest that says what was compiled by what."""

from __future__ import annotations

from collections.abc import Iterable

from xlacompare.attribution.cells import Cell, EmptyCell
from xlacompare.attribution.control import DUMP_FLAGS, PASS_FLAGS, Control
from xlacompare.dump import DumpRequest
from xlacompare.dumps import Manifest, write_manifest
from xlacompare.worker.xla_flags import merge_flags


def describe_cells(cells: Iterable[Cell | EmptyCell], control: Control, request: DumpRequest) -> None:
    """Write a manifest into the folder of each cell that could be filled."""
    columns = {column.key: column for column in control.columns}
    for cell in cells:
        answer = control.answers.get(cell.compiler)
        if isinstance(cell, EmptyCell) or answer is None:
            continue
        column, module = columns[cell.compiler], cell.module
        write_manifest(
            cell.directory,
            Manifest(
                framework=column.framework,
                module=module.name,
                module_reason=f"the program of {cell.frontend}, compiled by {cell.compiler}",
                command=request.command,
                model=request.name,
                variant=request.variant,
                size=dict(request.size),
                versions=answer.result["versions"],
                xla_flags=merge_flags(list(column.xla_flags), [*DUMP_FLAGS, *PASS_FLAGS]),
                device=answer.result["device"]["platform"],
                before=None if module.before is None else module.before.relative_to(cell.directory).as_posix(),
                after=None if module.after is None else module.after.relative_to(cell.directory).as_posix(),
                extra={
                    "frontend": cell.frontend,
                    "parameters": list(cell.parameter_names),
                    "precision": answer.result["precision"],
                },
            ),
        )
