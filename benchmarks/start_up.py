"""How much longer `xlacompare --help` takes than `python -c pass`; rounds alternate, medians are compared.

python benchmarks/start_up.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    commands = {"python -c pass": ["-c", "pass"], "xlacompare --help": ["-m", "xlacompare", "--help"]}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, arguments in commands.items():
            times[name].append(seconds(arguments))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:18} {value * 1e3:6.1f} ms  (median of {rounds})")
    print(f"difference: {(medians['xlacompare --help'] - medians['python -c pass']) * 1e3:.1f} ms (bar: 200)")


if __name__ == "__main__":
    main()
