"""Count what XLA made of a program: fusions, kernels and launches of any HLO text file or dump folder, whoever made it.
Of a folder it is said which module is the one meant, and why.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from xlacompare.cli.options import add_output_options

SUMMARY = "count fusions, kernels and launches of an HLO text file or a dump folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PATH", help="an HLO text file (.gz too) or a dump folder")
    parser.add_argument("--strict", action="store_true", help="a doubt about the text is an error")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.reading import analyze

    analysis = analyze(arguments.path, strict=arguments.strict)
    if wants_json(arguments):
        write_json(analysis.to_json_dict())
    elif arguments.format == "markdown":
        from xlacompare.report.analysis import analysis_markdown

        print(analysis_markdown(analysis), end="")
    else:
        from xlacompare.report.analysis import analysis_text

        console(arguments).print(analysis_text(analysis, verbose=arguments.verbose))
    return 0
