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
    """Import and return what timing needs of "jax" or "tensorflow" beyond its adapter."""
    return importlib.import_module(f"xlacompare.frameworks.{framework}_timing")


def profile_adapter(framework: str) -> Any:
    """Import and return the module that runs a program under the profiler of "jax" or "tensorflow"."""
    return importlib.import_module(f"xlacompare.frameworks.{framework}_profile")
