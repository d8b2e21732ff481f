"""Which kernels on the left do the work of which on the right, and the verdict on each group of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xlacompare.diff.graph import Graph, Kernel, Kind
from xlacompare.diff.matching import OTHER_VALUE, Matching
from xlacompare.hlo import Instruction

# Two kernels are a pair when they share at least this much of the smaller one's work.
LEAST_SHARE = 0.3
# An operation that stands in very many kernels says nothing about which kernel is which.
MAX_PLACES = 1024
# How many readers of a kernel are looked at to tell it from its equals.
MAX_READERS = 64


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """Kernels that do the same work, and what differs between the sides.

    Attributes:
        verdict: "identical", "same_operations", "merged" (n to 1), "split" (1 to n), "regrouped" (boundaries drawn
            otherwise), "left_only" or "right_only".
        left, right: indices of kernels, in schedule order.
        matched: left nodes that stand in the group on both sides.
        left_only, right_only: nodes of the group that have no partner at all.
        left_moved, right_moved: matched nodes of the group whose partner stands in kernels of other groups alone.
        notes: why kernels of the same operations are not identical: "library", "fusion kind", "layout", "repeated", …
    """

    verdict: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    matched: tuple[int, ...]
    left_only: tuple[int, ...]
    right_only: tuple[int, ...]
    left_moved: tuple[int, ...]
    right_moved: tuple[int, ...]
    notes: tuple[str, ...]


def trivial_nodes(graph: Graph) -> list[bool]:
    """Return per node whether it costs nothing to repeat: constants, iotas and broadcasts of them."""
    trivial = [False] * len(graph)
    for node, kind in enumerate(graph.kinds):
        if kind != Kind.OPERATION:
            continue
        opcode = graph.instructions[node].opcode
        trivial[node] = opcode in ("constant", "iota") or (
            opcode in ("broadcast", "convert") and all(trivial[operand] for operand in graph.operands[node])
        )
    return trivial


class _Grouping:
    """Union of kernels: left ones are counted from 0, right ones after them."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.count_left = len(matching.left.kernels)
        self.parents = list(range(self.count_left + len(matching.right.kernels)))
        self.overlap: dict[tuple[int, int], float] = {}
        self.sizes = [0.0] * len(self.parents)

    def find(self, kernel: int) -> int:
        while self.parents[kernel] != kernel:
            self.parents[kernel] = self.parents[self.parents[kernel]]
            kernel = self.parents[kernel]
        return kernel

    def join(self, one: int, other: int) -> None:
        self.parents[self.find(other)] = self.find(one)

    def weigh(self, trivial: Sequence[bool]) -> None:
        """Work out how much work every kernel does and every two kernels share."""
        matching = self.matching
        overlap: dict[tuple[int, int], float] = defaultdict(float)
        for node, kind in enumerate(matching.left.kinds):
            if kind != Kind.OPERATION:
                continue
            places = sorted(set(matching.left.places[node]) - {-1})
            partner = matching.to_right[node]
            others = sorted(set(matching.right.places[partner]) - {-1}) if partner >= 0 else []
            weight = (0.01 if trivial[node] else 1.0) / max(len(places), len(others), 1)
            for place in places:
                self.sizes[place] += weight
            for other in others:
                self.sizes[self.count_left + other] += weight
            if len(places) * len(others) <= MAX_PLACES:
                for place in places:
                    for other in others:
                        overlap[place, self.count_left + other] += weight
        for node in matching.unmatched(1):
            places = sorted(set(matching.right.places[node]) - {-1})
            for place in places:
                self.sizes[self.count_left + place] += 1.0 / len(places)
        self.overlap = dict(overlap)

    def share(self, pair: tuple[int, int]) -> float:
        return self.overlap[pair] / max(min(self.sizes[pair[0]], self.sizes[pair[1]]), 1e-9)

    def likeness(self, pair: tuple[int, int]) -> float:
        return 2 * self.overlap[pair] / max(self.sizes[pair[0]] + self.sizes[pair[1]], 1e-9)

    def group(self, equals: set[int]) -> None:
        """Pair the kernels that are most alike, then put every other kernel to the one that shares most of its work."""
        paired = set(equals)
        for pair in sorted(self.overlap, key=lambda pair: (-round(self.likeness(pair), 9), pair)):
            if paired.isdisjoint(pair) and self.share(pair) >= LEAST_SHARE:
                paired.update(pair)
                self.join(*pair)
        # A kernel that already has its equal is the last to take another one in.
        best: dict[int, tuple[bool, float, int]] = {}
        for (left, right), shared in self.overlap.items():
            for kernel, other in ((left, right), (right, left)):
                if kernel not in paired:
                    best[kernel] = max(best.get(kernel, (False, 0.0, 0)), (other not in equals, shared, -other))
        for kernel, (_, shared, other) in sorted(best.items()):
            if shared > 0.009 * LEAST_SHARE:
                self.join(-other, kernel)

    def pair_equals(self) -> set[int]:
        """Pair kernels that hold the same operations, those of equal readers first; return all that were paired."""
        matching = self.matching
        classes: dict[tuple[object, ...], tuple[list[Kernel], list[Kernel]]] = defaultdict(lambda: ([], []))
        contents: tuple[dict[Instruction, tuple[object, ...]], ...] = ({}, {})
        for side, graph in enumerate((matching.left, matching.right)):
            for kernel in graph.kernels:
                content = _content(kernel, matching.to_right if side == 0 else None)
                classes[content][side].append(kernel)
                contents[side][kernel.instruction] = content
        paired: set[int] = set()
        for ours, theirs in classes.values():
            if not ours or not theirs:
                continue
            pairs = list(zip(ours, theirs, strict=False))
            if len(ours) > 1 or len(theirs) > 1:
                pairs = _by_readers(ours, theirs, contents)
            for one, other in pairs:
                self.join(one.index, self.count_left + other.index)
                paired.update((one.index, self.count_left + other.index))
        return paired

    def groups(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        found: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for kernel in range(len(self.parents)):
            side = int(kernel >= self.count_left)
            found[self.find(kernel)][side].append(kernel - side * self.count_left)
        pairs = [(tuple(left), tuple(right)) for left, right in found.values()]
        # Schedule order on the left; a group without a left kernel stands where its right kernel would.
        scale = self.count_left / max(len(self.matching.right.kernels), 1)
        return sorted(pairs, key=lambda pair: (pair[0][0] if pair[0] else pair[1][0] * scale, pair))


def _content(kernel: Kernel, to_right: Sequence[int] | None) -> tuple[object, ...]:
    """Return what a kernel holds, in the right side's nodes: its operations, or what it moves where it has none."""
    nodes: Sequence[int] = kernel.operations or kernel.inputs
    if to_right is not None:
        nodes = [to_right[node] for node in nodes]
    return (tuple(sorted(nodes)) if kernel.operations else tuple(nodes), kernel.kernel_class == "copy")


def _by_readers(
    ours: list[Kernel], theirs: list[Kernel], contents: tuple[dict[Instruction, tuple[object, ...]], ...]
) -> list[tuple[Kernel, Kernel]]:
    """Pair kernels of equal content: those whose readers are of equal content too, then in order."""
    waiting: dict[object, list[Kernel]] = defaultdict(list)
    for kernel in reversed(theirs):
        waiting[_readers(kernel, contents[1])].append(kernel)
    pairs, rest = [], []
    for kernel in ours:
        partners = waiting.get(_readers(kernel, contents[0]))
        if partners:
            pairs.append((kernel, partners.pop()))
        else:
            rest.append(kernel)
    taken = {id(other) for _, other in pairs}
    return pairs + list(zip(rest, [kernel for kernel in theirs if id(kernel) not in taken], strict=False))


def _readers(kernel: Kernel, contents: dict[Instruction, tuple[object, ...]]) -> object:
    """Return a hash of what reads a kernel's value in its own computation; renamings are looked through."""
    found = 0
    stack = [kernel.instruction]
    seen: set[Instruction] = set()
    while stack and len(seen) < MAX_READERS:
        instruction = stack.pop()
        if instruction.is_root:
            found += hash("root")
        for user in instruction.users:
            if user in seen:
                continue
            seen.add(user)
            if user in contents:
                found += hash((2, contents[user]))
            else:
                stack.append(user)
    return found


def group_kernels(matching: Matching) -> list[KernelGroup]:
    """Return every kernel of either side in exactly one group, in the left side's schedule order."""
    grouping = _Grouping(matching)
    trivial = trivial_nodes(matching.left), trivial_nodes(matching.right)
    equals = grouping.pair_equals()
    grouping.weigh(trivial[0])
    grouping.group(equals)
    return [_judge(matching, left, right, trivial) for left, right in grouping.groups()]


def _judge(
    matching: Matching,
    left: tuple[int, ...],
    right: tuple[int, ...],
    trivial: tuple[Sequence[bool], Sequence[bool]],
) -> KernelGroup:
    held = [
        list(dict.fromkeys(node for index in indices for node in graph.kernels[index].operations))
        for graph, indices in ((matching.left, left), (matching.right, right))
    ]
    inside = set(held[0]), set(held[1])
    matched = [node for node in held[0] if matching.to_right[node] in inside[1]]
    only: list[tuple[int, ...]] = []
    moved: list[tuple[int, ...]] = []
    for side, partner in enumerate((matching.to_right, matching.to_left)):
        only.append(tuple(node for node in held[side] if partner[node] < 0))
        moved.append(
            tuple(
                node
                for node in held[side]
                if partner[node] >= 0 and partner[node] not in inside[1 - side] and not trivial[side][node]
            )
        )
    notes: tuple[str, ...] = ()
    if len(left) == len(right) == 1:
        if any(only) or any(moved):
            verdict = "regrouped"
        else:
            notes = _differences(matching, left[0], right[0], held)
            verdict = "same_operations" if notes else "identical"
    elif not right:
        verdict = "left_only"
    elif not left:
        verdict = "right_only"
    elif len(right) == 1:
        verdict = "merged"
    elif len(left) == 1:
        verdict = "split"
    else:
        verdict = "regrouped"
    return KernelGroup(verdict, left, right, tuple(matched), only[0], only[1], moved[0], moved[1], notes)


def _differences(matching: Matching, left: int, right: int, held: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return what keeps two kernels of the same operations from being identical."""
    graphs = matching.left, matching.right
    one, other = graphs[0].kernels[left], graphs[1].kernels[right]
    notes = []
    if one.kernel_class != other.kernel_class:
        notes.append("class")
    if one.instruction.opcode != other.instruction.opcode or _library(one) != _library(other):
        notes.append("packing")
    elif one.instruction.fusion_kind != other.instruction.fusion_kind:
        notes.append("fusion kind")
    to_right = matching.to_right
    inside = set(held[0])
    # What is read from outside is the other kernel's affair, but for constants: those stand in no kernel.
    unlike = [node for node in (*held[0], *one.inputs) if _is_unlike(matching, node)]
    revalued = [node for node in unlike if matching.how.get(node) == OTHER_VALUE]
    if any(node not in revalued for node in unlike if node in inside):
        notes.append("shape")
    if revalued or {to_right[node] for node in held[0]} != set(held[1]):
        notes.append("constants")
    if any(not _wired_alike(matching, node, inside) for node in held[0]):
        notes.append("operands")
    counts = [
        sum(graph.places[node].count(index) for node in nodes)
        for graph, index, nodes in ((graphs[0], left, held[0]), (graphs[1], right, held[1]))
    ]
    if counts[0] != counts[1] and "constants" not in notes:
        notes.append("repeated")
    if [to_right[node] for node in one.outputs] != list(other.outputs) and {
        to_right[node] for node in one.outputs
    } != set(other.outputs):
        notes.append("outputs")
    if _layouts(one) != _layouts(other):
        notes.append("layout")
    return tuple(notes)


def _is_unlike(matching: Matching, node: int) -> bool:
    """Whether an operation's partner, if it has one, differs from it in shape or in value."""
    partner = matching.to_right[node]
    return partner < 0 or matching.left.labels[node] != matching.right.labels[partner]


def _wired_alike(matching: Matching, node: int, inside: set[int]) -> bool:
    """Whether an operation reads the same on both sides; anything from outside that has no partner will do."""
    partner = matching.to_right[node]
    if partner < 0:
        return True
    operands = matching.left.operands[node]
    ours = [matching.to_right[operand] for operand in operands]
    theirs = list(matching.right.operands[partner])
    if matching.left.commutative[node]:
        ours.sort()
        theirs.sort()
        strangers = [operand for operand in operands if matching.to_right[operand] < 0 and operand not in inside]
        extra = [other for other in theirs if matching.to_left[other] < 0]
        if strangers and len(strangers) == len(extra):
            ours = [other for other in ours if other >= 0]
            theirs = [other for other in theirs if matching.to_left[other] >= 0]
        return ours == theirs
    return len(ours) == len(theirs) and all(
        one == other or (one < 0 and operand not in inside and matching.to_left[other] < 0)
        for operand, one, other in zip(operands, ours, theirs, strict=True)
    )


def _library(kernel: Kernel) -> object:
    config = kernel.instruction.backend_config if kernel.instruction.fusion_kind == "kCustom" else None
    if isinstance(config, dict) and isinstance(config.get("fusion_config"), dict):
        return config["fusion_config"].get("kind")
    return kernel.instruction.custom_call_target


def _layouts(kernel: Kernel) -> list[tuple[int, ...]]:
    """Return the memory order of what a kernel writes, leaving out arrays for which there is only one."""
    orders = []
    for shape in kernel.instruction.shape.leaves():
        if shape.layout is not None and sum(1 for size in shape.dimensions if size != 1) > 1:
            orders.append(shape.layout.minor_to_major)
        elif len(shape.dimensions) > 1:
            orders.append(tuple(range(len(shape.dimensions) - 1, -1, -1)))
    return sorted(orders)
