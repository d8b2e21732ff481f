"""The only code that imports jax or tensorflow: one module each, behind one Protocol (`program.py`).

It runs in child processes, also under interpreters of other environments, so everything here keeps to Python 3.9.
Private APIs of either framework live here and nowhere else, each with the version range that it was tried on.
"""

from __future__ import annotations

import importlib
from typing import Any

FRAMEWORKS = ("jax", "tensorflow")


def adapter(framework: str) -> Any:
    """Import and return the adapter module of "jax" or "tensorflow"; this imports the framework itself."""
    return importlib.import_module(f"xlacompare.frameworks.{framework}")


def timing_adapter(framework: str) -> Any:
    """Import and return what timing and profiling need of "jax" or "tensorflow" beyond its adapter."""
    return importlib.import_module(f"xlacompare.frameworks.{framework}_timing")
