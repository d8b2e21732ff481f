"""Where an operation came from in the user's program, in a few words. For showing only: nothing is matched by it."""

from __future__ import annotations

import re

from xlacompare.hlo import Instruction

# A place inside a framework says nothing about the user's program.
_INSIDE_FRAMEWORK = re.compile(
    r"site-packages/(?:jax|jaxlib|tensorflow|keras|flax)/|tensorflow/python/|[/\\]xlacompare[/\\](?:worker|frameworks)[/\\]"
)
_JAX_WRAPPERS = re.compile(r"(?:jit|jvp|vjp|transpose|vmap|remat|checkpoint|custom_jvp_call|custom_vjp_call)\(")


def origin(instruction: Instruction) -> str | None:
    """Return "model.py:12" where the dump names a line of the user's, else the framework's name for the operation."""
    for frame in instruction.source_frames:
        if not _INSIDE_FRAMEWORK.search(frame.file):
            return str(frame)
    name = instruction.metadata.get("op_name")
    return str(name) if name else None


def short_origin(instruction: Instruction, width: int = 32) -> str | None:
    """Return the same with the file's folders and the framework's wrappers left out, cut to `width` from the right.

    JAX's `jit(f)/jvp()/dot_general` is `dot_general`; TensorFlow's op names stay whole.
    """
    text = origin(instruction)
    if text is None:
        return None
    for frame in instruction.source_frames:
        if str(frame) == text:
            return _tail(re.split(r"[/\\]", text)[-1], width)
    first = text.split(";")[0]
    parts = first.split("/")
    return _tail(parts[-1] if _JAX_WRAPPERS.match(first) else first, width)


def _tail(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else "…" + text[1 - width :]


def parameter_name(instruction: Instruction) -> str:
    """Return what a parameter is called where it came from: JAX notes its path, TensorFlow the same words for all."""
    name = str(instruction.metadata.get("op_name") or "")
    return name if name and name != "XLA_Args" and len(name) < 80 else instruction.name
