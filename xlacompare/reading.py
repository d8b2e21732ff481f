"""From a path to what is in it: HLO text files and dump folders, whoever made them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlacompare.census import Census, census
from xlacompare.documents import document
from xlacompare.dumps import DumpedModule, DumpFolder, parse_file_name, read_folder
from xlacompare.errors import HloError, UsageError
from xlacompare.hlo import Module, read_file
from xlacompare.results import Result


def existing(path: Path | str) -> Path:
    """Return `path` as a Path; raise UsageError if nothing is there, or it cannot be read."""
    path = Path(path)
    if not path.exists():
        raise UsageError(f"there is nothing at {path}. Name an HLO text file or a dump folder.")
    if not os.access(path, os.R_OK):
        raise UsageError(f"{path} is there and may not be read by this user.")
    return path


def load(path: Path | str, *, strict: bool = False) -> Module:
    """Return the module that is meant at `path`: a file's first one, or a dump folder's main one, optimized.

    Raises:
        UsageError: nothing is there.
        HloError: the text cannot be read; NotHloError if it is something else.
        DumpError: the folder holds no HLO text.
    """
    path = existing(path)
    if not path.is_dir():
        return read_file(path, strict=strict)[0]
    return read_file(read_folder(path).main.text, strict=strict)[0]


def analyze(path: Path | str, *, strict: bool = False) -> Analysis:
    """Return the census of every module at `path`; the one that is meant comes first.

    Raises: as `load`; a helper module of a folder that cannot be read becomes a warning unless `strict`.
    """
    path = existing(path)
    if not path.is_dir():
        modules = read_file(path, strict=strict)
        for each in modules:
            # A count alone would not look at every operand; a person who asks about a file is told every doubt.
            each.check()
        stage = stage_of(path)
        counted = tuple(census(each, stage=stage, main=position == 0) for position, each in enumerate(modules))
        return Analysis(path, counted, None, ())
    folder = read_folder(path)
    found: list[Census] = []
    warnings = list(folder.warnings)
    for module in sorted(folder.modules, key=lambda each: each is not folder.main):
        is_main = module is folder.main
        texts = [text for text in (module.after, module.before) if text is not None]
        for position, text in enumerate(texts if is_main else texts[:1]):
            try:
                found.append(_census_of(module, text, strict, main=is_main and position == 0))
            except HloError as error:
                if strict or is_main:
                    raise
                warnings.append(f"{text.name} was left out: {error.message}")
    return Analysis(path, tuple(found), folder, tuple(warnings))


def _census_of(module: DumpedModule, text: Path, strict: bool, *, main: bool) -> Census:
    stage = "after" if text == module.after else "before"
    read = read_file(text, strict=strict)[0]
    read.check()
    return census(read, platform=module.platform, stage=stage, main=main)


def stage_of(path: Path) -> str | None:
    """Return the stage that a file's name tells, "before" or "after", or None."""
    name = parse_file_name(path.name)
    return None if name is None else name.stage


@dataclass(frozen=True)
class Analysis(Result):
    """What is at a path: a census per module, the one that is meant first.

    Attributes:
        path: the file or folder.
        modules: the censuses; of a folder's main module both stages, of the others the later one.
        folder: what the folder holds beside, None for a file.
        warnings: what to doubt about the folder, a sentence each.
    """

    path: Path
    modules: tuple[Census, ...]
    folder: DumpFolder | None
    warnings: tuple[str, ...]

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.census` document."""
        body: dict[str, Any] = {"modules": [module.to_json_dict() for module in self.modules]}
        if self.folder is not None:
            body["folder"] = {
                "path": str(self.path),
                "main_reason": self.folder.reason,
                "helpers": len(self.folder.helpers),
                "warnings": list(self.warnings),
            }
        return document("census", body)
