"""The script that runs in a child process: `python child.py RESULT_FD < request.json`.

Standard output and standard error belong to the framework (TensorFlow writes to both) and end up in a log; what the
parent reads comes over the file descriptor RESULT_FD, one JSON object a line: any number of `{"stage": name}`, then
one `{"result": {...}}` or `{"error": {"kind", "message", "stage"}}`.

It must run under Python 3.9 and where xlacompare is not installed: it imports the package from the path that the
request names, and nothing else of that path.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Dict, List, Optional

PR_SET_PDEATHSIG = 1


class Reporter:
    """Writes the child's answer and remembers how long each stage took."""

    def __init__(self, descriptor: int) -> None:
        self._stream = os.fdopen(descriptor, "w", encoding="utf-8")
        self._started = time.perf_counter()
        self.stage_name = "start"
        self.stages_s: "Dict[str, float]" = {}

    def stage(self, name: str) -> None:
        """Say that the stage `name` starts now."""
        self._close_stage()
        self.stage_name = name
        self._write({"stage": name})

    def result(self, result: "Dict[str, Any]") -> None:
        self._close_stage()
        self._write({"result": result, "stages_s": self.stages_s})

    def error(self, kind: str, message: str) -> None:
        self._write({"error": {"kind": kind, "message": message, "stage": self.stage_name}})

    def _close_stage(self) -> None:
        now = time.perf_counter()
        self.stages_s[self.stage_name] = now - self._started
        self._started = now

    def _write(self, message: "Dict[str, Any]") -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent dies, even by SIGKILL; elsewhere the parent's care must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def import_package(name: str, folder: Path) -> None:
    """Make `folder` importable as the package `name` without making its neighbours importable."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def main(arguments: "Optional[List[str]]" = None) -> int:
    die_with_parent()
    (descriptor,) = sys.argv[1:] if arguments is None else arguments
    reporter = Reporter(int(descriptor))
    request = json.load(sys.stdin)
    sys.path[:] = [*request.get("sys_path", []), *sys.path[1:]]
    import_package("xlacompare", Path(request["package_dir"]))
    import_package("xlacompare.models", Path(request["models_dir"]))
    from xlacompare.model_spec import ModelFolderError

    reporter.stage("import")
    if importlib.util.find_spec(request["framework"]) is None:
        reporter.error("framework_missing", f"no module named {request['framework']!r}")
        return 0
    try:
        task = importlib.import_module(f"xlacompare.worker.tasks.{request['task']}")
        reporter.result(task.run(request, reporter))
    except ModelFolderError as error:
        reporter.error("model", str(error))
    except Exception as error:
        reporter.error("exception", f"{type(error).__name__}: {error}")
        traceback.print_exc()
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The answer is out: the frameworks' own clean-up would only keep the parent waiting.
    os._exit(code)
