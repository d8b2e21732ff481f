"""Progress of a run on stderr: one moving line with the time left on a terminal, a plain line a process elsewhere."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlacompare.bench.plan import Plan
    from xlacompare.bench.runner import Progress


@contextlib.contextmanager
def bench_progress(arguments: argparse.Namespace, plan: Plan) -> Iterator[Callable[[Progress], None] | None]:
    """Yield what is to be told of a run's progress, or None where nothing is to be shown."""
    if arguments.quiet:
        yield None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _moving_line(plan) as show:
            yield show
    else:
        yield _plain_line


def ascii_only() -> bool:
    """Return whether answers had better keep to ASCII."""
    return os.environ.get("TERM") == "dumb" or not (sys.stdout.encoding or "").lower().startswith("utf")


def sentence(progress: Progress) -> str:
    """Return where a run is, with the time left where it can be guessed."""
    left = "" if progress.left_s is None else f", about {_clock(progress.left_s)} left"
    return f"{progress.done + 1}/{progress.total} round {progress.round + 1}: {progress.column}{left}"


def _plain_line(progress: Progress) -> None:
    if progress.stage == "import":
        print(sentence(progress), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _moving_line(plan: Plan) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.status import Status

    with Status(plan.model, console=Console(stderr=True)) as status:
        yield lambda progress: status.update(f"{plan.model}  {sentence(progress)}  ({progress.stage})")


def _clock(seconds: float) -> str:
    """Return a duration as people say it.

    >>> _clock(75)
    '1 min 15 s'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
