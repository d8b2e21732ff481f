"""`dump`, end to end: real compiles in child processes, real dumps, and every way in which it can go wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model_folders import write_model
from xlacompare.cli.main import main
from xlacompare.dump import DumpResult, dump
from xlacompare.dumps import check_manifest, read_manifest

pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]

# xlacompare as a terminal starts it: where tests run in the background of a shell, what they start ignores Ctrl-C.
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from xlacompare.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A blank in the path: XLA splits its flags there.
    return tmp_path_factory.mktemp("with blank") / "my dumps"


@pytest.fixture(scope="module")
def linear(out: Path) -> DumpResult:
    return dump("linear", variant="grad", out=out)


def test_the_founding_counts_on_todays_frameworks(linear: DumpResult) -> None:
    # Hand-counted in the texts of jax 0.10.2 and tensorflow 2.21: JAX's ENTRY has one dot and two kLoop fusions,
    # TensorFlow's has `dot` and `add` in one kOutput fusion and two kLoop fusions.
    counts = {each.framework: each.census.to_json_dict() for each in linear.dumps}
    assert {name: count["kernels"]["entry"] for name, count in counts.items()} == {"jax": 3, "tensorflow": 3}
    assert {name: count["fusions"]["entry"] for name, count in counts.items()} == {"jax": 2, "tensorflow": 3}
    assert counts["jax"]["opcodes"]["entry"]["dot"] == 1
    assert "dot" not in counts["tensorflow"]["opcodes"]["entry"]


def test_the_outputs_were_compared(linear: DumpResult) -> None:
    assert linear.parity is not None
    assert linear.parity.ok
    assert linear.parity.max_rel < 1e-5


def test_the_manifest_tells_how_the_folder_came_to_be(linear: DumpResult, out: Path) -> None:
    for framework, module in (("jax", "jit_linear_grad"), ("tensorflow", "a_inference_linear_grad_")):
        folder = out / "linear" / "grad" / framework
        manifest = read_manifest(folder)
        assert check_manifest(folder, manifest) == ()
        assert manifest.module.startswith(module)
        assert manifest.model == "linear"
        assert manifest.shapes == {"W": "f32[5,5]", "b": "f32[5]", "x": "f32[5]", "y": "f32[5]"}
        assert "--xla_dump_to=" in manifest.xla_flags
        assert manifest.versions[framework]
        assert manifest.before is not None
        assert set(manifest.stages_s) >= {"import", "trace", "compile", "run"}


def test_nothing_but_the_dumps_is_left(linear: DumpResult, out: Path) -> None:
    assert sorted(path.name for path in (out / "linear" / "grad").iterdir()) == ["jax", "tensorflow"]


def test_a_used_folder_is_refused_before_any_process_starts(
    linear: DumpResult, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", "linear", "--out", str(out)]) == 1
    captured = capsys.readouterr()
    assert "--overwrite" in captured.err
    assert "importing" not in captured.err
    assert captured.out == ""


def test_json_is_one_document(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["dump", "linear", "--variant", "forward", "--frameworks", "jax", "--out", str(out), "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["schema_version"]) == ("xlacompare.dump", 1)
    (only,) = document["dumps"]
    assert Path(only["after"]).is_file()
    assert Path(only["before"]).is_file()
    assert only["census"]["kernels"]["entry"] >= 1


def test_the_users_own_flags_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/nowhere --xla_dump_hlo_pass_re=fusion")
    made = dump("linear", variant="forward", frameworks=("jax",), out=tmp_path / "out")
    flags = made.dumps[0].manifest.xla_flags
    assert "--xla_dump_hlo_pass_re=fusion" in flags
    assert "/nowhere" not in flags
    # The flag was not only passed on but obeyed: XLA wrote the module after its fusion passes.
    assert [path for path in made.dumps[0].directory.iterdir() if "after_fusion" in path.name]


@pytest.mark.parametrize(
    ("flag", "said"),
    [("\u2013\u2013xla_a=1", "U+2013"), ("xla_a=1", "--xla_a=1"), ("--xla_dump_to=/a b", "'b'")],
)
def test_a_bad_flag_is_a_usage_error_before_any_process_starts(
    flag: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", "linear", "--jax-xla-flags=" + flag, "--out", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "importing" not in captured.err
    assert not (tmp_path / "out").exists()


def test_an_unknown_flag_names_the_framework_that_refused_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["dump", "linear", "--tensorflow-xla-flags=--xla_no_such", "--out", str(tmp_path / "out")]
    assert main(arguments) == 1
    assert "TensorFlow's XLA refused --xla_no_such" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dump", "liner"], "linear"),
        (["dump", "linear", "--variant", "grda"], "grad"),
        (["dump", "linear", "--size", "lage"], "large"),
        (["dump", "linear", "--depht", "4"], "no option 'depht'"),
        (["dump", "linear", "--frameworks", "torch"], "torch"),
        (["dump", "linear", "--batch", "0"], "at least 1"),
        (["dump", "linear", "--jax-python", "/nowhere/python"], "/nowhere/python"),
        (["dmup", "linear"], "dump"),
        (["dump"], "MODEL"),
    ],
)
def test_usage_errors_name_what_was_meant(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_outputs_that_disagree_are_an_error_and_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_model(tmp_path / "unequal", tensorflow='def apply(params, x):\n    return params["w"] * x * 1.01\n')
    assert main(["dump", str(folder), "--out", str(tmp_path / "out"), "-q"]) == 1
    captured = capsys.readouterr()
    assert "'grad/w'" in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


def test_nan_in_an_output_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = 'def apply(params, x):\n    return params["w"] * x * float("nan")\n'
    folder = write_model(tmp_path / "nan", jax=body, tensorflow=body)
    assert main(["dump", str(folder), "--out", str(tmp_path / "out"), "-q"]) == 1
    assert "holds NaN" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_vectorised_program_without_its_draws_is_compared(tmp_path: Path) -> None:
    """Its outputs come from TensorFlow's own kernels, which crash or give NaN here in their oneDNN forms."""
    parity = dump("transformer", variant="dp_train_step", out=tmp_path).parity
    assert parity is not None
    assert parity.ok


def test_one_framework_runs_where_the_other_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    bare = str(tmp_path / "bare" / "bin" / "python")
    arguments = ["dump", "linear", "--tensorflow-python", bare, "--out", str(tmp_path / "out"), "-q"]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "pip install 'xlacompare[tensorflow]'" in error
    assert main([*arguments, "--frameworks", "jax"]) == 0


@pytest.fixture
def slow_dump(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A dump in a process of its own whose model never returns, and the file where its child wrote its number."""
    marker = tmp_path / "child.pid"
    body = (
        "import os, pathlib, time\n"
        f"def apply(params, x):\n    pathlib.Path({str(marker)!r}).write_text(str(os.getpid()))\n    time.sleep(1000)\n"
    )
    folder = write_model(tmp_path / "endless", jax=body)
    command = [sys.executable, "-c", LISTENING, "dump", str(folder), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        yield process, marker
        process.kill()


def wait_for(marker: Path) -> int:
    deadline = time.monotonic() + 120
    while not (marker.exists() and marker.read_text()):
        assert time.monotonic() < deadline, "the child never started"
        time.sleep(0.05)
    return int(marker.read_text())


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_leaves_nothing_half_written_and_no_child(
    slow_dump: tuple[subprocess.Popen[bytes], Path], tmp_path: Path
) -> None:
    process, marker = slow_dump
    child = wait_for(marker)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in output
    assert b"Traceback" not in output
    assert not is_running(child)
    assert not (tmp_path / "out").exists()


def test_a_killed_parent_leaves_no_child(slow_dump: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, marker = slow_dump
    child = wait_for(marker)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 30
    while is_running(child):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.05)
