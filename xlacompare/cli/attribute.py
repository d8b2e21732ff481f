"""Whose doing the differences are: the frontends', which write the programs, or the compilers', which optimise them.

For a model, every framework's program is compiled by every framework's XLA, and the results are compared. More
compilers are added by --jax-python and --tensorflow-python. For two dump folders, what their texts tell without
compiling anything.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xlacompare.cli.options import (
    add_folder_options,
    add_framework_options,
    add_model_options,
    add_output_options,
    all_pythons,
    dump_arguments,
)
from xlacompare.errors import UsageError

if TYPE_CHECKING:
    from xlacompare.attribution.result import Attribution

SUMMARY = "whose doing the differences are: frontend, compiler, flags or pass"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", metavar="MODEL|LEFT", help="a model's name or folder; with RIGHT: a dump folder")
    parser.add_argument("right", nargs="?", metavar="RIGHT", help="another dump folder")
    parser.add_argument(
        "--try-flags",
        action="store_true",
        help="compile with one option of the other side, or one known switch, at a time, and say which explains what",
    )
    parser.add_argument("--time", action="store_true", help="run every program under every compiler as well")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="kernels through the passes (.svg or .png)")
    add_model_options(parser)
    add_framework_options(parser, further_pythons=True)
    add_folder_options(parser, out=None)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.report.attribution import attribution_markdown, attribution_text
    from xlacompare.report.pipeline_plot import check_plot_path

    if arguments.plot is not None:
        check_plot_path(arguments.plot)
    found = _of_model(arguments) if arguments.right is None else _of_folders(arguments)
    if arguments.plot is not None:
        _plot(arguments.plot, found)
    if wants_json(arguments):
        write_json(found.to_json_dict())
    elif arguments.format == "markdown":
        print(attribution_markdown(found), end="")
    else:
        console(arguments).print(attribution_text(found))
    return 0


def _of_model(arguments: argparse.Namespace) -> Attribution:
    from xlacompare.attribution import attribute
    from xlacompare.cli.output import stage_progress
    from xlacompare.dump import dump_request

    if arguments.no_jit or arguments.no_xla:
        raise UsageError("attribute compares what XLA makes of both sides; leave --no-jit and --no-xla out.")
    request = dump_request(arguments.left, **dump_arguments(arguments))
    with stage_progress(arguments) as on_stage:
        return attribute(
            request,
            further_pythons=all_pythons(arguments),
            out=arguments.out,
            overwrite=arguments.overwrite,
            try_flags=arguments.try_flags,
            time=arguments.time,
            on_stage=on_stage,
        )


def _of_folders(arguments: argparse.Namespace) -> Attribution:
    from xlacompare.attribution import attribute_folders

    if arguments.model_options:
        raise UsageError(f"there is no option --{next(iter(arguments.model_options))} for two dump folders.")
    for option in ("try_flags", "time"):
        if getattr(arguments, option):
            name = "--" + option.replace("_", "-")
            raise UsageError(f"{name} compiles and runs, which two dump folders cannot be; name a model instead.")
    return attribute_folders(Path(arguments.left), Path(arguments.right))


def _plot(path: Path, found: Attribution) -> None:
    from xlacompare.report.pipeline_plot import plot_pipelines

    if found.pipelines:
        plot_pipelines(found.pipelines, path, found.title)
    else:
        print(f"{path} was not written: there are no two pipelines that differ.", file=sys.stderr)
