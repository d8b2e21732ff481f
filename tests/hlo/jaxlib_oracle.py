"""A child process that reads HLO texts with jaxlib's own parser, the judge of the corpus tests.

One JSON document a line in, `{"text": …}`; one out. It is a process of its own because that parser crashes on some
texts and hangs on others.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys

_ENTRY = re.compile(r"^ENTRY %?(\S+)", re.MULTILINE)
_CONSTANT = re.compile(r"constant\((?:[^()\n]|\([^()\n]*\))*\)")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Where the enumeration's name is not the opcode's.
_SPELLED = {
    "clz": "count-leading-zeros",
    "cos": "cosine",
    "exp": "exponential",
    "expm1": "exponential-minus-one",
    "log1p": "log-plus-one",
    "optimization-barrier": "opt-barrier",
    "population-count": "popcnt",
    "sin": "sine",
    "top-k": "topk",
    "id": "domain",
}


def opcode_text(opcode: object) -> str:
    """Return `get-tuple-element` for `HloOpcode.kGetTupleElement`."""
    name = _CAPITAL.sub("-", str(opcode).rpartition(".k")[2]).lower()
    return _SPELLED.get(name, name)


def describe(text: str) -> dict[str, object]:
    """Return what jaxlib makes of a text, or its error."""
    from jaxlib import _hlo

    try:
        module = _hlo.hlo_module_from_text(text)
    except Exception as error:
        return {"error": str(error)[:300]}
    computations = []
    for computation in module.computations():
        instructions = computation.instructions()
        numbers = {one.name: number for number, one in enumerate(instructions)}
        rows = [[opcode_text(one.opcode), [numbers[o.name] for o in one.operands()]] for one in instructions]
        computations.append([computation.name, rows])
    entry = _ENTRY.search(module.to_string())
    canonical = module.to_string(_hlo.HloPrintOptions.fingerprint())
    return {
        "entry": entry[1] if entry else None,
        "computations": computations,
        "canonical": _digest(canonical),
        # An elided constant is filled from a counter that runs on through the process.
        "without_constants": _digest(_CONSTANT.sub("constant()", canonical)),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        print(json.dumps(describe(json.loads(line)["text"])), flush=True)


if __name__ == "__main__":
    main()
