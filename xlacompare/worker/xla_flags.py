"""XLA_FLAGS: checked before a process is started, merged so that the user's own are kept.

XLA splits the variable at white space, lets the last occurrence of a flag win, takes a value that does not start with
`--` for a file name, and ends the process at a flag that it does not know.
"""

from __future__ import annotations

import os
import re

from xlacompare.errors import UsageError

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
UNKNOWN_FLAGS = re.compile(r"Unknown flags? in XLA_FLAGS: *(.+)")


def check_flags(flags: str, origin: str) -> list[str]:
    """Return the words of `flags`; raise UsageError for what XLA would misread. `origin` names where they came from.

    >>> check_flags("--xla_cpu_enable_fast_math=false  --xla_dump_hlo_as_text", "--xla-flags")
    ['--xla_cpu_enable_fast_math=false', '--xla_dump_hlo_as_text']
    """
    for dash in DASHES:
        if dash in flags:
            column = flags.index(dash) + 1
            raise UsageError(
                f"{origin} holds the typographic dash {dash!r} (U+{ord(dash):04X}) at character {column} of {flags!r}; "
                "XLA knows only the plain '-': type the two dashes anew."
            )
    if "'" in flags or '"' in flags:
        raise UsageError(
            f"{origin} holds a quote character in {flags!r}; XLA does not strip quotes. Write the value without them."
        )
    words = flags.split()
    for word in words:
        if not word.startswith("--"):
            raise UsageError(
                f"{origin} holds {word!r}, which does not start with '--'; XLA would take it for a file name or drop "
                f"it. Write --{word.lstrip('-')} if that flag is meant, and keep spaces out of values."
            )
    return words


def user_flags() -> list[str]:
    """Return the checked words of this process's own XLA_FLAGS, without where to dump: a dump of ours has its place."""
    words = check_flags(os.environ.get("XLA_FLAGS", ""), "the environment variable XLA_FLAGS")
    return [word for word in words if not word.startswith("--xla_dump_to=")]


def merge_flags(*groups: list[str]) -> str:
    """Return one XLA_FLAGS string; a later group wins over an earlier one, as XLA lets the last occurrence win."""
    return " ".join(word for group in groups for word in group)


def refused_flags(log: str) -> list[str]:
    """Return the flags that XLA named as unknown when it ended the process.

    >>> refused_flags("F0000 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_no_such")
    ['--xla_no_such']
    """
    return [word for match in UNKNOWN_FLAGS.finditer(log) for word in match.group(1).split() if word.startswith("--")]
