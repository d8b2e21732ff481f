"""From a trace's events to seconds per kernel: waiting is not work, overlaps are shared, everything adds up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlacompare.frameworks.trace_events import STEP, TraceEvent
from xlacompare.worker.tasks.kernel_times import RECORD, START, STOP, main_module, step_times

CALLER, POOL, OTHER_POOL = 1, 2, 3


def step(start: float, end: float) -> TraceEvent:
    return TraceEvent(CALLER, STEP, start, end, {})


def kernel(name: str, start: float, end: float, number: int, line: int = CALLER, module: str = "m") -> TraceEvent:
    return TraceEvent(line, name, start, end, {"hlo_op": name, "hlo_module": module, "_pt": 0, "_p": number})


def end_of(name: str, at: float, number: int, line: int = CALLER) -> TraceEvent:
    return TraceEvent(line, f"end: {name}", at, at, {"_ct": 0, "_c": number})


def asks(at: float, number: int, line: int = CALLER) -> TraceEvent:
    return TraceEvent(line, RECORD, at, at, {"_pt": 15, "_p": number})


def stretch(start: float, end: float, number: int, line: int = POOL) -> list[TraceEvent]:
    return [
        TraceEvent(line, START, start, start, {"_ct": 15, "_c": number}),
        TraceEvent(line, STOP, end, end, {}),
    ]


def times(events: list[TraceEvent], **others: Any) -> Any:
    return step_times(events, STEP, "m", others.get("containers", ()))


def test_kernels_one_after_the_other() -> None:
    (found,) = times([step(0, 1000), kernel("a", 100, 300, 1), kernel("b", 400, 500, 2), kernel("a", 600, 700, 3)])
    assert found.step_s == pytest.approx(1e-6)
    assert found.busy_s == pytest.approx(4e-7)
    assert found.handoff_s == 0
    assert found.kernels["a"] == pytest.approx((3e-7, 3e-7, 2))
    assert found.kernels["b"] == pytest.approx((1e-7, 1e-7, 1))


def test_a_kernel_that_waits_for_a_thread_is_not_busy_meanwhile() -> None:
    # Launched at 100..150, its work runs on a pool thread from 600 to 800, and then it ends.
    events = [
        step(0, 1000),
        kernel("dot", 100, 150, 7),
        asks(140, 1),
        *stretch(600, 850, 1),
        end_of("dot", 800, 7, POOL),
    ]
    (found,) = times(events)
    assert found.kernels["dot"] == pytest.approx((2.5e-7, 7e-7, 1))
    assert found.busy_s == pytest.approx(2.5e-7)
    assert found.handoff_s == pytest.approx(4.5e-7)


def test_work_asked_for_by_a_stretch_belongs_to_the_kernel_of_that_stretch() -> None:
    events = [
        step(0, 1000),
        kernel("dot", 100, 150, 7),
        asks(140, 1),
        *stretch(200, 400, 1),
        asks(300, 2, POOL),
        *stretch(500, 600, 2, OTHER_POOL),
        end_of("dot", 600, 7, OTHER_POOL),
    ]
    assert times(events)[0].kernels["dot"] == pytest.approx((3.5e-7, 5e-7, 1))


def test_a_stretch_that_goes_on_after_the_kernels_end_is_the_next_kernels() -> None:
    # The thread that finishes one kernel launches the next in the same stretch.
    events = [
        step(0, 1000),
        kernel("dot", 100, 150, 7),
        asks(140, 1),
        *stretch(200, 700, 1),
        end_of("dot", 300, 7, POOL),
        kernel("tanh", 350, 450, 8, POOL),
        asks(500, 2, POOL),
        *stretch(600, 900, 2, OTHER_POOL),
    ]
    (found,) = times(events)
    assert found.kernels["dot"] == pytest.approx((1.5e-7, 2e-7, 1))
    assert found.kernels["tanh"] == pytest.approx((1e-7, 1e-7, 1))


def test_kernels_that_are_busy_at_once_share_the_time() -> None:
    (found,) = times([step(0, 1000), kernel("a", 0, 400, 1), kernel("b", 200, 400, 2, POOL)])
    assert found.kernels["a"][0] == pytest.approx(3e-7)
    assert found.kernels["b"][0] == pytest.approx(1e-7)
    assert found.busy_s == pytest.approx(4e-7)


def test_what_a_loop_spans_is_its_kernels_alone() -> None:
    events = [step(0, 1000), kernel("while", 100, 900, 1), kernel("a", 200, 300, 2), kernel("a", 500, 600, 3)]
    (found,) = times(events, containers=["while"])
    assert found.kernels.keys() == {"a"}
    assert found.busy_s == pytest.approx(2e-7)


def test_each_kernel_belongs_to_the_step_that_launched_it() -> None:
    events = [step(0, 100), step(200, 300), kernel("a", 250, 290, 1), kernel("a", 10, 20, 2), kernel("a", 150, 160, 3)]
    assert [found.kernels["a"][2] for found in times(events)] == [1, 1]


def test_other_modules_do_not_count() -> None:
    assert times([step(0, 100), kernel("a", 10, 20, 1, module="other")])[0].kernels == {}


def test_the_module_of_a_function() -> None:
    events = [kernel("a", 0, 10, 1, module="jit_mlp_grad"), kernel("b", 0, 99, 2, module="jit_other")]
    assert main_module(events, "mlp_grad") == "jit_mlp_grad"
    assert main_module(events, "unheard_of") == "jit_other"
    assert main_module([], "mlp_grad") is None


spans = st.tuples(st.integers(0, 1000), st.integers(0, 1000)).map(sorted)


@given(st.lists(st.tuples(spans, st.integers(1, 3), st.sampled_from("abc")), max_size=12))
def test_shares_add_up_to_the_busy_time_and_never_exceed_the_step(kernels: list[Any]) -> None:
    events = [kernel(name, start, end, n, line) for n, ((start, end), line, name) in enumerate(kernels)]
    (found,) = times([step(100, 900), *events])
    assert sum(time_s for time_s, _, _ in found.kernels.values()) == pytest.approx(found.busy_s, abs=1e-15)
    assert 0 <= found.busy_s <= found.busy_s + found.handoff_s <= found.step_s * (1 + 1e-9)
