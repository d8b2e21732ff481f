"""Dump folders in the making: hidden beside their places, and gone again whatever happens."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stage:
    """A folder in the making: where the dump grows, by which name XLA is told of it, where the outputs go."""

    directory: Path
    name_for_xla: Path
    outputs_file: Path


@contextlib.contextmanager
def staging(home: Path, frameworks: Sequence[str]) -> Iterator[dict[str, Stage]]:
    """Yield a hidden folder beside the final place for each framework; whatever happens, none is left over.

    XLA splits its flags at white space, so it is told of each folder by a link of a plain name.
    """
    new_folders = [folder for folder in (home, *home.parents) if not folder.exists()]
    home.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="xlacompare-"))
    made = []
    try:
        stages = {}
        for framework in frameworks:
            directory = Path(tempfile.mkdtemp(prefix=f".{framework}.partial-", dir=home)).resolve()
            made.append(directory)
            link = scratch / framework
            link.symlink_to(directory)
            stages[framework] = Stage(directory, link, scratch / f"{framework}.npz")
        yield stages
    finally:
        for directory in made:
            shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in new_folders:
            # Folders that this run made for nothing go again; one with something in it stays.
            with contextlib.suppress(OSError):
                folder.rmdir()
