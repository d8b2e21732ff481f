"""How often does bench tell two equal programs apart? Many self checks, and how many gave a false verdict.

    python benchmarks/self_check.py --runs 20 --rounds 6 --write docs/self_check.md

Each run is what `xlacompare bench MODEL --self-check COLUMN --rounds N` does. At 95 % one run in twenty is allowed a
false verdict. What has been measured is kept beside the output, so that an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from xlacompare.bench import stats
from xlacompare.bench.analysis import Comparison, comparisons
from xlacompare.bench.request import bench_plan
from xlacompare.bench.run import Run, read_run
from xlacompare.bench.runner import carry_out, new_run

FALSE = (stats.FASTER, stats.SLOWER)


@dataclass(frozen=True)
class Check:
    """One self check: its run and what it said."""

    column: str
    run: Run
    comparison: Comparison

    @property
    def is_false(self) -> bool:
        return self.comparison.verdict in FALSE


def self_check(model: str, variant: str, column: str, rounds: int, path: Path) -> Check:
    """Return the check that is kept at `path`, made or finished first if it is not."""
    plan = bench_plan(model, variant=variant, self_check=column, rounds=rounds)
    run = read_run(path) if path.exists() else new_run(plan)
    run = carry_out(run, path)
    return Check(column, run, comparisons(run)[0])


def markdown(checks: list[Check], model: str, variant: str) -> str:
    """Return what all checks said, as a page."""
    run = checks[0].run
    command = f"xlacompare bench {model} --variant {variant} --self-check COLUMN --rounds {run.rounds}"
    machine = f"{run.environment.get('cpu')} ({run.environment.get('cpus')} cores)"
    lines = [
        "# Self checks",
        "",
        f"`{command}`, many times, on {machine}, made by `benchmarks/self_check.py`.",
        "Both sides are the same program, so every verdict of faster or slower is false; one in twenty is allowed.",
        "",
        "| column | runs | false verdicts | no difference | inconclusive | median width of the interval |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for column in dict.fromkeys(check.column for check in checks):
        mine = [check for check in checks if check.column == column]
        verdicts = [check.comparison.verdict for check in mine]
        widths = sorted(check.comparison.ratio.high / check.comparison.ratio.low - 1 for check in mine)
        counts = [
            sum(check.is_false for check in mine),
            *map(verdicts.count, (stats.NO_DIFFERENCE, stats.INCONCLUSIVE)),
        ]
        lines.append(f"| {column} | {len(mine)} | {' | '.join(map(str, counts))} | {widths[len(widths) // 2]:.1%} |")
    lines += ["", "| column | ratio | 95 % interval | p | sign flips | verdict | load at start |", "| --- " * 7 + "|"]
    for check in checks:
        ratio = check.comparison.ratio
        lines.append(
            f"| {check.column} | {ratio.estimate:.3f} | {ratio.low:.3f} to {ratio.high:.3f} | {ratio.p:.3f} | "
            f"{ratio.sign_flip_p:.3f} | {check.comparison.verdict} | {check.run.environment.get('load_average')} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mlp")
    parser.add_argument("--variant", default="grad")
    parser.add_argument("--columns", default="jax,tensorflow")
    parser.add_argument("--runs", type=int, default=20, help="of each column")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--keep", type=Path, default=Path("dumps/self_check"), help="where the runs are kept")
    parser.add_argument("--write", type=Path, help="write the page here as well")
    arguments = parser.parse_args()
    checks = []
    # The columns take turns, so that a machine that changes over the hours changes for both.
    for number in range(arguments.runs):
        for column in arguments.columns.split(","):
            path = arguments.keep / f"{column}-{number:02d}.json"
            check = self_check(arguments.model, arguments.variant, column, arguments.rounds, path)
            checks.append(check)
            ratio = check.comparison.ratio
            print(
                f"{number + 1:2d} {column:11s} {ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]  "
                f"{check.comparison.verdict}{'   FALSE' if check.is_false else ''}",
                flush=True,
            )
    false = sum(check.is_false for check in checks)
    print(f"{false} false verdicts in {len(checks)} self checks")
    if arguments.write is not None:
        checks.sort(key=lambda check: check.column)
        arguments.write.write_text(markdown(checks, arguments.model, arguments.variant))


if __name__ == "__main__":
    main()
