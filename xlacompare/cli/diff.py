"""The fusion diff of two HLO files or dump folders, or of a model's two frameworks (which are dumped first where no
dump of this kind is there): which kernels hold the same operations, and where the rest went.
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
    dump_arguments,
)
from xlacompare.errors import UsageError

if TYPE_CHECKING:
    from xlacompare.diff import Diff

SUMMARY = "the fusion diff of two dumps, or of a model's two frameworks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "left", metavar="LEFT|MODEL", help="an HLO file or dump folder; alone: a model's name or folder"
    )
    parser.add_argument("right", nargs="?", metavar="RIGHT", help="an HLO file or dump folder")
    parser.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="LEFT=RIGHT",
        help="parameters that belong together (names or numbers)",
    )
    parser.add_argument("--text-diff", action="store_true", help="show the two ENTRY computations side by side as well")
    add_model_options(parser)
    add_framework_options(parser)
    add_folder_options(parser, out=None)
    add_output_options(parser)


REPORT_NAME = "report.md"
JSON_NAME = "diff.json"


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import wants_json, write_json

    difference, home = _of_model(arguments) if arguments.right is None else _of_paths(arguments)
    if home is not None:
        _write_files(arguments, difference, home)
    if wants_json(arguments):
        write_json(difference.to_json_dict())
    else:
        _show(arguments, difference)
        if home is not None:
            # Beside an answer for a person it is part of the answer; a Markdown text stays a Markdown text.
            stream = sys.stderr if arguments.format == "markdown" else sys.stdout
            print(f"\nWritten: {home / REPORT_NAME} and {home / JSON_NAME}", file=stream)
    return 0


def _of_model(arguments: argparse.Namespace) -> tuple[Diff, Path]:
    from xlacompare.cli.output import stage_progress
    from xlacompare.compare import diff_dumps
    from xlacompare.dump import dump_home, dump_request, dumps_of

    request = dump_request(arguments.left, **dump_arguments(arguments))
    if len(request.frameworks) != 2:
        raise UsageError("a diff takes two frameworks; leave --frameworks out, or give two paths.")
    out = arguments.out or Path("dumps")
    with stage_progress(arguments) as on_stage:
        result = dumps_of(request, out, overwrite=arguments.overwrite, on_stage=on_stage)
    return diff_dumps(result, pairs=_pairs(arguments.pair)), dump_home(out, request.name, request.variant)


def _of_paths(arguments: argparse.Namespace) -> tuple[Diff, Path | None]:
    from xlacompare.compare import diff_paths

    if arguments.model_options:
        raise UsageError(f"there is no option --{next(iter(arguments.model_options))} for a diff of two paths.")
    return diff_paths(arguments.left, arguments.right, pairs=_pairs(arguments.pair)), arguments.out


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    pairs = []
    for word in words:
        left, separator, right = word.partition("=")
        if not (left and separator and right):
            raise UsageError(f"--pair takes LEFT=RIGHT, found {word!r}; for example --pair x=arg2.1 or --pair 0=2")
        pairs.append((left, right))
    return pairs


def _write_files(arguments: argparse.Namespace, difference: Diff, home: Path) -> None:
    from xlacompare.report.diff_markdown import diff_markdown

    files = {home / REPORT_NAME: diff_markdown(difference), home / JSON_NAME: difference.to_json()}
    if arguments.right is not None and not arguments.overwrite:
        for path in files:
            if path.exists():
                raise UsageError(f"{path} is there already; pass --overwrite to replace it, or another --out.")
    home.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)


def _show(arguments: argparse.Namespace, difference: Diff) -> None:
    if arguments.format == "markdown":
        from xlacompare.report.diff_markdown import diff_markdown

        print(diff_markdown(difference), end="")
    else:
        from xlacompare.cli.output import console
        from xlacompare.report.diff_text import diff_text

        console(arguments).print(diff_text(difference, text_diff=arguments.text_diff))
