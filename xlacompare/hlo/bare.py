"""Instructions that stand in a text without a computation around them, as XLA prints one instruction alone.

What they read and nobody defines are their parameters; an operand that is only a shape is one without a name.
"""

from __future__ import annotations

import re

from xlacompare.hlo.computation import Row
from xlacompare.hlo.operands import LITERAL_OPCODES, operand_names, split_operands

_NAMED = re.compile(r"\A\s*(?:(.*\S)\s+)?(%?[^\s%()\[\]{}]+)\s*\Z", re.DOTALL)


def implied_parameters(rows: list[Row], opcodes: list[str]) -> tuple[list[Row], list[Row]]:
    """Return the parameters that some rows imply, and the rows with a name for every operand."""
    known = {row[1] for row in rows}
    parameters: list[Row] = []
    named: list[Row] = []
    for row, opcode in zip(rows, opcodes, strict=True):
        root, name, shape, operands, attributes = row
        if opcode in LITERAL_OPCODES or not operands.strip():
            named.append(row)
            continue
        pieces = []
        for piece in split_operands(operands):
            found = operand_names(piece)
            if not found:
                found = [f"_{len(parameters)}"]
                piece = f"{piece.strip()} %{found[0]}"
            if found[0] not in known:
                known.add(found[0])
                parts = _NAMED.match(piece)
                parameters.append(("", found[0], (parts and parts[1]) or "", str(len(parameters)), ""))
            pieces.append(piece)
        named.append((root, name, shape, ",".join(pieces), attributes))
    return parameters, named
