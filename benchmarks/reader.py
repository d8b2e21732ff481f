"""How fast the HLO reader is, as ratios to jaxlib's C++ parser on the same text in the same run.

    python benchmarks/reader.py [--layers 400] [--text FILE] [--rounds 3]

Makes its own text: the optimised HLO of the gradient of many dense, tanh and dropout layers. Each side runs in child
processes of its own, in turn, so that neither warms the other's caches and each one's peak memory is its own.
Times are the process's CPU seconds, the least of the rounds; memory is the peak above what it held before reading
(Linux only).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MAKE = """
import sys
import jax, jax.numpy as jnp

def net(weights, x, key):
    for w in weights:
        key, sub = jax.random.split(key)
        x = jnp.tanh(x @ w)
        x = jnp.where(jax.random.bernoulli(sub, 0.9, x.shape), x / 0.9, 0.0)
    return jnp.mean(x**2)

weights = [jnp.full((32, 32), 0.01) for _ in range(int(sys.argv[1]))]
compiled = jax.jit(jax.grad(net)).lower(weights, jnp.ones((8, 32)), jax.random.key(0)).compile()
open(sys.argv[2], "w", encoding="utf-8").write(compiled.as_text())
"""
MEASURE = """
import json, re, sys, time
task, path = sys.argv[1:]

def memory(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])

if task == "jaxlib":
    from jaxlib import _hlo
else:
    from xlacompare.hlo import read_text
text = open(path, encoding="utf-8").read()
before = memory("VmRSS")
started = time.process_time()
if task == "jaxlib":
    kept = _hlo.hlo_module_from_text(text)
else:
    kept = read_text(text)
    if task == "census":
        for module in kept:
            total = sum(len(one.opcodes) for one in module.computations)
            fusions = module.entry.opcodes.count("fusion")
    else:
        for module in kept:
            module.build()
            edges = sum(len(i.operands) for c in module.computations for i in c.instructions)
seconds = time.process_time() - started
peak = memory("VmHWM")
print(json.dumps({"cpu_s": seconds, "peak_bytes": (peak - before) * 1024}))
"""
LIMITS = {"census": 0.25, "graph": 0.7, "memory": 1.0, "ten modules": 12.0}


def measure(task: str, path: Path, rounds: int) -> dict[str, float]:
    """Return the least CPU seconds and peak bytes of a task over some rounds, each in a new process."""
    answers = []
    for _ in range(rounds):
        command = [sys.executable, "-c", MEASURE, task, str(path)]
        answers.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return {key: min(answer[key] for answer in answers) for key in ("cpu_s", "peak_bytes")}


def main() -> int:
    """Print the figures and return 1 where one is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--text", type=Path, help="an HLO text to read instead of making one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.text or Path(folder) / "one.txt"
        if options.text is None:
            subprocess.run([sys.executable, "-c", MAKE, str(options.layers), str(path)], check=True)
        text = path.read_text(encoding="utf-8")
        print(f"{len(text) / 1e6:.1f} MB, {text.count(chr(10))} lines")
        ten = Path(folder) / "ten.txt"
        ten.write_text(text * 10, encoding="utf-8")
        jaxlib = measure("jaxlib", path, options.rounds)
        census = measure("census", path, options.rounds)
        graph = measure("graph", path, options.rounds)
        ten_times = measure("census", ten, 1)
    print(f"jaxlib {jaxlib['cpu_s']:.3f} s, {jaxlib['peak_bytes'] / 1e6:.0f} MB")
    print(f"census {census['cpu_s']:.3f} s, {census['peak_bytes'] / 1e6:.0f} MB")
    print(f"graph  {graph['cpu_s']:.3f} s, {graph['peak_bytes'] / 1e6:.0f} MB")
    ratios = {
        "census": census["cpu_s"] / jaxlib["cpu_s"],
        "graph": graph["cpu_s"] / jaxlib["cpu_s"],
        "memory": graph["peak_bytes"] / jaxlib["peak_bytes"],
        "ten modules": ten_times["cpu_s"] / census["cpu_s"],
    }
    for name, ratio in ratios.items():
        verdict = "" if ratio <= LIMITS[name] else "  OVER"
        print(f"{name}: {ratio:.3f} (at most {LIMITS[name]}){verdict}")
    return int(any(ratio > LIMITS[name] for name, ratio in ratios.items()))


if __name__ == "__main__":
    raise SystemExit(main())
