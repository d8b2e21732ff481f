"""Answers go to stdout, progress to stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xlacompare import documents

if TYPE_CHECKING:
    from rich.console import Console

STAGE_WORDS = {
    "start": "starting",
    "import": "importing the framework",
    "build": "building the model",
    "trace": "tracing",
    "lower": "lowering",
    "compile": "compiling",
    "run": "running once",
}


def wants_json(arguments: argparse.Namespace) -> bool:
    return bool(arguments.json) or arguments.format == "json"


def write_json(document: Mapping[str, Any]) -> None:
    """Write exactly one JSON document to stdout."""
    sys.stdout.write(documents.dumps(document))


def console(arguments: argparse.Namespace) -> Console:
    """Return the console that answers go to, as wide and as coloured as was asked for."""
    from rich.console import Console

    colour = {"auto": None, "always": True, "never": False}[arguments.color]
    return Console(
        width=arguments.width,
        force_terminal=colour,
        no_color=colour is False,
        highlight=False,
        soft_wrap=False,
        emoji=False,
    )


def stage_printer(arguments: argparse.Namespace) -> Callable[[str, str], None]:
    """Return a function of (framework, stage) that says on stderr what is being done."""
    from xlacompare.worker.launch import DISPLAY_NAMES

    def show(framework: str, stage: str) -> None:
        if not arguments.quiet:
            print(f"{DISPLAY_NAMES[framework]}: {STAGE_WORDS.get(stage, stage)}", file=sys.stderr, flush=True)

    return show
