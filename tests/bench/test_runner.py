"""Rounds of children: order, frozen numbers, what is kept when one of them fails, going on afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from xlacompare.bench.analysis import comparisons, run_document, summarize_columns
from xlacompare.bench.plan import Plan
from xlacompare.bench.run import Run, read_run
from xlacompare.bench.runner import Progress, RunFailed, bench, carry_out, new_run
from xlacompare.errors import ParityError, UsageError, WorkerFailed

MakePlan = Callable[..., Plan]
Script = Callable[..., Path]


def children(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_rounds_alternate_and_the_number_of_calls_is_frozen(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    log = script()
    run = carry_out(new_run(plan(rounds=3)), tmp_path / "run.json")
    assert [worker.column for worker in run.workers] == ["jax", "tensorflow", "tensorflow", "jax", "jax", "tensorflow"]
    assert [child["number"] for child in children(log)] == [None, None, 10, 10, 10, 10]
    assert run.complete
    assert read_run(tmp_path / "run.json") == run


def test_a_shuffled_order_is_the_same_for_the_same_seed(plan: MakePlan) -> None:
    orders = [[plan(order="shuffle", order_seed=seed).round_order(n)[0].name for n in range(20)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert set(orders[0]) == {"jax", "tensorflow"}


def test_a_slower_side_is_found_in_the_right_direction(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    script(call_s={"jax": 1e-3, "tensorflow": 1.5e-3})
    run = carry_out(new_run(plan()), tmp_path / "run.json")
    (pair,) = comparisons(run)
    assert (pair.left, pair.right, pair.verdict) == ("jax", "tensorflow", "faster")
    assert pair.ratio.low < 1.5 < pair.ratio.high
    document = run_document(run)
    assert document["verdict"] == "faster"
    assert document["ratio"]["estimate"] == pytest.approx(1.5, rel=0.02)


def test_compiling_is_apart_from_the_first_run_where_the_framework_does_both(
    plan: MakePlan, script: Script, tmp_path: Path
) -> None:
    script()
    run = carry_out(new_run(plan(rounds=1)), tmp_path / "run.json")
    jax, tensorflow = summarize_columns(run)
    assert jax.phases_s["compile"] == 0.01
    assert jax.derived == ()
    assert tensorflow.phases_s["compile"] == pytest.approx(0.009, rel=0.01)
    assert tensorflow.derived == ("compile",)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("die", "exit code 7"),
        ("hang", "still in the stage 'timing' after 2 s"),
        ("nonsense", "something else than timings"),
        ("half a line", "without an answer"),
    ],
)
def test_a_failing_child_gives_one_paragraph_and_keeps_the_rounds(
    plan: MakePlan, script: Script, tmp_path: Path, does: str, said: str
) -> None:
    script(does=does, at=5)
    path = tmp_path / "run.json"
    with pytest.raises(RunFailed, match=said) as caught:
        carry_out(new_run(plan(timeout_s=2.0)), path)
    assert "--resume" in str(caught.value)
    stopped = read_run(path)
    assert (stopped.rounds, stopped.complete) == (2, False)
    script()
    resumed = carry_out(stopped, path)
    assert (resumed.rounds, resumed.complete) == (6, True)
    assert resumed.workers[: len(stopped.workers)] == stopped.workers


def test_a_first_round_that_fails_keeps_nothing(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    script(does="die", at=1)
    with pytest.raises(WorkerFailed, match="TensorFlow ended in the stage 'timing'"):
        carry_out(new_run(plan()), tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


def test_compiling_while_timed_fails_the_run(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    script(compilations=3)
    with pytest.raises(WorkerFailed, match="compiled while it was timed: 3 compilations"):
        carry_out(new_run(plan()), tmp_path / "run.json")


def test_another_device_than_asked_for_fails_the_run(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    with pytest.raises(WorkerFailed, match=r"ran on cpu .* and gpu was asked for"):
        carry_out(new_run(plan(device="gpu")), tmp_path / "run.json")


def test_outputs_that_disagree_fail_the_run_before_any_ratio(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    log = script(outputs={"jax": [1.0], "tensorflow": [2.0]})
    with pytest.raises(ParityError, match="do not compute the same"):
        carry_out(new_run(plan()), tmp_path / "run.json")
    assert len(children(log)) == 2
    assert not (tmp_path / "run.json").exists()


def test_going_on_until_resolved_stops_at_the_first_look_that_decides(
    plan: MakePlan, script: Script, tmp_path: Path
) -> None:
    script(call_s={"jax": 1e-3, "tensorflow": 1.2e-3})
    run = carry_out(new_run(plan(until_resolved=True)), tmp_path / "run.json")
    assert (run.rounds, run.looks, run.complete) == (6, (6,), True)
    assert comparisons(run)[0].ratio.confidence == 0.99


def test_no_round_is_started_that_would_end_too_late(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    script(lingers_s=0.2)
    run = carry_out(new_run(plan(rounds=100, max_time_s=1.5)), tmp_path / "run.json")
    assert run.complete
    assert 1 <= run.rounds < 6


def test_progress_tells_the_time_left(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    seen: list[Progress] = []
    carry_out(new_run(plan(rounds=2)), tmp_path / "run.json", on_progress=seen.append)
    assert [progress.done for progress in seen if progress.stage == "import"] == [0, 1, 2, 3]
    assert seen[0].left_s is None
    assert seen[-1].left_s is not None
    assert {progress.total for progress in seen} == {4}


def test_one_column_against_itself(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    run = carry_out(new_run(plan(self_check="tf-graph")), tmp_path / "run.json")
    assert {worker.column for worker in run.workers} == {"tensorflow-graph (A)", "tensorflow-graph (B)"}
    assert comparisons(run)[0].verdict in ("no difference", "inconclusive")
    assert run_document(run)["resolution"] < 0.05


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"names": ["jaxx"]}, "no column 'jaxx'.*Nearest: jax"),
        ({"names": ["jax", "jax"]}, "twice"),
        ({"size": "huge"}, "no size 'huge'"),
        ({"variant": "gard"}, "no variant 'gard'.*grad"),
        ({"min_effect": 0.0}, "--min-effect"),
        ({"xla_flags": {"jax": "xla_foo"}}, "does not start with '--'"),
    ],
)
def test_what_cannot_be_asked_for(plan: MakePlan, choices: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan(**choices)


@pytest.mark.parametrize(("choices", "said"), [({"rounds": 0}, "one round"), ({"cpus": (4096,)}, "core 4096")])
def test_what_cannot_be_run(plan: MakePlan, tmp_path: Path, choices: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        carry_out(new_run(plan(**choices)), tmp_path / "run.json")


def test_killed_at_round_five_of_ten_and_resumed(
    plan: MakePlan, script: Script, fake_python: str, tmp_path: Path
) -> None:
    log = script(lingers_s=0.15)
    path = tmp_path / "run.json"
    command = [sys.executable, "-m", "xlacompare", "bench"]
    first = subprocess.Popen(
        [*command, "linear", "--rounds", "10", "-o", str(path), "-q", "--no-census"]
        + [f"--{framework}-python={fake_python}" for framework in ("jax", "tensorflow")],
        stdout=subprocess.DEVNULL,
    )
    while first.poll() is None and (not log.exists() or len(children(log)) < 10):
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    kept = read_run(path)
    assert 4 <= kept.rounds <= 5
    assert not kept.complete
    done = subprocess.run([*command, "--resume", str(path), "--json", "-q"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert (document["rounds"], document["complete"]) == (10, True)
    assert read_run(path).workers[: len(kept.workers)] == kept.workers


def test_an_interrupted_run_leaves_no_half_file(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.round == 2:
            raise KeyboardInterrupt

    path = tmp_path / "run.json"
    with pytest.raises(KeyboardInterrupt):
        carry_out(new_run(plan()), path, on_progress=interrupt)
    assert read_run(path).rounds == 2
    assert [entry.name for entry in tmp_path.glob(".*")] == []


def test_a_run_knows_its_documents_version(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    run: Run = carry_out(new_run(plan(rounds=1)), tmp_path / "run.json")
    document = run_document(run)
    assert (document["schema"], document["schema_version"]) == ("xlacompare.bench", 1)
    worker = document["workers"][0]
    assert {"framework", "round", "phases_s", "batches_s", "number", "floor_s", "peak_rss_bytes"} <= set(worker)
    assert {"import", "trace", "lower", "compile", "first_run"} <= set(worker["phases_s"])


def test_a_run_is_resumed_on_its_own_machine_and_versions_alone(plan: MakePlan, script: Script, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    script(does="die", at=2)
    with pytest.raises(RunFailed):
        carry_out(new_run(plan(rounds=2)), path)
    stopped = read_run(path)
    elsewhere = replace(stopped, environment={**stopped.environment, "cpu": "Another CPU"})
    with pytest.raises(UsageError, match="no pairs"):
        carry_out(elsewhere, path)
    script(version="9.9.9")
    with pytest.raises(RunFailed, match="has changed since"):
        carry_out(stopped, path)


def test_a_script_gets_a_run_that_shows_itself(script: Script, fake_python: str, tmp_path: Path) -> None:
    pythons = {"jax": fake_python, "tensorflow": fake_python}
    run = bench("linear", out=tmp_path, rounds=1, pythons=pythons)
    (path,) = (tmp_path / "linear").glob("bench-*.json")
    assert path.read_text() == run.to_json()
    assert list(run.to_pandas()["column"].unique()) == ["jax", "tensorflow"]
    assert "indicative, no verdict" in run._repr_html_()
