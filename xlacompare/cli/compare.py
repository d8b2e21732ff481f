"""Compare stored documents with the first of them: runs of bench or profile, or what `dump --json` and
`analyze --json` wrote. What differs in machine and versions is printed first; other models, types or devices are
refused. An upgrade of jaxlib, another machine, another day.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "stored runs against one another"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from xlacompare.cli.bench import share
    from xlacompare.cli.options import add_output_options

    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN.json", help="two or more, all of one kind")
    parser.add_argument("--force", action="store_true", help="compare other models, types or devices as well")
    parser.add_argument(
        "--min-effect",
        type=share,
        default=0.02,
        metavar="SHARE",
        help="smallest difference that matters (default: 2%%)",
    )
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.bench.across import compare_files
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.cli.progress import ascii_only
    from xlacompare.report.across import comparison_markdown, comparison_text

    comparison = compare_files(arguments.runs, force=arguments.force, min_effect=arguments.min_effect)
    if wants_json(arguments):
        write_json(comparison.to_json_dict())
    elif arguments.format == "markdown":
        sys.stdout.write(comparison_markdown(comparison))
    else:
        text = comparison_text(comparison, ascii_only=ascii_only(), verbose=arguments.verbose)
        console(arguments).print(text)
    return 0
