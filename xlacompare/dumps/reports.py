"""The reports that XLA writes beside a module's text: buffers, options in force, the list of launches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xlacompare.dumps.folder import DumpedModule

_ALLOCATION = re.compile(r"^allocation (\d+): (?:0x[0-9a-f]+, )?size (\d+)(?:B\b[^,]*)?([^\n]*)", re.MULTILINE)
_TOTAL = re.compile(r"^Total bytes(?: used)?: (\d+)", re.MULTILINE)
_OPTION = re.compile(r"^(xla_\w+): (.*)$", re.MULTILINE)
_SCHEDULE_LINE = re.compile(r"^(k[A-Z]\w*)\s+%?([\w.-]+)")
_SEQUENCE_LINE = re.compile(r"^(?P<indent>\s*)(?:\d+: )?(?P<kind>k[A-Z]\w*)\b(?P<rest>.*)$")
_ANNOTATION = re.compile(r"profile_annotation=%?([\w.-]+)")

# Steps of a newer listing that only hold others; what they hold is indented under them.
_CONTAINERS = frozenset({"kSequential", "kCommandBuffer", "kWhile", "kConditional", "kAsyncStart"})
# Steps that put nothing on the device.
_NO_LAUNCH = re.compile(r"k\w*Done$|kPartitionId$|kReplicaId$|kWaitForStreams$|kHostExecuteDone$")


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How much memory a module's buffers take, in bytes, from XLA's buffer assignment.

    Attributes:
        total_bytes: all allocations; arguments, results and what is needed in between.
        argument_bytes: buffers that hold arguments.
        output_bytes: buffers that hold results, those included that an argument was donated to.
        alias_bytes: buffers that are both.
        temp_bytes: scratch in between, after buffers that are not alive at the same time were laid over one another.
        constant_bytes: constants of the program that the device keeps.
    """

    total_bytes: int
    argument_bytes: int
    output_bytes: int
    alias_bytes: int
    temp_bytes: int
    constant_bytes: int

    @property
    def peak_bytes(self) -> int:
        """Arguments, results and scratch, what is both argument and result counted once."""
        return self.argument_bytes + self.output_bytes + self.temp_bytes - self.alias_bytes


@dataclass(frozen=True, slots=True)
class Thunk:
    """One line of a list of launches.

    Attributes:
        kind: XLA's word for it, "kKernel", "kGemm", "kCustomCall", ….
        name: the instruction that it runs, None where the line does not say.
        depth: 0 for a step of the program, more for a step inside another.
    """

    kind: str
    name: str | None
    depth: int

    @property
    def is_container(self) -> bool:
        """Whether it does nothing but run the steps listed under it."""
        return self.kind in _CONTAINERS

    @property
    def launches(self) -> bool:
        """Whether it puts work on the device itself."""
        return not self.is_container and not _NO_LAUNCH.match(self.kind)


@dataclass(frozen=True, slots=True)
class ThunkListing:
    """What XLA's GPU compiler lists as the steps of the executable, in order.

    Attributes:
        path: the file.
        form: "schedule" for `*.thunk_schedule` (2020), a line an instruction; "sequence" for
            `*.thunk_sequence.txt` (since 2024), where one instruction may be several lines.
        thunks: its lines.
    """

    path: Path
    form: str
    thunks: tuple[Thunk, ...]

    @property
    def steps(self) -> int:
        """How many steps the program itself has, those inside others left out."""
        return sum(thunk.depth == 0 for thunk in self.thunks)

    @property
    def launches(self) -> int:
        """How many lines put work on the device. In a schedule every line is one."""
        if self.form == "schedule":
            return len(self.thunks)
        return sum(thunk.launches for thunk in self.thunks)


def memory_use(module: DumpedModule) -> MemoryUse | None:
    """Return what the module's buffer assignment says, or None where the folder has none.

    Every era writes the assignment's `allocation` lines; only the layout of the separate memory report has changed.

    Raises:
        OSError: a file cannot be read.
    """
    for path in module.files.get("buffer_assignment", ()):
        return parse_buffer_assignment(path.read_text(encoding="utf-8", errors="replace"))
    return None


def parse_buffer_assignment(text: str) -> MemoryUse | None:
    """Return the sums over a buffer assignment's allocations, None where the text has none."""
    sizes = {"argument": 0, "output": 0, "alias": 0, "temp": 0, "constant": 0}
    allocations = {number: (int(size), rest) for number, size, rest in _ALLOCATION.findall(text)}
    if not allocations:
        return None
    for size, rest in allocations.values():
        is_argument, is_output = ", parameter " in rest, "maybe-live-out" in rest
        sizes["argument"] += size * is_argument
        sizes["output"] += size * is_output
        sizes["alias"] += size * (is_argument and is_output)
        sizes["temp"] += size * ("preallocated-temp" in rest and not is_output)
        sizes["constant"] += size * (", constant" in rest)
    return MemoryUse(
        total_bytes=sum(size for size, _ in allocations.values()),
        **{f"{name}_bytes": size for name, size in sizes.items()},
    )


def reported_total_bytes(module: DumpedModule) -> int | None:
    """Return the total of the module's memory-usage report over all memory spaces, None where there is none.

    Raises:
        OSError: a file cannot be read.
    """
    for path in module.files.get("memory_usage", ()):
        if path.suffix == ".txt":
            totals = _TOTAL.findall(path.read_text(encoding="utf-8", errors="replace"))
            return sum(map(int, totals)) if totals else None
    return None


def debug_options(module: DumpedModule) -> Mapping[str, str]:
    """Return XLA's options that were not at their default when it compiled the module; empty where none is told.

    Raises:
        OSError: a file cannot be read.
    """
    for path in module.files.get("debug_options", ()):
        return parse_debug_options(path.read_text(encoding="utf-8", errors="replace"))
    return {}


def parse_debug_options(text: str) -> dict[str, str]:
    """Return name and value of each option, strings without their quotes, repeated options joined by commas.

    >>> parse_debug_options('xla_dump_to: "/tmp/d"\\nxla_detailed_logging: false\\n')
    {'xla_dump_to': '/tmp/d', 'xla_detailed_logging': 'false'}
    """
    options: dict[str, str] = {}
    for name, value in _OPTION.findall(text):
        value = value.strip().strip('"')
        options[name] = f"{options[name]},{value}" if name in options else value
    return options


def thunk_listing(module: DumpedModule) -> ThunkListing | None:
    """Return the module's list of launches, None where the folder has none; CPU modules never do.

    Raises:
        OSError: a file cannot be read.
    """
    # Newer compilers write the list twice; the one after all passes is what runs.
    paths = sorted(module.files.get("thunks", ()), key=lambda path: "after_thunk_passes" not in path.name)
    for path in paths:
        return parse_thunks(path.read_text(encoding="utf-8", errors="replace"), path)
    return None


def parse_thunks(text: str, path: Path) -> ThunkListing:
    """Return the lines of either form of list; a schedule's part about dependencies is left out."""
    thunks: list[Thunk] = []
    if text.lstrip().startswith("Total order:"):
        order = text.partition("Total order:")[2].partition("\nDependencies:")[0]
        for line in order.splitlines():
            if match := _SCHEDULE_LINE.match(line):
                thunks.append(Thunk(match[1], match[2], 0))
        return ThunkListing(path, "schedule", tuple(thunks))
    indents: list[int] = []
    for line in text.splitlines():
        if match := _SEQUENCE_LINE.match(line):
            indent = len(match["indent"].expandtabs())
            while indents and indents[-1] >= indent:
                indents.pop()
            thunks.append(Thunk(match["kind"], _instruction(match["rest"]), len(indents)))
            indents.append(indent)
    return ThunkListing(path, "sequence", tuple(thunks))


def _instruction(rest: str) -> str | None:
    # Until 2024 the annotation stood alone after the kind; since then it is one of several key=value pairs.
    if match := _ANNOTATION.search(rest):
        return match[1]
    words = rest.split()
    return words[0].lstrip("%") if len(words) == 1 and re.fullmatch(r"%?[\w.-]+", words[0]) else None
