"""The parent's side of a child process: start it, watch it, and turn whatever happens into an answer or an error."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import xlacompare
import xlacompare.models
from xlacompare.errors import FrameworkMissing, ModelError, WorkerFailed, XlaCompareError
from xlacompare.worker.xla_flags import refused_flags

CHILD_SCRIPT = Path(__file__).with_name("child.py")
LOG_TAIL_LINES = 20
DISPLAY_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}

# A cache hit compiles nothing and dumps nothing; preallocation would starve the other framework.
ENVIRONMENT = {
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "TF_CPP_MIN_LOG_LEVEL": "1",
    "PYTHONUNBUFFERED": "1",
}
REMOVED_FROM_ENVIRONMENT = ("JAX_COMPILATION_CACHE_DIR", "TF_XLA_PERSISTENT_CACHE_DIRECTORY", "PYTHONSTARTUP")
# What runs beside an XLA program, to compare its outputs, runs on TensorFlow's own kernels. Their oneDNN forms crash or
# give NaN on some vectorised graphs (tensorflow 2.21, x86); XLA compiles the same with and without them.
OWN_KERNELS_ENVIRONMENT = {"TF_ENABLE_ONEDNN_OPTS": "0"}
CPU_ONLY = {"jax": {"JAX_PLATFORMS": "cpu"}, "tensorflow": {"CUDA_VISIBLE_DEVICES": "-1"}}


@dataclass(frozen=True)
class Launch:
    """One child process to start.

    Attributes:
        framework: "jax" or "tensorflow".
        request: what the child is asked, with "task"; must be JSON.
        xla_flags: the final XLA_FLAGS of the child.
        python: the interpreter; None is the one that runs now.
        device: "cpu" or "gpu".
        timeout_s: the child is killed after this long.
    """

    framework: str
    request: Mapping[str, Any]
    xla_flags: str = ""
    python: str | None = None
    device: str = "cpu"
    timeout_s: float = 600.0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What a child answered: its result, the seconds per stage, its wall time and the end of its log."""

    framework: str
    result: dict[str, Any]
    stages_s: dict[str, float]
    wall_s: float
    log_tail: str


class Child:
    """A started child; `wait` returns its answer, `kill` ends it and everything it started."""

    def __init__(self, launch: Launch, on_stage: Callable[[str, str], None] | None = None) -> None:
        self.launch = launch
        self.stage = "start"
        self._on_stage = on_stage
        self._started = time.perf_counter()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by wait)
        read_end, write_end = os.pipe()
        self._results = os.fdopen(read_end, "rb")
        try:
            # A session of its own, so that Ctrl-C reaches the parent alone, which then ends the whole group.
            self.process = subprocess.Popen(
                [launch.python or sys.executable, str(CHILD_SCRIPT), str(write_end)],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                pass_fds=(write_end,),
                env=child_environment(launch),
                start_new_session=True,
            )
        except OSError as error:
            self._results.close()
            self._log.close()
            raise WorkerFailed(
                f"{DISPLAY_NAMES[launch.framework]}: the interpreter {launch.python!r} could not be started ({error}).",
                framework=launch.framework,
                stage="start",
            ) from error
        finally:
            os.close(write_end)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def wait(self) -> Answer:
        """Return the child's answer; raise FrameworkMissing, ModelError or WorkerFailed."""
        launch = self.launch
        timed_out = threading.Event()

        def expire() -> None:
            timed_out.set()
            self.kill()

        timer = threading.Timer(launch.timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            self._send()
            message = self._read_messages()
            # Nothing it started may outlive it, and nothing that holds its pipe may keep the parent waiting.
            returncode = self.process.wait()
        finally:
            timer.cancel()
            self.kill()
            self.process.wait()
            log = self._close_log()
        wall_s = time.perf_counter() - self._started
        if "result" in message and returncode == 0:
            return Answer(launch.framework, message["result"], message["stages_s"], wall_s, tail(log))
        raise self._failure(message, returncode, log, timed_out.is_set())

    def _send(self) -> None:
        request = {
            **self.launch.request,
            "framework": self.launch.framework,
            "package_dir": str(Path(xlacompare.__file__).resolve().parent),
            "models_dir": str(xlacompare.models.BUILT_IN_DIR),
        }
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as stdin:
            stdin.write(json.dumps(request).encode())

    def _read_messages(self) -> dict[str, Any]:
        with self._results as results:
            for line in results:
                try:
                    message: dict[str, Any] = json.loads(line)
                except ValueError:
                    # The child died in the middle of a line.
                    return {}
                if "stage" not in message:
                    return message
                self.stage = message["stage"]
                if self._on_stage is not None:
                    self._on_stage(self.launch.framework, self.stage)
        return {}

    def _close_log(self) -> str:
        self._log.seek(0)
        log = self._log.read().decode(errors="replace")
        self._log.close()
        return log

    def _failure(self, message: Mapping[str, Any], returncode: int, log: str, timed_out: bool) -> XlaCompareError:
        framework = self.launch.framework
        name = DISPLAY_NAMES[framework]
        error = message.get("error", {})
        stage = error.get("stage", self.stage)
        if error.get("kind") == "framework_missing":
            return FrameworkMissing(
                f"{name} could not be imported by {self.launch.python or sys.executable} ({error['message']}). "
                f"Install it with: pip install 'xlacompare[{framework}]', or leave it out with "
                f"--frameworks {'tensorflow' if framework == 'jax' else 'jax'}."
            )
        if error.get("kind") == "model":
            return ModelError(f"{name}: {error['message']}")
        if refused := refused_flags(log):
            text = (
                f"{name}'s XLA refused {', '.join(refused)} and ended the process: this build does not know "
                f"{'that flag' if len(refused) == 1 else 'those flags'}. JAX and TensorFlow embed XLAs of different "
                f"months; give a flag to the other side alone with "
                f"--{'tensorflow' if framework == 'jax' else 'jax'}-xla-flags."
            )
        elif timed_out:
            text = (
                f"{name} was still in the stage '{stage}' after {self.launch.timeout_s:g} s and was ended. "
                "Give it longer with --timeout SECONDS, or a smaller --size."
            )
        elif error:
            text = f"{name} failed in the stage '{stage}': {error['message']}"
        else:
            text = (
                f"{name} ended in the stage '{stage}' without an answer ({how_it_ended(returncode)}). "
                f"The last lines that it wrote:\n{tail(log) or '(nothing)'}"
            )
        return WorkerFailed(text, framework=framework, stage=stage, log_tail=tail(log))


def run_all(
    launches: Sequence[Launch],
    *,
    serial: bool = False,
    on_stage: Callable[[str, str], None] | None = None,
    on_error: Callable[[Launch, XlaCompareError], None] | None = None,
) -> list[Answer | XlaCompareError]:
    """Run the children, all at once unless `serial`, and return for each its answer or its error.

    An interruption ends every child, and whatever they started, before it is passed on.

    Args:
        launches: what to start.
        serial: one after the other.
        on_stage: called with the framework and the name of each stage that a child enters.
        on_error: called at once with a child's launch and its error, while others still run.
    """
    outcomes: list[Answer | XlaCompareError] = [WorkerFailed("not run", framework="", stage="")] * len(launches)
    children: list[Child] = []

    def fail(position: int, error: XlaCompareError) -> None:
        outcomes[position] = error
        if on_error is not None:
            on_error(launches[position], error)

    def wait(position: int, child: Child) -> None:
        try:
            outcomes[position] = child.wait()
        except XlaCompareError as error:
            fail(position, error)

    threads = []
    try:
        for position, launch in enumerate(launches):
            try:
                child = Child(launch, on_stage)
            except XlaCompareError as error:
                fail(position, error)
                continue
            children.append(child)
            thread = threading.Thread(target=wait, args=(position, child), daemon=True)
            threads.append(thread)
            thread.start()
            if serial:
                thread.join()
        for thread in threads:
            thread.join()
    except BaseException:
        for child in children:
            child.kill()
        for thread in threads:
            thread.join()
        raise
    return outcomes


def joined_error(errors: Sequence[XlaCompareError]) -> XlaCompareError:
    """Return the one error, or one that says what all of several say."""
    if len(errors) == 1:
        return errors[0]
    messages = "\n".join(str(error) for error in errors)
    if all(isinstance(error, FrameworkMissing) for error in errors):
        return FrameworkMissing(messages)
    return WorkerFailed(messages, framework="", stage="")


def run_one(launch: Launch, on_stage: Callable[[str, str], None] | None = None) -> Answer:
    """Run one child and return its answer; whatever ends this ends the child.

    Raises:
        FrameworkMissing, ModelError, WorkerFailed: as `Child.wait`.
    """
    child = Child(launch, on_stage)
    try:
        return child.wait()
    except BaseException:
        child.kill()
        raise


def child_environment(launch: Launch) -> dict[str, str]:
    """Return the child's environment: the user's own, without what would hide a dump or skew a comparison."""
    environment = {key: value for key, value in os.environ.items() if key not in REMOVED_FROM_ENVIRONMENT}
    environment.update(ENVIRONMENT)
    if launch.device == "cpu":
        environment.update(CPU_ONLY[launch.framework])
    if launch.framework == "tensorflow" and not _times_own_kernels(launch.request):
        environment = {**OWN_KERNELS_ENVIRONMENT, **environment}
    environment["XLA_FLAGS"] = launch.xla_flags
    environment.update(launch.environment)
    return environment


def _times_own_kernels(request: Mapping[str, Any]) -> bool:
    """Whether TensorFlow's own kernels are what is measured: those are to run as they do for the user."""
    settings = request.get("settings", {})
    compiled = settings.get("jit", True) and settings.get("xla", True)
    return request.get("task") == "bench" and not compiled


def how_it_ended(returncode: int) -> str:
    """Say how a process ended.

    >>> how_it_ended(-9)
    'killed by SIGKILL'
    >>> how_it_ended(3)
    'exit code 3'
    """
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def tail(log: str) -> str:
    """Return the last lines of a log, without the blank ones."""
    return "\n".join([line for line in log.splitlines() if line.strip()][-LOG_TAIL_LINES:])
