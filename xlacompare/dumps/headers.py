"""What the first lines of an HLO text say, without reading the rest of it.

A dump folder may hold thousands of texts; which of them is meant is decided from their headers and sizes alone.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

# A header may list the layout of thousands of parameters; the line is looked for within this many bytes.
_HEAD_BYTES = 8 << 20
# Instructions are counted in texts up to this size and estimated from the size beyond it.
_COUNT_BYTES = 4 << 20
_BYTES_PER_INSTRUCTION = 160

# A log may put a prefix of its own in front of the line.
_MODULE_LINE = re.compile(
    rb"^(?P<prefix>|[^\n\"]*[\]:\s])HloModule[ \t]+(?P<name>[^\s,]+?):?[ \t]*(?P<rest>(?:,[^\n]*)?)\r?$",
    re.MULTILINE,
)
_LAYOUT = re.compile(rb"entry_computation_layout=\{")
_SIGNATURE = re.compile(rb"^ENTRY [^\n(]*(?P<signature>\([^\n]*)\{", re.MULTILINE)
_ARGUMENT_NAME = re.compile(r"%?[\w.-]+:")
_LAYOUT_NOTE = re.compile(r"\{[^{}]*\}|/\*[^*]*\*/|\s")

_JAX_NAME = re.compile(r"(?:jit|pjit|pmap|xmap)_|primitive_computation|lazy_force|xla_computation_")
_TENSORFLOW_NAME = re.compile(r"a_inference_|__inference_|(?:a_)?cluster_\d+|.*__Xla(?:MustCompile|CompiledKernel)_|tfcompile")

# Functions that JAX compiles on its own whenever an array is touched outside jit, and that nobody asks about.
_JAX_HELPERS = frozenset(
    """abs add all any arange argmax argmin array_equal astype bitwise_and bitwise_or bitwise_xor broadcast_in_dim
    clip concatenate convert_element_type copy copy_p cos cumsum div divmod dot dot_general dynamic_slice
    dynamic_update_slice equal eq exp expand_dims eye fill_like floor floor_divide fn full gather ge greater gt iota
    isfinite isnan key_data le less linspace log logical_and logical_not lt matmul max maximum mean min minimum mod
    moveaxis mul multiply ne neg negative ones or pad power prim_fun prod random_bits random_seed random_split
    random_unwrap random_wrap ravel real reduce_max reduce_min reduce_prod reduce_sum remainder reshape rng_uniform
    round scatter scatter_add select_n shift_left shift_right_logical sign sin slice sqrt square squeeze stack stage
    std sub subtract sum tanh threefry2x32 threefry_seed threefry_split tile transpose tri true_divide trunc var where
    zeros zeros_like""".split()
)


@dataclass(frozen=True, slots=True)
class Header:
    """What an HLO text says of itself at its head.

    Attributes:
        name: the module's name on its `HloModule` line.
        shapes: the shapes of parameters and results, layouts left out, "(f32[8,5])->f32[]"; empty where not given.
        is_optimized: whether it looks like a text after optimizations: scheduled, or with fusions in it.
        instructions: how many instructions the text has, fused ones included; estimated for a text above 4 MiB.
    """

    name: str
    shapes: str
    is_optimized: bool
    instructions: int


def read_header(path: Path) -> Header | None:
    """Return what the head of a text says, or None for a file that is no HLO text with an `HloModule` line.

    Raises:
        OSError: the file cannot be read.
    """
    data, size = _read_start(path)
    for match in _MODULE_LINE.finditer(data, 0, _HEAD_BYTES):
        # A remark may speak of a module; a log's own prefix may stand in front of one.
        if match["prefix"].lstrip().startswith((b"//", b"#")):
            continue
        rest = match["rest"]
        count = data.count(b" = ")
        instructions = count if size <= len(data) else max(count, size // _BYTES_PER_INSTRUCTION)
        name = match["name"].decode("utf-8", "replace")
        shapes = _layout_shapes(rest) or _signature_shapes(data)
        is_optimized = b"is_scheduled=true" in rest or b" fusion(" in data
        return Header(name, shapes, is_optimized, instructions)
    return None


def framework_of(module_name: str) -> str:
    """Return "jax", "tensorflow" or "unknown" from the name on the `HloModule` line.

    JAX names a module after the transformation that compiled it, TensorFlow after the function graph or, with
    auto-clustering, the cluster.

    >>> framework_of("jit_train_step"), framework_of("a_inference_step_18__XlaMustCompile_true_.1")
    ('jax', 'tensorflow')
    >>> framework_of("SyncTensorsGraph.20")
    'unknown'
    """
    if _TENSORFLOW_NAME.match(module_name):
        return "tensorflow"
    return "jax" if _JAX_NAME.match(module_name) else "unknown"


def function_name(module_name: str) -> str:
    """Return the name of the user's function within a module's name.

    >>> function_name("jit_private_update__1.979"), function_name("a_inference_step_18__XlaMustCompile_true_.1")
    ('private_update', 'step')
    """
    name = re.sub(r"\.\d+$", "", module_name)
    if framework_of(module_name) == "tensorflow":
        name = re.sub(r"_*Xla(?:MustCompile|CompiledKernel)_.*$", "", name)
        inference = re.match(r"_*(?:a_)?_*inference_(?P<function>.+?)(?:_\d+)?$", name)
        return inference["function"] if inference else name
    name = re.sub(r"^(?:jit|pjit|pmap|xmap)_(?=.)", "", name)
    # Up to 2022 JAX numbered the second and later modules of one name: jit_step__1.
    return re.sub(r"__\d+$", "", name) or name


def is_helper_name(module_name: str) -> bool:
    """Whether JAX compiled a module of this name on its own: a primitive met outside jit, or a private function.

    >>> is_helper_name("jit__threefry_split.22"), is_helper_name("jit_step"), is_helper_name("jit__lambda")
    (True, False, False)
    """
    if framework_of(module_name) != "jax":
        return False
    if re.match(r"primitive_computation|lazy_force", module_name):
        return True
    name = function_name(module_name)
    if name.startswith("_"):
        return not name.startswith(("_lambda", "_unnamed"))
    return name in _JAX_HELPERS


def _read_start(path: Path) -> tuple[bytes, int]:
    """Return the part of the text that is looked at, and the size of the whole in bytes."""
    with path.open("rb") as stream:
        size = path.stat().st_size
        if path.suffix == ".gz":
            try:
                with gzip.open(stream) as unpacked:
                    data = unpacked.read(_HEAD_BYTES)
            except (OSError, EOFError, zlib.error):
                return b"", size
            # What lies beyond is not unpacked for its size; text packs about ten to one.
            return data, len(data) if len(data) < _HEAD_BYTES else max(len(data), 10 * size)
        if size <= _COUNT_BYTES:
            data = stream.read()
            return data, len(data)
        data = stream.read(64 << 10)
        while b"\n" not in data[data.find(b"HloModule") :] and len(data) < _HEAD_BYTES:
            more = stream.read(1 << 20)
            if not more:
                break
            data += more
        return data, size


def _signature_shapes(data: bytes) -> str:
    """Return the shapes of ENTRY's signature; before 2021 the module's line has no layout."""
    match = _SIGNATURE.search(data)
    if match is None:
        return ""
    text = _LAYOUT_NOTE.sub("", match["signature"].decode("utf-8", "replace"))
    return _ARGUMENT_NAME.sub("", text)


def _layout_shapes(rest: bytes) -> str:
    start = _LAYOUT.search(rest)
    if start is None:
        return ""
    depth, position = 1, start.end()
    for brace in re.finditer(rb"[{}]", rest[start.end() :]):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            position = start.end() + brace.start()
            break
    text = rest[start.end() : position].decode("utf-8", "replace")
    return _LAYOUT_NOTE.sub("", text)
