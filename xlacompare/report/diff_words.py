"""A diff in sentences that somebody who has never seen HLO can follow.

Everything is worked out from the matching: no model, framework or kernel is known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from xlacompare.diff import Diff, KernelGroup
from xlacompare.diff.findings import Placement, placements
from xlacompare.diff.formulas import formula
from xlacompare.diff.graph import Kernel
from xlacompare.diff.matching import COMPUTED_ALIKE
from xlacompare.diff.origin import short_origin
from xlacompare.report.quantities import bytes_

# A sentence: plain words, and pieces of HLO text that each medium escapes and sets in its own way.
Sentence = tuple["str | Code", ...]
MAX_FINDINGS = 8
MAX_NAMES = 4
MAX_CONSTANTS = 4
MAX_LITERAL = 24

LEGEND = (
    "A kernel is work that the runtime starts as one step. A fusion is a kernel that XLA built out of several "
    "operations; a library kernel calls ready-made code."
)


class Code(str):
    """A piece of a program inside a sentence."""

    __slots__ = ()


def answer(diff: Diff) -> list[Sentence]:
    """Return the whole answer in a few sentences: how many kernels, why, and what each difference is."""
    if diff.identical:
        count = diff.operation_counts["left"]
        return [
            (
                f"The two programs are identical: {_kernels(len(diff.graphs[0].kernels))} on the same "
                f"{_count(count, 'operation')}.",
            )
        ]
    sentences: list[Sentence] = [_kernel_sentence(diff), _operation_sentence(diff), *_bytes_sentence(diff)]
    found = placements(diff)
    sentences += [_placement_sentence(diff, one) for one in found[:MAX_FINDINGS]]
    if len(found) > MAX_FINDINGS:
        rest = sum(len(one.nodes) for one in found[MAX_FINDINGS:])
        sentences.append((f"{_count(rest, 'more operation')} stand in other kernels: see the table.",))
    sentences += _constant_sentences(diff)
    for side in (0, 1):
        sentences += _only_sentence(diff, side)
    return sentences


def _kernel_sentence(diff: Diff) -> Sentence:
    left, right = (len(graph.kernels) for graph in diff.graphs)
    names = diff.labels
    looped = any(kernel.scope for graph in diff.graphs for kernel in graph.kernels)
    note = " (a loop's body counted once)" if looped else ""
    if left == right:
        both = f"Both launch {_kernels(left)}{note}"
        same = sum(1 for group in diff.groups if group.verdict in ("identical", "same_operations"))
        if same == len(diff.groups):
            return (f"{both}, of the same operations each.",)
        return (f"{both}, of which {same} hold the same operations on both sides." if same else f"{both}.",)
    more = 0 if left > right else 1
    reasons = _reasons(diff, more)
    return (
        f"{names[0]} launches {_kernels(left)}, {names[1]} {right}{note}: "
        f"{abs(left - right)} more in {names[more]}{reasons}.",
    )


def _reasons(diff: Diff, more: int) -> str:
    """Say what the difference of kernel counts is made of, each kind of group with its share."""
    shares: Counter[str] = Counter()
    for group in diff.groups:
        extra = (len(group.left) - len(group.right)) * (1 if more == 0 else -1)
        if extra:
            shares[_reason(diff, group, more, extra)] += extra
    if not shares:
        return ""
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return " (" + "; ".join(f"{share:+d} {reason}" for reason, share in ordered) + ")"


def _reason(diff: Diff, group: KernelGroup, more: int, extra: int) -> str:
    side = more if extra > 0 else 1 - more
    name, other = diff.labels[side], diff.labels[1 - side]
    kernels = diff.kernels(group, side)
    if group.verdict in ("left_only", "right_only"):
        if all(kernel.kernel_class == "copy" for kernel in kernels):
            return f"copies that {name} alone makes"
        return f"for operations that {name} alone has"
    if group.verdict in ("merged", "split"):
        return f"where {name} splits what {other} runs in one kernel"
    return f"where {name} groups the same work differently"


def _operation_sentence(diff: Diff) -> Sentence:
    counts = diff.operation_counts
    names = diff.labels
    constants = len(diff.revalued)
    but = f", but for the value of {_count(constants, 'constant')}" if constants else ""
    if not counts["left_only"] and not counts["right_only"]:
        moved = any(group.verdict not in ("identical", "same_operations") for group in diff.groups)
        boundaries = "; only where the kernels' boundaries run differs" if moved and not but else ""
        return (f"They compute the same {_count(counts['matched'], 'operation')}{but}{boundaries}.",)
    return (
        f"Of {names[0]}'s {counts['left']} and {names[1]}'s {counts['right']} operations {counts['matched']} are the "
        f"same{but}; {counts['left_only']} exist in {names[0]} alone, {counts['right_only']} in {names[1]} alone.",
    )


def _bytes_sentence(diff: Diff) -> list[Sentence]:
    """Say what the kernels' boundaries cost: every one of them is written to memory and read again."""
    left, right = diff.total_bytes
    if left == right:
        return []
    names = diff.labels
    return [
        (f"{names[0]}'s kernels read and write {bytes_(left)} of memory in all, {names[1]}'s {bytes_(right)}.",),
    ]


def _constant_sentences(diff: Diff) -> list[Sentence]:
    """Say which constants stand at the same place with another value: a rate, an epsilon, a scale."""
    sentences: list[Sentence] = []
    for node in diff.revalued[:MAX_CONSTANTS]:
        sentence: Sentence = ()
        for side, each in enumerate((node, diff.matching.to_right[node])):
            kernels = diff.constant_kernels[side][each]
            where: Sentence = (" in ", *_names(kernels)) if kernels else ()
            literal = diff.graphs[side].instructions[each].literal or "?"
            sentence += ("; " if side else "", f"{diff.labels[side]}: ", Code(_shortened(literal)), *where)
        sentences.append(("A constant differs. ", *sentence, "."))
    if len(diff.revalued) > MAX_CONSTANTS:
        sentences.append((f"{_count(len(diff.revalued) - MAX_CONSTANTS, 'more constant')} differ in value.",))
    return sentences


def _shortened(literal: str) -> str:
    return literal if len(literal) <= MAX_LITERAL else f"{literal[:MAX_LITERAL]}…"


def _placement_sentence(diff: Diff, placement: Placement) -> Sentence:
    subject = _subject(diff, placement.nodes)
    first = 1 if placement.alone[1] and not placement.alone[0] else 0
    return (
        *subject,
        ": ",
        *_where(diff, placement, first),
        "; ",
        *_where(diff, placement, 1 - first),
        ".",
    )


def _subject(diff: Diff, nodes: Sequence[int]) -> Sentence:
    """Name a set of operations: by the formula of the last where both sides compute it by that, and their opcodes."""
    graph = diff.graphs[0]
    telling = [node for node in nodes if graph.instructions[node].opcode != "broadcast"] or list(nodes)
    text = formula(diff, 0, telling[-1])
    partner = diff.matching.to_right[telling[-1]]
    if diff.matching.how.get(telling[-1]) != COMPUTED_ALIKE and text != formula(diff, 1, partner):
        text = None
    opcodes = opcode_list([graph.instructions[node].opcode for node in telling])
    if text is None:
        return (opcodes,)
    return (Code(text), f" ({opcodes})")


def _where(diff: Diff, placement: Placement, side: int) -> Sentence:
    kernels = [diff.graphs[side].kernels[index] for index in placement.kernels[side]]
    name = diff.labels[side]
    if len(kernels) > 1:
        return (f"{name} computes it again in each of {len(kernels)} kernels, ", *_names(kernels))
    kernel = kernels[0]
    library = ", a library call" if kernel.kernel_class == "library" else ""
    if placement.alone[side]:
        return (f"{name} runs it as a kernel of its own, ", Code(kernel.name), library)
    verb = "recomputes" if placement.recomputed[side] else "computes"
    if len(diff.graphs[side].kernels) == 1:
        return (f"{name} {verb} it inside its single kernel, ", Code(kernel.name))
    companion = placement.companions[side]
    if companion is None:
        return (f"{name} {verb} it inside ", Code(kernel.name), library)
    together = diff.graphs[side].instructions[companion].opcode
    text = formula(diff, side, companion)
    beside: Sentence = (Code(text), f" ({together})") if text else (f"the {together}",)
    return (f"{name} {'recomputes' if verb == 'recomputes' else 'fuses'} it with ", *beside, " in ", Code(kernel.name))


def _only_sentence(diff: Diff, side: int) -> list[Sentence]:
    """Say what one side alone computes, and where in the user's program that comes from."""
    nodes = [node for node in diff.matching.unmatched(side) if not diff.trivial[side][node]]
    if not nodes:
        return []
    graph = diff.graphs[side]
    opcodes = opcode_list([graph.instructions[node].opcode for node in nodes])
    origins = Counter(where for node in nodes if (where := short_origin(graph.instructions[node])) is not None)
    sentence: Sentence = (f"Only {diff.labels[side]}: {opcodes}",)
    if origins:
        common = sorted(origins.items(), key=lambda item: (-item[1], item[0]))[:3]
        sentence += (", from ", *_joined([Code(where) for where, _ in common]))
    return [(*sentence, ".")]


def opcode_list(opcodes: Iterable[str], limit: int = 8) -> str:
    """Return opcodes in order of first occurrence, repeated ones counted.

    >>> opcode_list(["multiply", "reduce", "multiply"])
    '2 multiply, reduce'
    """
    counts = Counter(opcodes)
    parts = [f"{count} {opcode}" if count > 1 else opcode for opcode, count in counts.items()]
    return ", ".join(parts[:limit]) + (f" and {len(parts) - limit} more kinds" if len(parts) > limit else "")


def _names(kernels: Sequence[Kernel]) -> Sentence:
    shown: list[str | Code] = [Code(kernel.name) for kernel in kernels[:MAX_NAMES]]
    if len(kernels) > MAX_NAMES:
        shown.append(f"{len(kernels) - MAX_NAMES} more")
    return _joined(shown)


def _joined(parts: Sequence[str | Code]) -> Sentence:
    sentence: list[str | Code] = []
    for index, part in enumerate(parts):
        if index:
            sentence.append(" and " if index == len(parts) - 1 else ", ")
        sentence.append(part)
    return tuple(sentence)


def _kernels(count: int) -> str:
    return _count(count, "kernel")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
