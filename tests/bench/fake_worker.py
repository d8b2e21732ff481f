"""A child that measures nothing: it answers as the bench task does, or misbehaves, as FAKE_WORKER (JSON) says.

It stands in for the interpreter, so it is called as `fake_worker.py CHILD_SCRIPT RESULT_FD < request`.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np

STAGES = ("import", "build", "trace", "lower", "compile", "first_run", "warm_up", "timing", "floor")


def main() -> None:
    request = json.load(sys.stdin)
    script = json.loads(os.environ["FAKE_WORKER"])
    log = Path(script["log"])
    started = len(log.read_text().splitlines()) if log.exists() else 0
    with log.open("a") as stream:
        stream.write(json.dumps({"framework": request["framework"], "number": request["number"]}) + "\n")
    print("garbage on stdout {not json}\x00\xff", flush=True)
    answers = os.fdopen(int(sys.argv[2]), "w")
    for stage in STAGES:
        answers.write(json.dumps({"stage": stage}) + "\n")
        answers.flush()
        if stage == "timing" and started == script.get("at", -1):
            if script["does"] == "die":
                os._exit(7)
            if script["does"] == "hang":
                time.sleep(600)
            if script["does"] == "nonsense":
                answers.write(json.dumps({"result": {"hello": 1}, "stages_s": {}}) + "\n")
                answers.flush()
                return
            if script["does"] == "half a line":
                answers.write('{"result": {"batch')
                answers.flush()
                os._exit(0)
    if request["outputs_file"]:
        np.savez(request["outputs_file"], output=np.array(script.get("outputs", {}).get(request["framework"], [1.0])))
    call_s = script.get("call_s", {}).get(request["framework"], 1e-3)
    rng = random.Random(started)
    number = request["number"] or 10
    result = {
        "batches_s": [number * call_s * rng.gauss(1, 0.005) for _ in range(request["batches"])],
        "number": number,
        "floor_s": script.get("floor_s", 5e-6),
        "peak_rss_bytes": 250_000_000,
        "compile_includes_run": request["framework"] == "tensorflow",
        "warm_up": {"steady": True},
        "counted_while_timing": {"compilations": script.get("compilations", 0), "traces": 0},
        "cpu_s": 0.1,
        "wall_s": 0.1,
        "cpus": [0, 1],
        "versions": {request["framework"]: script.get("version", "1.2.3")},
        "device": {"platform": script.get("platform", "cpu"), "kind": "cpu", "count": 1},
        "precision": {"x64": False},
        "arguments": {"x": "float32[4]"},
    }
    answers.write(json.dumps({"result": result, "stages_s": dict.fromkeys(STAGES, 0.01)}) + "\n")
    answers.flush()
    time.sleep(script.get("lingers_s", 0))


main()
