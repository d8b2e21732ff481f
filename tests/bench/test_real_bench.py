"""Real programs in real processes: every phase is there, and a program that compiles while it is timed is caught."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.planted_slowdown import write_model
from xlacompare.bench.analysis import comparisons, summarize_columns
from xlacompare.bench.plan import Column, Limits
from xlacompare.bench.request import bench_plan
from xlacompare.bench.run import read_run
from xlacompare.bench.runner import carry_out, new_run
from xlacompare.cli.main import main
from xlacompare.errors import WorkerFailed

SHORT = Limits(warm_up_min_s=0.02, warm_up_max_s=0.5, min_batch_s=0.001, batches=5)


@pytest.mark.jax
@pytest.mark.tensorflow
def test_bench_of_both_frameworks_through_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    assert main(["bench", "linear", "--rounds", "1", "--json", "-q", "-o", str(path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "inconclusive"
    assert document["parity"]["tensorflow"]["ok"]
    jax, tensorflow = document["workers"]
    assert jax["phases_s"].keys() == tensorflow["phases_s"].keys()
    assert jax["arguments"] == tensorflow["arguments"] == {
        "W": "float32[5,5]", "b": "float32[5]", "x": "float32[5]", "y": "float32[5]",
    }  # fmt: skip
    assert jax["counted_while_timing"] == tensorflow["counted_while_timing"] == {"compilations": 0, "traces": 0}
    assert tensorflow["derived"] == ["compile"]
    assert len(jax["batches_s"]) == 25
    # On a matrix of 5 x 5 TensorFlow does little but find its way in and out.
    assert document["columns"][1]["dispatch_bound"]
    assert document["census"]["jax"]["kernels"] > 0
    stored = read_run(path)
    assert stored.complete
    assert main(["bench", "--resume", str(path), "-q", "--format", "markdown"]) == 0
    assert "dominated by Python dispatch" in capsys.readouterr().out


@pytest.mark.jax
def test_a_program_that_compiles_at_each_call_is_caught(tmp_path: Path, linear_copy: Path) -> None:
    (linear_copy / "jax_model.py").write_text(
        "import jax\n\n\ndef apply(params, x):\n"
        "    return jax.jit(lambda W, b, x: W @ x + b)(params['W'], params['b'], x)\n"
    )
    plan = bench_plan(str(linear_copy), variant="forward", names=["jax-eager"], rounds=1, limits=SHORT)
    with pytest.raises(WorkerFailed, match=r"JAX \(jax-eager\) compiled while it was timed"):
        carry_out(new_run(plan), tmp_path / "run.json")


@pytest.mark.tensorflow
def test_every_way_into_tensorflow_is_timed(tmp_path: Path) -> None:
    names = ["tensorflow-graph", "tensorflow-eager"]
    run = carry_out(new_run(bench_plan("linear", names=names, rounds=1, limits=SHORT)), tmp_path / "run.json")
    graph, eager = run.workers
    assert graph.details["derived"] == ["compile"]
    assert "derived" not in eager.details
    assert graph.median_s > 0
    assert eager.floor_s > 0


@pytest.mark.jax
def test_throughput_and_pinning(tmp_path: Path) -> None:
    plan = bench_plan("linear", names=["jax", "jax-eager"], rounds=1, limits=SHORT, mode="throughput", cpus=(0,))
    run = carry_out(new_run(plan), tmp_path / "run.json")
    assert [worker.details["cpus"] for worker in run.workers] == [[0], [0]]
    assert run.fairness["columns"]["jax"]["threads"] == {"pool": 1}


@pytest.mark.tensorflow
def test_a_large_program_is_not_dispatch_bound(tmp_path: Path, linear_copy: Path) -> None:
    spec = linear_copy / "spec.py"
    spec.write_text(spec.read_text().replace('"width": 5,', '"width": 4096,'))
    run = carry_out(new_run(bench_plan(str(linear_copy), names=["tf"], rounds=1, limits=SHORT)), tmp_path / "run.json")
    (summary,) = summarize_columns(run)
    assert not summary.dispatch_bound


@pytest.mark.slow
@pytest.mark.jax
def test_a_planted_slow_down_is_found_in_the_right_direction(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "chain")
    plan = bench_plan(str(folder), variant="forward", names=["jax"], until_resolved=True, max_time_s=900.0)
    sides = (Column("five", "jax"), Column("six", "jax", options=(("products", 6),)))
    run = carry_out(new_run(replace(plan, columns=sides)), tmp_path / "run.json")
    assert comparisons(run)[0].verdict == "faster"
