"""Seconds, bytes and rates as people read them: three digits and a unit."""

from __future__ import annotations

import math

TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
ASCII = str.maketrans({"·": "|", "…": "-", "×": "x", "→": "->", "µ": "u", "≈": "~", "±": "+-", "–": "-", "↔": "<->"})


def significant(value: float, digits: int = 3) -> str:
    """Return a number with `digits` digits and no exponent.

    >>> [significant(value) for value in (0.01234, 1.5, 23.94, 720.4, 12345.0)]
    ['0.0123', '1.50', '23.9', '720', '12345']
    """
    if value == 0:
        return "0"
    # Rounding may carry into another digit (9.999 -> 10.0), so the magnitude is that of the rounded number.
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"


def seconds(value: float) -> str:
    """Return a duration with its unit.

    >>> [seconds(value) for value in (5.8e-6, 0.0229, 1.2345, 0.0)]
    ['5.80 µs', '22.9 ms', '1.23 s', '0 s']
    """
    if value == 0:
        return "0 s"
    factor, unit = _time_unit(value)
    return f"{significant(value / factor)} {unit}"


def seconds_range(low: float, high: float) -> str:
    """Return two durations with the unit of the larger one.

    >>> seconds_range(0.0218, 0.0241)
    '21.8…24.1 ms'
    """
    factor, unit = _time_unit(high)
    return f"{significant(low / factor)}…{significant(high / factor)} {unit}"


def bytes_(value: float) -> str:
    """Return a size in binary units.

    >>> bytes_(255037440)
    '243 MiB'
    """
    factor, unit = next((factor, unit) for factor, unit in BINARY if abs(value) >= factor or factor == 1)
    return f"{significant(value / factor) if factor > 1 else round(value)} {unit}"


def rate(value: float, unit: str) -> str:
    """Return a rate in decimal units.

    >>> rate(3.21e9, "FLOP/s")
    '3.21 GFLOP/s'
    """
    factor, prefix = next((factor, prefix) for factor, prefix in DECIMAL if abs(value) >= factor or factor == 1)
    return f"{significant(value / factor)} {prefix}{unit}"


def plain(text: str) -> str:
    """Return the text in ASCII, for terminals that know no more."""
    return text.translate(ASCII).encode("ascii", "replace").decode()


def _time_unit(value: float) -> tuple[float, str]:
    # 999.7 µs would be written 1000 µs; it is 1.00 ms.
    rounded = float(f"{abs(value):.2e}")
    return next((pair for pair in TIMES if rounded >= pair[0]), TIMES[-1])
