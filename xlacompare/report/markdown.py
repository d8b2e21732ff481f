"""Markdown that is fit for a pull-request comment, whatever the HLO text holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&])")


def markdown_escape(text: str) -> str:
    """Return `text` so that Markdown shows it as it is, on one line.

    >>> markdown_escape("a|b <img> `x`")
    'a\\\\|b \\\\<img\\\\> \\\\`x\\\\`'
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def markdown_code(text: str) -> str:
    """Return `text` as inline code, with a fence longer than any run of backticks in it, safe inside a table."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    # A pipe ends a table's cell even inside code.
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|") if text else ""


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
