"""Compile model pairs in one process per framework with dumping on, compare their outputs, keep what XLA wrote in
OUT/MODEL/VARIANT/FRAMEWORK/, and show the census side by side.
"""

from __future__ import annotations

import argparse

from xlacompare.cli.options import (
    add_folder_options,
    add_framework_options,
    add_model_options,
    add_output_options,
    dump_arguments,
)

SUMMARY = "compile a model pair with dumping on, and count what XLA made of it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a built-in name, a plugin's, or a model folder")
    add_model_options(parser)
    add_framework_options(parser)
    add_folder_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import stage_progress, wants_json, write_json
    from xlacompare.dump import dump_request, make_dumps
    from xlacompare.errors import UsageError

    if wants_json(arguments) and len(arguments.models) > 1:
        raise UsageError(f"--json writes one document, for one model; {len(arguments.models)} were named.")
    requests = [dump_request(name, **dump_arguments(arguments)) for name in arguments.models]
    for request in requests:
        with stage_progress(arguments) as on_stage:
            result = make_dumps(request, arguments.out, overwrite=arguments.overwrite, on_stage=on_stage)
        if wants_json(arguments):
            write_json(result.to_json_dict())
        else:
            _show(arguments, result)
    return 0


def _show(arguments: argparse.Namespace, result: object) -> None:
    from xlacompare.cli.output import console
    from xlacompare.dump import DumpResult
    from xlacompare.report.dump import dump_markdown, dump_text

    assert isinstance(result, DumpResult)
    if arguments.format == "markdown":
        print(dump_markdown(result), end="")
    else:
        console(arguments).print(dump_text(result))
