"""The machine a run was made on and the state it was in, as far as the system tells."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

CPUFREQ = Path("/sys/devices/system/cpu")
GPU_QUERY = "name,driver_version,clocks.sm,clocks.max.sm,power.limit,utilization.gpu"


def describe_machine(device: str = "cpu") -> dict[str, Any]:
    """Return the processor, its settings and the load now; a key is None where the system does not tell."""
    described: dict[str, Any] = {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": memory_bytes(),
        "governor": _read(CPUFREQ / "cpu0/cpufreq/scaling_governor"),
        "turbo": turbo(),
        "load_average": load_average(),
        "python": platform.python_version(),
    }
    if device == "gpu":
        described["gpus"] = gpus()
    return described


def cpu_model() -> str | None:
    """Return the processor's name."""
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Hardware", "cpu model"):
            return value.strip()
    return platform.processor() or None


def memory_bytes() -> int | None:
    """Return the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def turbo() -> bool | None:
    """Return whether the processor may raise its clock by itself; None where the system does not tell."""
    if (no_turbo := _read(CPUFREQ / "intel_pstate/no_turbo")) is not None:
        return no_turbo == "0"
    if (boost := _read(CPUFREQ / "cpufreq/boost")) is not None:
        return boost == "1"
    return None


def load_average() -> float | None:
    """Return the mean number of processes that wanted a core over the last minute."""
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def gpus() -> list[dict[str, str]]:
    """Return what nvidia-smi says of each GPU; empty where there is none."""
    command = ["nvidia-smi", f"--query-gpu={GPU_QUERY}", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    names = GPU_QUERY.split(",")
    return [dict(zip(names, map(str.strip, line.split(",")), strict=False)) for line in answer.stdout.splitlines()]


def check_cpus(cpus: tuple[int, ...]) -> str | None:
    """Return why this process may not be pinned to these cores, or None if it may."""
    if not hasattr(os, "sched_setaffinity"):
        return f"{sys.platform} cannot pin a process to cores"
    allowed = os.sched_getaffinity(0)
    if missing := sorted(set(cpus) - allowed):
        return f"core {', '.join(map(str, missing))} is not among those this process may use ({sorted(allowed)})"
    return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
