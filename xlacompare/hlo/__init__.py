"""HLO text: reading it and the object model that it becomes. Needs no framework."""

from __future__ import annotations

from xlacompare.hlo.canonical import canonical_text, fingerprint
from xlacompare.hlo.computation import Computation
from xlacompare.hlo.instruction import Instruction, SourceLocation
from xlacompare.hlo.module import Module
from xlacompare.hlo.printer import print_module
from xlacompare.hlo.reader import read_file, read_text
from xlacompare.hlo.shape import Layout, Shape, parse_shape
from xlacompare.hlo.source import HloWarning

__all__ = [
    # The object model
    "Computation",
    "HloWarning",
    "Instruction",
    "Layout",
    "Module",
    "Shape",
    "SourceLocation",
    # Writing
    "canonical_text",
    "fingerprint",
    # Reading
    "parse_shape",
    "print_module",
    "read_file",
    "read_text",
]
