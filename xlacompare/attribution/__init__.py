"""Whose doing a difference is: the same-compiler control, options, and the first diverging pass."""

from __future__ import annotations

from xlacompare.attribution.folders import attribute_folders
from xlacompare.attribution.models import attribute
from xlacompare.attribution.result import Attribution

__all__ = ["Attribution", "attribute", "attribute_folders"]
