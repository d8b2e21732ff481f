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
CONSTANTS = "constants"
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
        r"stateless_random|random_split|StatelessRandom|(?:^|loop_body/)strided_slice(?:_\d+)?\b",
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
    Reason("softmax", r"softmax\(", r"Softmax|gradient_tape/(loop_body/)?sub\b"),
    Reason("mask", r"tril|jnp\.where\(causal", r"BandPart|SelectV2"),
    Reason("slices", r"qkv\[", r"unstack|stack"),
    Reason("convolutions", r"conv_general_dilated", r"Conv2D"),
    Reason("convolutions", r"", r"", frozenset({"convolution"})),
    # XLA expands the gradient of a maximum's window into windows that carry indices along.
    Reason(
        "max-pool",
        r"^\(?(f32\[[\d,]+\], )?s32",
        r"^\(?(f32\[[\d,]+\], )?s32",
        frozenset({"reduce-window", "concatenate"}),
    ),
    Reason(
        "clipping",
        r"in clip\b|< clip <",
        r"(?:loop_body|while)/(?:pow|Sum|AddN|Sqrt|truediv|Maximum)",
    ),
    Reason(
        "tanh and sigmoid",
        r"(?:tanh|sigmoid)\(",
        r"TanhGrad|SigmoidGrad|(?:gradient_tape|gradients)/\S*mul(?:_\d+)?(?:_grad)?/Mul",
    ),
    Reason("batched products", r"@ params|einsum", r"matmul|MatMul|einsum|Einsum"),
    Reason("batched products", r"", r"", frozenset({"dot"})),
    Reason("loops", r"while/|lax\.scan", r"while|TensorList|TensorArray|/pfor/AddV2$"),
    Reason("sums of gradients", r"add_any", r"AddN"),
    Reason(
        "mean and step",
        r"in (?:<lambda> < )?(?:sgd|add_noise|dp_train_step)\b",
        r"^(?:mul|add|sub|truediv|Sum|zeros_like)(?:_\d+)?$",
    ),
)


def describe(instruction: Instruction) -> str:
    """Return what the framework noted beside an operation, with the user's source line if it has one; or its shape."""
    name = str(instruction.metadata.get("op_name") or "")
    # TensorFlow's frames are all its own.
    frames = [frame for frame in instruction.source_frames if frame.file and frame.function]
    if not frames:
        return name or str(instruction.shape)
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
    return Counter(reason_of_each(found, side, framework).values())


def reason_of_each(found: Diff, side: int, framework: str) -> dict[int, str]:
    """Return each unmatched operation of a side with its reason."""
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
            if other not in told and not graph.instructions[other].source_frames:
                told[other] = told[node]
                queue.append(other)
    # What is left of constants feeds operations that are matched: the same formula with another number in it.
    trivial = found.trivial[side]
    return {node: told.get(node, CONSTANTS if trivial[node] else UNEXPLAINED) for node in unmatched}
