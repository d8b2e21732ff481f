"""Measured time per kernel on each side, joined to the fusion diff and to what each kernel costs on paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from xlacompare import documents
from xlacompare.bench.peaks import Peaks
from xlacompare.hlo import Module
from xlacompare.hlo.cost import instruction_cost
from xlacompare.kernels import Kernel, kernels
from xlacompare.results import Result

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import RenderableType

# What every kernel is made of says nothing about it.
PLAIN_OPCODES = frozenset({"parameter", "tuple", "get-tuple-element", "bitcast", "constant"})


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel of a side; seconds of one step.

    Attributes:
        name: of its instruction, as the profiler shows it.
        kernel_class: "own", "library", "copy", …
        inside: the opcodes that it computes, commonest first.
        time_s: its share of the time in which any kernel was busy.
        span_s: from its start to its end, waiting for threads and overlaps included.
        calls: how often it ran.
        flops, bytes_accessed: of all its calls; None where they are not known.
        flops_per_s, bytes_per_s: those over `time_s`.
        of_peak: the larger share of a peak that this comes to; above 1 where caches serve what memory is asked for.
        limit: "compute" or "memory", whichever peak that is.
    """

    name: str
    kernel_class: str
    inside: tuple[str, ...]
    time_s: float
    span_s: float
    calls: float
    flops: int | None = None
    bytes_accessed: int | None = None
    flops_per_s: float | None = None
    bytes_per_s: float | None = None
    of_peak: float | None = None
    limit: str | None = None

    def to_json_dict(self) -> dict[str, Any]:
        return {**asdict(self), "inside": list(self.inside)}


@dataclass(frozen=True, slots=True)
class Side:
    """One framework's step; seconds. The kernels' `time_s`, `handoff_s` and `idle_s` add up to `step_s`.

    Attributes:
        framework: "jax" or "tensorflow".
        module: the HLO module's name.
        step_s: from the call to the outputs being there, under the profiler and by its trace.
        clock_step_s: the same steps by the process's own clock.
        untraced_step_s: the same without the profiler, in the same process.
        busy_s: the part in which any kernel was busy.
        handoff_s: a kernel was running and all its threads were still waking up.
        idle_s: no kernel was running: dispatch, the frameworks' own work, waiting.
        kernels: the census's kernels, in schedule order.
        unseen: kernels of the census that no step ran.
        unlisted: what the trace names and the census does not, with its seconds.
        processes: each process's own "step_s", "busy_s", "steps".
        versions: of the framework.
    """

    framework: str
    module: str
    step_s: float
    clock_step_s: float
    untraced_step_s: float
    busy_s: float
    handoff_s: float
    idle_s: float
    kernels: tuple[KernelTime, ...]
    unseen: tuple[str, ...] = ()
    unlisted: Mapping[str, float] = field(default_factory=dict)
    processes: tuple[Mapping[str, Any], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def unaccounted_s(self) -> float:
        """The part of the step that no kernel accounts for."""
        return self.handoff_s + self.idle_s

    def time_of(self, names: Sequence[str]) -> float:
        """Return the seconds of these kernels together."""
        wanted = set(names)
        return sum(kernel.time_s for kernel in self.kernels if kernel.name in wanted)

    def to_json_dict(self) -> dict[str, Any]:
        body = {name: getattr(self, name) for name in self.__slots__}
        return {
            **body,
            "unaccounted_s": self.unaccounted_s,
            "unaccounted_share": self.unaccounted_s / self.step_s,
            "kernels": [kernel.to_json_dict() for kernel in self.kernels],
            "unseen": list(self.unseen),
            "unlisted": dict(self.unlisted),
            "processes": [dict(process) for process in self.processes],
            "versions": dict(self.versions),
        }


@dataclass(frozen=True, slots=True)
class PairTime:
    """Kernels that do the same work on both sides, and how long; `verdict` is the diff's."""

    verdict: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    left_s: float
    right_s: float

    @property
    def difference_s(self) -> float:
        return self.right_s - self.left_s

    def to_json_dict(self) -> dict[str, Any]:
        body = {"left": list(self.left), "right": list(self.right), "difference_s": self.difference_s}
        return {"verdict": self.verdict, **body, "left_s": self.left_s, "right_s": self.right_s}


@dataclass(frozen=True)
class Profile(Result):
    """Measured time per kernel of one model and variant, in one framework or two."""

    model: str
    variant: str
    size_name: str
    size: Mapping[str, Any]
    device: str
    created: str
    sides: tuple[Side, ...]
    pairs: tuple[PairTime, ...] = ()
    peaks: Peaks | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.profile` document."""
        return documents.document(
            "profile",
            {
                "model": self.model,
                "variant": self.variant,
                "size_name": self.size_name,
                "size": dict(self.size),
                "device": self.device,
                "created": self.created,
                "environment": dict(self.environment),
                "peaks": None if self.peaks is None else self.peaks.to_json_dict(),
                "sides": [side.to_json_dict() for side in self.sides],
                "pairs": [pair.to_json_dict() for pair in self.pairs],
                "command": list(self.command),
            },
        )

    def to_pandas(self) -> DataFrame:
        """Return a row for each kernel of each side."""
        import pandas

        rows = [
            {"framework": side.framework, **kernel.to_json_dict(), "share": kernel.time_s / side.step_s}
            for side in self.sides
            for kernel in side.kernels
        ]
        return pandas.DataFrame(rows)

    def __rich__(self) -> RenderableType:
        from xlacompare.report.profile import profile_text

        return profile_text(self)


def side_of(framework: str, module: Module, answers: Sequence[Mapping[str, Any]], peaks: Peaks | None) -> Side:
    """Return one framework's side from the answers of its processes (`worker/tasks/profile.py`).

    Of each process only the middle half of the steps by duration is taken, and their means: as deaf as medians are to
    a step that met another process, and they add up. Processes are averaged.
    """
    processes = [_middle_half(answer["steps"]) for answer in answers]
    seen: Counter[str] = Counter()
    for process in processes:
        for name in process["kernels"]:
            seen[name] += 1
    count = len(processes)
    means = {
        name: [sum(process["kernels"].get(name, (0, 0, 0))[part] for process in processes) / count for part in range(3)]
        for name in seen
    }
    listed = {kernel.name: kernel for kernel in kernels(module, "reachable")}
    step_s, busy_s, handoff_s = (
        fmean(process[key] for process in processes) for key in ("step_s", "busy_s", "handoff_s")
    )
    times = tuple(_kernel_time(kernel, means.get(name, [0.0, 0.0, 0.0]), peaks) for name, kernel in listed.items())
    return Side(
        framework=framework,
        module=module.name,
        step_s=step_s,
        clock_step_s=fmean(process["clock_step_s"] for process in processes),
        untraced_step_s=fmean(answer["untraced_step_s"] for answer in answers),
        busy_s=busy_s,
        handoff_s=handoff_s,
        idle_s=step_s - busy_s - handoff_s,
        kernels=times,
        # The condition of a loop of known length is a kernel of the module that XLA never launches.
        unseen=tuple(name for name, kernel in listed.items() if name not in means and kernel.times != 0),
        unlisted={name: mean[0] for name, mean in means.items() if name not in listed},
        processes=tuple({key: process[key] for key in ("step_s", "busy_s", "steps")} for process in processes),
        versions=answers[0].get("versions", {}),
    )


def _middle_half(steps: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return the means of the steps whose duration lies in the middle half."""
    ordered = sorted(steps, key=lambda step: step[0])
    cut = len(ordered) // 4
    middle = ordered[cut : len(ordered) - cut]
    names = {name for step in middle for name in step[3]}
    parts = {
        name: tuple(fmean(step[3].get(name, (0, 0, 0))[part] for step in middle) for part in range(3)) for name in names
    }
    step_s, busy_s, handoff_s = (fmean(step[part] for step in middle) for part in range(3))
    return {
        "step_s": step_s,
        "busy_s": busy_s,
        "handoff_s": handoff_s,
        "clock_step_s": fmean(step[4] for step in middle),
        "kernels": parts,
        "steps": len(steps),
    }


def _kernel_time(kernel: Kernel, mean: Sequence[float], peaks: Peaks | None) -> KernelTime:
    time_s, span_s, calls = mean
    cost = instruction_cost(kernel.instruction)
    flops = None if cost.flops is None else round(cost.flops * calls)
    accessed = None if cost.bytes_accessed is None else round(cost.bytes_accessed * calls)
    flops_per_s = flops / time_s if flops is not None and time_s else None
    bytes_per_s = accessed / time_s if accessed is not None and time_s else None
    of_peak, limit = None, None
    if peaks is not None:
        shares = [
            (rate / peak, name)
            for rate, peak, name in (
                (flops_per_s, peaks.flops_per_s, "compute"),
                (bytes_per_s, peaks.bytes_per_s, "memory"),
            )
            if rate is not None
        ]
        of_peak, limit = max(shares, default=(None, None))
    return KernelTime(
        name=kernel.name,
        kernel_class=kernel.kernel_class,
        inside=opcodes_inside(kernel),
        time_s=time_s,
        span_s=span_s,
        calls=calls,
        flops=flops,
        bytes_accessed=accessed,
        flops_per_s=flops_per_s,
        bytes_per_s=bytes_per_s,
        of_peak=of_peak,
        limit=limit,
    )


def opcodes_inside(kernel: Kernel) -> tuple[str, ...]:
    """Return what a kernel computes, commonest opcode first: those of its fused computation, or its own."""
    computation = kernel.inside
    if computation is None:
        return (kernel.work.opcode,)
    counts = Counter(opcode for opcode in computation.opcodes if opcode not in PLAIN_OPCODES)
    return tuple(opcode for opcode, _ in counts.most_common()) or (kernel.work.opcode,)


def pair_times(groups: Sequence[Mapping[str, Any]], left: Side, right: Side) -> tuple[PairTime, ...]:
    """Return the diff's kernel groups with their times, the costliest first.

    Args:
        groups: "kernels" of an `xlacompare.diff` document.
        left, right: the two sides of that diff.
    """
    pairs = [
        PairTime(
            group["verdict"],
            tuple(group["left"]),
            tuple(group["right"]),
            left.time_of(group["left"]),
            right.time_of(group["right"]),
        )
        for group in groups
    ]
    return tuple(sorted(pairs, key=lambda pair: -max(pair.left_s, pair.right_s)))
