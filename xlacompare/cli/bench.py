"""Time a model in JAX and TensorFlow side by side: rounds of fresh processes, one after the other, paired, with the
outputs compared before the times are. The ratio's verdict is one of faster, slower, no difference and inconclusive.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from xlacompare.errors import UsageError

if TYPE_CHECKING:
    from xlacompare.bench.plan import Plan
    from xlacompare.bench.run import Run

SUMMARY = "time the frameworks side by side"
FORMATS = ("text", "markdown", "json", "csv", "pyperf", "action")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from xlacompare.cli.options import (
        add_framework_options,
        add_model_options,
        add_output_options,
        add_storage_options,
    )

    parser.add_argument("models", nargs="*", metavar="MODEL", help="a built-in name, a plugin's, or a model folder")
    add_model_options(parser)
    add_framework_options(parser)
    _add_timing_options(parser)
    group = add_storage_options(parser, "bench", "the stored run (one model)")
    group.add_argument("--plot", type=Path, metavar="FILE", help="also draw the rounds, .svg or .png (one model)")
    group.add_argument(
        "--plot-phases", type=Path, metavar="FILE", help="also draw the phases, .svg or .png (one model)"
    )
    add_output_options(parser, FORMATS)


def _add_timing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the timing")
    group.add_argument(
        "--columns",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        metavar="LIST",
        help="instead of --frameworks: jax, jax-eager, tensorflow, tensorflow-graph, tensorflow-eager; "
        "the first is compared with each other one",
    )
    group.add_argument("--rounds", type=int, metavar="N", help="default: 10; fewer than 6 give no verdict")
    group.add_argument("--quick", action="store_true", help="3 rounds: indicative numbers without a verdict")
    group.add_argument("--until-resolved", action="store_true", help="go on until no verdict is inconclusive")
    group.add_argument(
        "--max-time", type=_duration, metavar="TIME", help="start no round that would end later: 90, 10m, 1h"
    )
    group.add_argument("--mode", choices=("latency", "throughput"), default="latency", help="default: %(default)s")
    group.add_argument(
        "--min-effect",
        type=share,
        default=0.02,
        metavar="SHARE",
        help="smallest difference that matters (default: 2%%)",
    )
    group.add_argument(
        "--self-check", metavar="COLUMN", help="time one column against itself: what this machine resolves"
    )
    add_pinning_option(group)
    group.add_argument("--order", choices=("alternate", "shuffle"), default="alternate", help="default: %(default)s")
    group.add_argument("--resume", type=Path, metavar="RUN.json", help="go on with a run that was stopped")
    group.add_argument("--no-census", action="store_true", help="do not compile once more to count the kernels")


def add_pinning_option(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--cpus", type=_cpus, default=(), metavar="LIST", help="pin both sides to these cores: 0,1 or 0-3"
    )


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import wants_json

    _check(arguments)
    several = len(arguments.models) > 1
    if several and (wants_json(arguments) or arguments.format not in ("text", "markdown")):
        raise UsageError(
            f"--format {arguments.format} writes one document, for one model; {len(arguments.models)} are named."
        )
    if arguments.resume is not None:
        _show(arguments, *_resume(arguments))
        return 0
    # Every plan is checked before minutes go into the first one.
    plans = [_plan(arguments, model) for model in arguments.models]
    for plan in plans:
        _show(arguments, *_carry_out(arguments, plan))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if bool(arguments.models) == (arguments.resume is not None):
        raise UsageError("name the models to time, or a stopped run with --resume RUN.json, and not both.")
    if len(arguments.models) > 1 and (arguments.output or arguments.plot or arguments.plot_phases):
        raise UsageError("-o and --plot name one file each, for one model; use --out DIR for several.")
    if arguments.columns and arguments.self_check:
        raise UsageError("--self-check times one column against itself; leave --columns out.")
    if arguments.quick and arguments.until_resolved:
        raise UsageError("--quick gives no verdict and --until-resolved waits for one; leave one of them out.")


def _plan(arguments: argparse.Namespace, model: str) -> Plan:
    from xlacompare.bench.request import bench_plan
    from xlacompare.cli.options import pythons, xla_flags

    return bench_plan(
        model,
        variant=arguments.variant,
        size=arguments.size,
        batch=arguments.batch,
        seed=arguments.seed,
        options=arguments.model_options,
        settings={"vectorize": not arguments.no_vectorize},
        names=arguments.columns or _names(arguments),
        self_check=arguments.self_check,
        quick=arguments.quick,
        rounds=arguments.rounds,
        xla_flags=xla_flags(arguments),
        mode=arguments.mode,
        min_effect=arguments.min_effect,
        order=arguments.order,
        order_seed=arguments.seed,
        until_resolved=arguments.until_resolved,
        max_time_s=arguments.max_time,
        cpus=arguments.cpus,
        device=arguments.device,
        pythons=pythons(arguments),
        timeout_s=arguments.timeout,
        command=("xlacompare", *arguments.argv),
    )


def _names(arguments: argparse.Namespace) -> list[str]:
    """Return the columns that --frameworks, --no-jit and --no-xla stand for."""
    suffix = {"jax": "-eager" if arguments.no_jit else "", "tensorflow": ""}
    if arguments.no_jit:
        suffix["tensorflow"] = "-eager"
    elif arguments.no_xla:
        suffix["tensorflow"] = "-graph"
    return [framework + suffix[framework] for framework in arguments.frameworks]


def _carry_out(arguments: argparse.Namespace, plan: Plan) -> tuple[Run, Path]:
    from xlacompare.bench.kernels import count_kernels
    from xlacompare.bench.run import default_path
    from xlacompare.bench.runner import carry_out, new_run
    from xlacompare.cli.progress import bench_progress

    run = new_run(plan, {} if arguments.no_census else count_kernels(plan))
    path = arguments.output or default_path(arguments.out, plan.model, run.created)
    with bench_progress(arguments, plan) as on_progress, _kept_when_interrupted(path):
        return carry_out(run, path, on_progress=on_progress), path


def _resume(arguments: argparse.Namespace) -> tuple[Run, Path]:
    from xlacompare.bench.run import read_run
    from xlacompare.bench.runner import carry_out
    from xlacompare.cli.progress import bench_progress

    path = arguments.resume
    run = read_run(path)
    with bench_progress(arguments, run.plan) as on_progress, _kept_when_interrupted(path):
        return carry_out(run, path, on_progress=on_progress), path


@contextlib.contextmanager
def _kept_when_interrupted(path: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if path.exists():
            print(f"finished rounds are kept; go on with: xlacompare bench --resume {path}", file=sys.stderr)
        raise


def _show(arguments: argparse.Namespace, run: Run, path: Path) -> None:
    from xlacompare.bench.export import to_action, to_csv, to_pyperf
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.cli.progress import ascii_only
    from xlacompare.report.bench import bench_markdown, bench_text

    _draw(arguments, run)
    exports = {"csv": to_csv, "pyperf": to_pyperf, "action": to_action}
    if wants_json(arguments):
        write_json(run.to_json_dict())
    elif arguments.format in exports:
        sys.stdout.write(exports[arguments.format](run))
    elif arguments.format == "markdown":
        sys.stdout.write(bench_markdown(run))
    else:
        console(arguments).print(bench_text(run, ascii_only=ascii_only(), verbose=arguments.verbose))
    if not arguments.quiet:
        print(f"kept in {path}", file=sys.stderr)


def _draw(arguments: argparse.Namespace, run: Run) -> None:
    if arguments.plot is None and arguments.plot_phases is None:
        return
    from xlacompare.report.plots import draw_phases, draw_rounds

    for draw, path in ((draw_rounds, arguments.plot), (draw_phases, arguments.plot_phases)):
        if path is not None:
            draw(run, path)


def share(text: str) -> float:
    """Return a share, given as 2% or 0.02."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 2% or 0.02") from None


def _duration(text: str) -> float:
    """Return seconds, given as 90, 90s, 10m or 1h."""
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    try:
        seconds = float(text if factor is None else text[:-1]) * (factor or 1)
    except ValueError:
        seconds = -1.0
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90, 10m or 1h")
    return seconds


def _cpus(text: str) -> tuple[int, ...]:
    """Return cores, given as 0,1 or 0-3."""
    cpus: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            cpus += range(int(first), int(last) + 1) if dash else [int(first)]
    except ValueError:
        cpus = []
    if not cpus or len(set(cpus)) != len(cpus):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of cores; write 0,1 or 0-3")
    return tuple(cpus)
