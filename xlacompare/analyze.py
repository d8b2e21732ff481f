"""The face for scripts: `import xlacompare.analyze as xa`.

    >>> import xlacompare.analyze as xa
    >>> module = xa.read_text("ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }")[0]
    >>> [instruction.opcode for instruction in module.entry.instructions]
    ['parameter', 'tanh']

Importing it imports neither jax nor tensorflow, nor pandas or matplotlib.
"""

from __future__ import annotations

from xlacompare.attribution import Attribution, attribute, attribute_folders
from xlacompare.census import Census, census
from xlacompare.compare import compare, diff_paths
from xlacompare.diff import Diff, diff
from xlacompare.dump import DumpRequest, DumpResult, FrameworkDump, dump, dump_request
from xlacompare.dumps import DumpFolder, Manifest, read_folder, read_manifest
from xlacompare.errors import (
    DumpError,
    FrameworkMissing,
    HloError,
    ModelError,
    NotHloError,
    ParityError,
    SchemaError,
    UsageError,
    WorkerFailed,
    XlaCompareError,
)
from xlacompare.hlo import Computation, Instruction, Module, Shape, read_file, read_text
from xlacompare.reading import Analysis, analyze, load

__all__ = [
    # Reading HLO
    "Computation",
    "Instruction",
    "Module",
    "Shape",
    "load",
    "read_file",
    "read_text",
    # Dump folders
    "DumpFolder",
    "Manifest",
    "read_folder",
    "read_manifest",
    # Counting
    "Analysis",
    "Census",
    "analyze",
    "census",
    # Comparing
    "Diff",
    "diff",
    "diff_paths",
    # Attributing
    "Attribution",
    "attribute",
    "attribute_folders",
    # Compiling
    "DumpRequest",
    "DumpResult",
    "FrameworkDump",
    "compare",
    "dump",
    "dump_request",
    # Errors
    "DumpError",
    "FrameworkMissing",
    "HloError",
    "ModelError",
    "NotHloError",
    "ParityError",
    "SchemaError",
    "UsageError",
    "WorkerFailed",
    "XlaCompareError",
]
