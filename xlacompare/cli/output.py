"""Answers go to stdout, progress to stderr."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
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
    "warm_up": "warming up",
    "profile": "running under the profiler",
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


@contextlib.contextmanager
def stage_progress(arguments: argparse.Namespace) -> Iterator[Callable[[str, str], None]]:
    """Yield a function of (framework, stage) that says on stderr what is being done.

    On a terminal that is one line that changes; elsewhere a plain line a stage; with --quiet nothing.
    """
    from xlacompare.worker.launch import DISPLAY_NAMES

    if arguments.quiet:
        yield lambda framework, stage: None
    elif not sys.stderr.isatty():
        yield lambda framework, stage: print(
            f"{DISPLAY_NAMES[framework]}: {STAGE_WORDS.get(stage, stage)}", file=sys.stderr, flush=True
        )
    else:
        from rich.console import Console

        doing: dict[str, str] = {}
        with Console(stderr=True).status("starting") as status:

            def show(framework: str, stage: str) -> None:
                doing[framework] = f"{DISPLAY_NAMES[framework]}: {STAGE_WORDS.get(stage, stage)}"
                status.update("   ".join(doing[name] for name in sorted(doing)))

            yield show
