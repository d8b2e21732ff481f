"""What the two ways of compiling another frontend's program have in common.

`recompile_jax.py` gives HLO text to jaxlib's XLA, `recompile_tensorflow.py` gives StableHLO to TensorFlow's. Both lean
on private APIs, so each says which versions it was tried on, and turns whatever is missing into a `RouteError`.
"""

from __future__ import annotations

import re

STACK_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}')


class RouteError(Exception):
    """This version of the framework offers no way, or another one, to compile a foreign program; says which."""


def without_debug_info(text: str) -> str:
    """Return HLO text without the tables and attributes that say where it came from; older parsers refuse them.

    >>> without_debug_info('HloModule m\\n\\nFileNames\\n1 "a.py"\\n\\nENTRY e {\\n  ROOT p = f32[] add(a, b), '
    ...                    'metadata={op_name="x{" stack_frame_id=1}\\n}\\n')
    'HloModule m\\n\\nENTRY e {\\n  ROOT p = f32[] add(a, b)\\n}\\n'
    """
    kept, in_table = [], False
    for line in text.splitlines(keepends=True):
        if line.strip() in STACK_TABLES:
            in_table = True
        elif not in_table:
            kept.append(METADATA.sub("", line))
        elif not line.strip():
            in_table = False
    return "".join(kept)
