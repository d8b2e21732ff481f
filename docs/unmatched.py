"""Why an operation has no partner on the other side: the reasons that docs/findings.md explains, and how each is told.

An operation is told by what its framework notes beside it: JAX the names of its transformations and the stack of Python
calls, whose source line is looked up; TensorFlow the name of the operation. What carries no note, as what XLA itself
made, is counted with the operations that it reads or that read it.
"""

from __future__ import annotations

import functools
import linecache
import re
from collections import Counter, deque
from dataclasses import dataclass

from xlacompare.diff import Diff
from xlacompare.diff.graph import Kind
from xlacompare.hlo import Instruction

UNEXPLAINED = "unexplained"
# Nothing but random bits is unsigned in these models.
RANDOM_TYPES = ("u32", "u64")
NEVER = r"(?!)"
CLASS_OPCODES = frozenset({"iota", "compare", "and", "select"})


@dataclass(frozen=True)
class Reason:
    """One reason, and how to tell it.

    Attributes:
        title: of its section in docs/findings.md, in short.
        jax, tensorflow: what is found in an operation's description.
        opcodes: it is one of these; none is any.
    """

    title: str
    jax: str
    tensorflow: str
    opcodes: frozenset[str] = frozenset()


# The first that fits counts.
REASONS = (
    Reason(
        "random numbers",
        r"threefry|jax\.random|_normal|_uniform|bernoulli",
        r"stateless_random|random_split|StatelessRandom",
    ),
    Reason("class numbers", r"take_along_axis", r"SparseSoftmaxCrossEntropy", CLASS_OPCODES),
    Reason("class numbers", r"take_along_axis", NEVER),
    Reason("log-softmax", r"log_softmax|softmax_cross_entropy", r"softmax_cross_entropy|SoftmaxCrossEntropy"),
    Reason("logistic loss", r"sigmoid_cross_entropy", r"logistic_loss"),
    Reason("GELU", r"gelu\(", r"Gelu"),
    Reason(
        "normalisation",
        r"in (layer_norm|conv_norm|layer)\b.*(rsqrt\(|\.mean\(|\.var\(|_var|normalised)",
        r"batchnorm|moments",
    ),
    Reason("negative indices", r"\[\"embedding\"\]\[x\]", r"[Gg]ather|IndexedSlices|UnsortedSegment"),
    Reason("softmax", r"softmax\(", r"Softmax"),
    Reason("mask", r"tril|jnp\.where\(causal", r"BandPart|SelectV2"),
    Reason("slices", r"qkv\[", r"unstack|stack"),
    Reason("batched products", r"@ params|einsum", r"matmul|MatMul|einsum|Einsum"),
    Reason("loops", r"while/|lax\.scan", r"while|TensorList|TensorArray"),
    Reason("clipping", r"in \S*clip\b|< clip ", r"pfor|PartitionedCall|clip"),
    Reason("sums of gradients", r"add_any", r"AddN"),
)


def describe(instruction: Instruction) -> str:
    """Return what the framework noted beside an operation, with the user's source line where it names one."""
    name = str(instruction.metadata.get("op_name") or "")
    # TensorFlow's frames are all its own.
    frames = [frame for frame in instruction.source_frames if frame.file and frame.function]
    if not frames:
        return name
    where = frames[0]
    functions = " < ".join(frame.function.rsplit(".", 1)[-1] for frame in frames)
    return f"{name} in {functions}: {source_line(where.file, where.line)}"


@functools.cache
def source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


def reason(instruction: Instruction, framework: str) -> str | None:
    """Return the title of the first reason that fits; None for an operation without a note, or that nothing fits."""
    if instruction.shape.element_type in RANDOM_TYPES:
        return REASONS[0].title
    text = describe(instruction)
    for one in REASONS:
        if one.opcodes and instruction.opcode not in one.opcodes:
            continue
        if re.search(getattr(one, framework), text):
            return one.title
    return None


def reasons(found: Diff, side: int, framework: str) -> Counter[str]:
    """Return how many unmatched operations of a side each reason explains."""
    graph = found.graphs[side]
    unmatched = found.matching.unmatched(side)
    told = {node: title for node in unmatched if (title := reason(graph.instructions[node], framework))}
    beside: dict[int, list[int]] = {node: [] for node in unmatched}
    for node, kind in enumerate(graph.kinds):
        if kind == Kind.PARAMETER:
            continue
        for operand in graph.operands[node]:
            if node in beside and operand in beside:
                beside[node].append(operand)
                beside[operand].append(node)
    # An operation without a note belongs to the nearest that has one.
    queue = deque(told)
    while queue:
        node = queue.popleft()
        for other in beside[node]:
            if other not in told and not describe(graph.instructions[other]):
                told[other] = told[node]
                queue.append(other)
    return Counter(told.get(node, UNEXPLAINED) for node in unmatched)
