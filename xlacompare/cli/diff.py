"""The fusion diff of two HLO files or dump folders, or of a model's two frameworks (which are dumped first where no
dump of this kind is there): which kernels hold the same operations, and where the rest went.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlacompare.cli.options import (
    add_folder_options,
    add_framework_options,
    add_model_options,
    add_output_options,
    dump_arguments,
    positive,
)
from xlacompare.errors import UsageError

if TYPE_CHECKING:
    from xlacompare.compare import Beside
    from xlacompare.diff import Diff
    from xlacompare.diff.noise import NoiseFloor

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
    parser.add_argument(
        "--repeat", type=positive, metavar="N", help="compile a model N times, and say first what differs between runs"
    )
    parser.add_argument(
        "--model-explorer",
        type=Path,
        metavar="DIR",
        help="write both graphs and the mapping for Google's Model Explorer",
    )
    add_model_options(parser)
    add_framework_options(parser)
    add_folder_options(parser, out=None)
    add_output_options(parser)


REPORT_NAME = "report.md"
JSON_NAME = "diff.json"


@dataclass(frozen=True)
class Answer:
    """A diff, where its files go (None: nowhere), and what stands around it."""

    difference: Diff
    home: Path | None
    noise: Mapping[str, NoiseFloor] = field(default_factory=dict)
    beside: Sequence[Beside] = ()

    def to_json_dict(self) -> dict[str, Any]:
        document = self.difference.to_json_dict()
        if self.noise:
            document["noise"] = {name: floor.to_json_dict() for name, floor in self.noise.items()}
        if self.beside:
            document["beside"] = [module.to_json_dict() for module in self.beside]
        return document


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import wants_json, write_json

    answer = _of_model(arguments) if arguments.right is None else _of_paths(arguments)
    written = _write_files(arguments, answer)
    if wants_json(arguments):
        write_json(answer.to_json_dict())
        return 0
    _show(arguments, answer)
    if written:
        # Beside an answer for a person it is part of the answer; a Markdown text stays a Markdown text.
        stream = sys.stderr if arguments.format == "markdown" else sys.stdout
        print(f"\nWritten: {', '.join(map(str, written))}", file=stream)
    return 0


def _of_model(arguments: argparse.Namespace) -> Answer:
    from xlacompare.cli.output import stage_progress
    from xlacompare.compare import diff_dumps, noise_of
    from xlacompare.dump import dump_home, dump_request, dumps_of

    request = dump_request(arguments.left, **dump_arguments(arguments))
    if len(request.frameworks) != 2:
        raise UsageError("a diff takes two frameworks; leave --frameworks out, or give two paths.")
    out = arguments.out or Path("dumps")
    with stage_progress(arguments) as on_stage:
        result = dumps_of(request, out, overwrite=arguments.overwrite, on_stage=on_stage)
        noise = noise_of(request, arguments.repeat, on_stage=on_stage) if arguments.repeat else {}
    difference = diff_dumps(result, pairs=_pairs(arguments.pair))
    return Answer(difference, dump_home(out, request.name, request.variant), noise)


def _of_paths(arguments: argparse.Namespace) -> Answer:
    from xlacompare.compare import beside, diff_paths

    if arguments.model_options:
        raise UsageError(f"there is no option --{next(iter(arguments.model_options))} for a diff of two paths.")
    if arguments.repeat:
        raise UsageError("--repeat compiles a model several times; two paths cannot be compiled.")
    difference = diff_paths(arguments.left, arguments.right, pairs=_pairs(arguments.pair))
    return Answer(difference, arguments.out, beside=beside(arguments.left, arguments.right))


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    pairs = []
    for word in words:
        left, separator, right = word.partition("=")
        if not (left and separator and right):
            raise UsageError(f"--pair takes LEFT=RIGHT, found {word!r}; for example --pair x=arg2.1 or --pair 0=2")
        pairs.append((left, right))
    return pairs


def _write_files(arguments: argparse.Namespace, answer: Answer) -> list[Path]:
    """Write the report, the document and what else was asked for; return the paths."""
    from xlacompare import documents

    files: dict[Path, str] = {}
    if answer.home is not None:
        files = {
            answer.home / REPORT_NAME: _markdown(answer),
            answer.home / JSON_NAME: documents.dumps(answer.to_json_dict()),
        }
    if arguments.model_explorer is not None:
        from xlacompare.diff.model_explorer import graph_collection, sync_navigation

        folder, difference = arguments.model_explorer, answer.difference
        for name, document in (
            ("left.json", graph_collection(difference, 0)),
            ("right.json", graph_collection(difference, 1)),
            ("sync_navigation.json", sync_navigation(difference)),
        ):
            files[folder / name] = documents.dumps(document)
    if arguments.right is not None and not arguments.overwrite:
        for path in files:
            if path.exists():
                raise UsageError(f"{path} is there already; pass --overwrite to replace it, or another folder.")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return list(files)


def _markdown(answer: Answer) -> str:
    from xlacompare.report.diff_beside import beside_markdown, noise_sentences
    from xlacompare.report.diff_markdown import diff_markdown

    parts = [f"{sentence}\n" for sentence in noise_sentences(answer.noise)]
    parts.append(diff_markdown(answer.difference))
    if answer.beside:
        parts.append(beside_markdown(answer.beside))
    return "\n".join(parts)


def _show(arguments: argparse.Namespace, answer: Answer) -> None:
    if arguments.format == "markdown":
        print(_markdown(answer), end="")
        return
    from xlacompare.cli.output import console
    from xlacompare.report.diff_beside import beside_table, noise_sentences
    from xlacompare.report.diff_text import diff_text

    screen = console(arguments)
    for sentence in noise_sentences(answer.noise):
        screen.print(sentence, markup=False)
    screen.print(diff_text(answer.difference, text_diff=arguments.text_diff))
    if answer.beside:
        screen.print()
        screen.print(beside_table(answer.beside))
