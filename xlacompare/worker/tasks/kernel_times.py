"""From a profiler's events to the seconds of each kernel in each step. Pure; Python 3.9.

On CPU a kernel starts on one thread, may hand parts of its work to a pool of threads, and ends where its `end:` event
is. What it is busy with is its own event and the stretches of pool threads that were asked for from there; while it
only waits for a thread to wake up, it is not busy. Where several kernels are busy at once, they share the time, so that
the kernels' seconds and the rest add up to the step.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

Interval = Tuple[float, float]
RECORD, START, STOP, END = (
    "ThreadpoolListener::Record",
    "ThreadpoolListener::StartRegion",
    "ThreadpoolListener::StopRegion",
    "end: ",
)


class Execution(NamedTuple):
    """One execution of a kernel: from its start to its end, and when it was busy in between."""

    name: str
    start_ns: float
    end_ns: float
    busy: "List[Interval]"


class Step(NamedTuple):
    """One call of the program; seconds.

    Attributes:
        step_s: from the call to the outputs being there.
        busy_s: the part in which any kernel was busy.
        handoff_s: the part in which a kernel was running and none was busy: threads waking up.
        kernels: name -> (its share of `busy_s`, from start to end, how often it ran).
    """

    step_s: float
    busy_s: float
    handoff_s: float
    kernels: "Dict[str, Tuple[float, float, int]]"


def step_times(events: "Sequence[Any]", step_name: str, module: str, containers: "Iterable[str]") -> "List[Step]":
    """Return the times of each step of a trace.

    Args:
        events: `frameworks.trace_events.TraceEvent`s.
        step_name: of the events that mark steps.
        module: only the kernels of this HLO module count.
        containers: names of calls, loops and conditionals, whose events only span those of what they run.
    """
    steps = sorted((event.start_ns, event.end_ns) for event in events if event.name.startswith(step_name))
    outer = frozenset(containers)
    executions = [each for each in kernel_executions(events, module) if each.name not in outer]
    starts = [start for start, _ in steps]
    by_step: "List[List[Execution]]" = [[] for _ in steps]
    for execution in executions:
        index = bisect_right(starts, execution.start_ns) - 1
        if index >= 0 and execution.start_ns <= steps[index][1]:
            by_step[index].append(execution)
    return [_step(span, found) for span, found in zip(steps, by_step)]


def main_module(events: "Sequence[Any]", function: str) -> "Optional[str]":
    """Return the name of the HLO module of the function in a trace; the busiest, if none bears its name.

    JAX calls it `jit_<function>`, TensorFlow `a_inference_<function>_<n>__…`.
    """
    seconds: "Dict[str, float]" = {}
    for event in events:
        if "hlo_op" in event.stats:
            name = str(event.stats.get("hlo_module", ""))
            seconds[name] = seconds.get(name, 0.0) + event.end_ns - event.start_ns
    named = [name for name in seconds if function in name]
    return max(named or seconds, key=lambda name: seconds[name], default=None)


def kernel_executions(events: "Sequence[Any]", module: str) -> "List[Execution]":
    """Return every execution of the module's kernels in a trace."""
    kernels = sorted(
        (event for event in events if "hlo_op" in event.stats and event.stats.get("hlo_module") == module),
        key=lambda event: event.start_ns,
    )
    ends = {_link(event, "_ct", "_c"): event.end_ns for event in events if event.name.startswith(END)}
    stops = [max(event.end_ns, ends.get(_link(event, "_pt", "_p"), event.end_ns)) for event in kernels]
    busy: "List[List[Interval]]" = [[(event.start_ns, event.end_ns)] for event in kernels]
    for owner, (start, end) in _owned_regions(events, kernels, stops):
        clipped = max(start, kernels[owner].start_ns), min(end, stops[owner])
        if clipped[0] < clipped[1]:
            busy[owner].append(clipped)
    return [
        Execution(str(event.stats["hlo_op"]), event.start_ns, stop, stretches)
        for event, stop, stretches in zip(kernels, stops, busy)
    ]


def _owned_regions(
    events: "Sequence[Any]", kernels: "Sequence[Any]", stops: "Sequence[float]"
) -> "List[Tuple[int, Interval]]":
    """Return the stretches of pool threads and the kernel that each was asked for by.

    A stretch is asked for by a Record event, inside a kernel's own event or inside a stretch that is the kernel's.
    """
    regions = _regions(events)
    launches: "Dict[int, List[Tuple[float, float, int]]]" = {}
    for index, kernel in enumerate(kernels):
        launches.setdefault(kernel.line, []).append((kernel.start_ns, kernel.end_ns, index))
    owners: "Dict[Any, int]" = {}
    found: "List[Tuple[int, Interval]]" = []
    open_regions: "Dict[int, List[Tuple[float, float, int]]]" = {}
    records = [event for event in events if event.name == RECORD]
    starts = [(start, end, line, link) for link, (line, start, end) in regions.items()]
    # In the order of time, a stretch is asked for before it starts, and it starts before it asks for others.
    moments = sorted(
        [(event.start_ns, 1, event, None) for event in records]
        + [(start, 0, None, (end, line, link)) for start, end, line, link in starts],
        key=lambda moment: (moment[0], moment[1]),
    )
    for at, _, record, region in moments:
        if record is not None:
            owner = _covering(launches.get(record.line, ()), at)
            if owner is None:
                owner = _covering(open_regions.get(record.line, ()), at)
                owner = None if owner is None or at > stops[owner] else owner
            if owner is not None:
                owners[_link(record, "_pt", "_p")] = owner
        elif region is not None and region[2] in owners:
            end, line, link = region
            found.append((owners[link], (at, end)))
            open_regions.setdefault(line, []).append((at, end, owners[link]))
    return found


def _regions(events: "Sequence[Any]") -> "Dict[Any, Tuple[int, float, float]]":
    """Return link -> (line, start, end) of each stretch of a pool thread."""
    by_line: "Dict[int, List[Any]]" = {}
    for event in events:
        if event.name in (START, STOP):
            by_line.setdefault(event.line, []).append(event)
    regions = {}
    for line, marks in by_line.items():
        marks.sort(key=lambda event: event.start_ns)
        for index, mark in enumerate(marks[:-1]):
            following = marks[index + 1]
            if mark.name == START and following.name == STOP:
                regions[_link(mark, "_ct", "_c")] = (line, mark.start_ns, following.start_ns)
    return regions


def _covering(stretches: "Sequence[Tuple[float, float, int]]", at: float) -> "Optional[int]":
    """Return the kernel of the latest stretch that holds this moment; stretches are in the order of their start."""
    index = bisect_right(stretches, (at, float("inf"), 0)) - 1
    # Kernels of one thread nest only in loops and calls, so the one around is near.
    for start, end, kernel in reversed(stretches[max(0, index - 8) : index + 1]):
        if start <= at <= end:
            return kernel
    return None


def _link(event: Any, kind: str, number: str) -> "Tuple[Any, Any]":
    return event.stats.get(kind), event.stats.get(number)


def _step(span: Interval, executions: "Sequence[Execution]") -> Step:
    """Return the times of one step from what ran in it."""
    busy_s, shares = _shared(span, executions)
    running = _union([(max(each.start_ns, span[0]), min(each.end_ns, span[1])) for each in executions])
    kernels: "Dict[str, Tuple[float, float, int]]" = {}
    for execution, share in zip(executions, shares):
        time_s, span_s, count = kernels.get(execution.name, (0.0, 0.0, 0))
        span_s += (execution.end_ns - execution.start_ns) / 1e9
        kernels[execution.name] = (time_s + share, span_s, count + 1)
    return Step((span[1] - span[0]) / 1e9, busy_s, max(running / 1e9 - busy_s, 0.0), kernels)


def _shared(span: Interval, executions: "Sequence[Execution]") -> "Tuple[float, List[float]]":
    """Return the seconds in which any execution is busy, and each one's share of them."""
    marks = []
    for index, execution in enumerate(executions):
        for start, end in _merged(execution.busy):
            start, end = max(start, span[0]), min(end, span[1])
            if start < end:
                marks += [(start, 1, index), (end, 0, index)]
    marks.sort()
    shares = [0.0] * len(executions)
    total, previous = 0.0, 0.0
    now: "set[int]" = set()
    for at, starts, index in marks:
        if now:
            total += at - previous
            for each in now:
                shares[each] += (at - previous) / len(now) / 1e9
        (now.add if starts else now.discard)(index)
        previous = at
    return total / 1e9, shares


def _merged(intervals: "Iterable[Interval]") -> "List[Interval]":
    """Return the same stretches without overlaps, in order."""
    merged: "List[Interval]" = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _union(intervals: "Iterable[Interval]") -> float:
    return sum(max(end - start, 0.0) for start, end in _merged(intervals))
