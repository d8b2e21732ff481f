"""Measure the time of each kernel on both sides with the frameworks' own profilers, joined to the fusion diff: kernel
pair, what is inside, left, right, difference; and how near each kernel comes to what this machine can do.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xlacompare.errors import UsageError

if TYPE_CHECKING:
    from xlacompare.bench.peaks import Peaks
    from xlacompare.bench.profile import Profile

SUMMARY = "measured time per kernel, both sides, joined to the diff"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from xlacompare.cli.bench import add_pinning_option
    from xlacompare.cli.options import (
        add_framework_options,
        add_model_options,
        add_output_options,
        add_storage_options,
    )

    parser.add_argument("model", metavar="MODEL", help="a built-in name, a plugin's, or a model folder")
    add_model_options(parser)
    add_framework_options(parser)
    group = parser.add_argument_group("the profile")
    group.add_argument("--rounds", type=int, metavar="N", help="processes a side (default: 3)")
    group.add_argument("--quick", action="store_true", help="one process a side")
    group.add_argument("--steps", type=int, default=50, metavar="N", help="executions a process (default: %(default)s)")
    add_pinning_option(group)
    group.add_argument("--no-peaks", action="store_true", help="do not measure what the machine can do")
    group.add_argument("--remeasure-peaks", action="store_true", help="measure that again, instead of what is kept")
    group = add_storage_options(parser, "profile", "the stored profile")
    group.add_argument("--plot", type=Path, metavar="FILE", help="also draw the kernels, .svg or .png")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.bench.profiler import DEFAULT_ROUNDS, QUICK_ROUNDS, profile
    from xlacompare.bench.request import bench_plan
    from xlacompare.bench.run import default_path, write_text_whole
    from xlacompare.cli.options import pythons, xla_flags
    from xlacompare.cli.output import stage_progress

    if arguments.no_jit or arguments.no_xla:
        raise UsageError("a profile is of compiled programs; leave --no-jit and --no-xla out.")
    if arguments.steps < 1:
        raise UsageError(f"--steps {arguments.steps}: one step at least.")
    rounds = arguments.rounds or (QUICK_ROUNDS if arguments.quick else DEFAULT_ROUNDS)
    plan = bench_plan(
        arguments.model,
        variant=arguments.variant,
        size=arguments.size,
        batch=arguments.batch,
        seed=arguments.seed,
        options=arguments.model_options,
        settings={"vectorize": not arguments.no_vectorize},
        names=arguments.frameworks,
        rounds=rounds,
        xla_flags=xla_flags(arguments),
        cpus=arguments.cpus,
        device=arguments.device,
        pythons=pythons(arguments),
        timeout_s=arguments.timeout,
        command=("xlacompare", *arguments.argv),
    )
    peaks = _peaks(arguments)
    with stage_progress(arguments) as on_stage:
        result = profile(plan, steps_wanted=arguments.steps, peaks=peaks, on_stage=on_stage)
    path = arguments.output or default_path(arguments.out, plan.model, result.created, "profile")
    write_text_whole(path, result.to_json())
    _show(arguments, result)
    if not arguments.quiet:
        print(f"kept in {path}", file=sys.stderr)
    return 0


def _peaks(arguments: argparse.Namespace) -> Peaks | None:
    # What is measured is the cores' peaks; a GPU's would need a framework of its own.
    if arguments.no_peaks or arguments.device != "cpu":
        return None
    from xlacompare.bench.peaks import machine_peaks

    return machine_peaks(anew=arguments.remeasure_peaks)


def _show(arguments: argparse.Namespace, result: Profile) -> None:
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.cli.progress import ascii_only
    from xlacompare.report.profile import profile_markdown, profile_text

    if arguments.plot is not None:
        from xlacompare.report.plots_kernels import draw_kernels

        draw_kernels(result, arguments.plot)
    if wants_json(arguments):
        write_json(result.to_json_dict())
    elif arguments.format == "markdown":
        sys.stdout.write(profile_markdown(result))
    else:
        console(arguments).print(profile_text(result, ascii_only=ascii_only(), verbose=arguments.verbose))
