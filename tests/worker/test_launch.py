"""A child process that crashes, hangs, talks or lacks its framework becomes one clear error; none is left alive."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.model_folders import GOOD, write_model
from xlacompare.errors import FrameworkMissing, ModelError, WorkerFailed, XlaCompareError
from xlacompare.worker.launch import Answer, Launch, run_all

pytestmark = pytest.mark.jax


def outcome(folder: Path, tmp_path: Path, framework: str = "jax", **fields: Any) -> Answer | XlaCompareError:
    request = {
        "task": "dump",
        "model_dir": str(folder),
        "size": {"width": 3, "batch": 1},
        "seed": 0,
        "settings": {"variant": "forward"},
        "outputs_file": str(tmp_path / "outputs.npz"),
    }
    return run_all([Launch(framework, request, **fields)])[0]


def test_noise_on_stdout_does_no_harm(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "noisy", jax='print("{not json")\nimport sys; print("!", file=sys.stderr)\n' + GOOD)
    answer = outcome(folder, tmp_path)
    assert isinstance(answer, Answer), answer
    assert answer.result["name"] == "noisy_forward"
    assert "{not json" in answer.log_tail


@pytest.mark.parametrize("framework", ["jax", pytest.param("tensorflow", marks=pytest.mark.tensorflow)])
def test_a_refused_flag_is_named_with_its_framework(framework: str, tmp_path: Path) -> None:
    error = outcome(write_model(tmp_path / "good"), tmp_path, framework=framework, xla_flags="--xla_no_such_flag=1")
    assert isinstance(error, WorkerFailed), error
    assert "--xla_no_such_flag" in str(error)
    assert {"jax": "JAX's XLA", "tensorflow": "TensorFlow's XLA"}[framework] in str(error)


def test_a_missing_framework_gets_the_pip_line(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    error = outcome(write_model(tmp_path / "good"), tmp_path, python=str(tmp_path / "bare" / "bin" / "python"))
    assert isinstance(error, FrameworkMissing)
    assert "pip install 'xlacompare[jax]'" in str(error)
    assert "--frameworks tensorflow" in str(error)


def test_an_interpreter_that_is_not_there_is_said(tmp_path: Path) -> None:
    error = outcome(write_model(tmp_path / "good"), tmp_path, python="/nowhere/python")
    assert isinstance(error, WorkerFailed)
    assert "/nowhere/python" in str(error)


def test_a_killed_child_is_a_fact(tmp_path: Path) -> None:
    body = 'import os, signal\ndef apply(params, x):\n    print("so far")\n    os.kill(os.getpid(), signal.SIGKILL)\n'
    error = outcome(write_model(tmp_path / "suicidal", jax=body), tmp_path)
    assert isinstance(error, WorkerFailed)
    assert error.stage == "trace"
    assert "killed by SIGKILL" in str(error)
    assert "so far" in str(error)


def test_a_hanging_child_is_ended_at_its_limit(tmp_path: Path) -> None:
    body = "import time\ndef apply(params, x):\n    time.sleep(1000)\n"
    started = time.monotonic()
    error = outcome(write_model(tmp_path / "hanging", jax=body), tmp_path, timeout_s=5)
    assert isinstance(error, WorkerFailed)
    assert "'trace' after 5 s" in str(error)
    assert "--timeout" in str(error)
    assert time.monotonic() - started < 500


def test_an_exception_in_the_model_is_one_sentence(tmp_path: Path) -> None:
    error = outcome(
        write_model(tmp_path / "raising", jax="def apply(params, x):\n    return params['v'] * x\n"), tmp_path
    )
    assert isinstance(error, WorkerFailed)
    assert str(error) == "JAX failed in the stage 'trace': KeyError: 'v'"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def other(): pass\n", "defines no function apply"),
        ("1/0\n", "ZeroDivisionError"),
        ("def apply(:\n", "SyntaxError"),
    ],
)
def test_a_broken_model_file_is_named(tmp_path: Path, body: str, said: str) -> None:
    error = outcome(write_model(tmp_path / "broken", jax=body), tmp_path)
    assert isinstance(error, ModelError)
    assert "jax_model.py" in str(error)
    assert said in str(error)
