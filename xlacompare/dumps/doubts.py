"""Why a dump folder may be empty, and what in a full one should make its reader doubt it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlacompare.dumps.file_names import parse_file_name
from xlacompare.errors import DumpError

if TYPE_CHECKING:
    from xlacompare.dumps.folder import DumpFolder, Text

# Modules are numbered in the order in which they were compiled. A copied folder keeps no times worth the name, but
# then they differ by fractions of a second.
_CLOCK_SLACK_S = 5.0

# Kinds of file that take the place of text, and the flag that asked for them.
_INSTEAD_OF_TEXT = {
    "proto": "--xla_dump_hlo_as_proto",
    "snapshot": "--xla_dump_hlo_snapshots",
    "dot": "--xla_dump_hlo_as_dot",
    "html": "--xla_dump_hlo_as_html",
    "url": "--xla_dump_hlo_as_url",
}


def brief(shapes: str, width: int = 100) -> str:
    """Return the shapes of a module cut to about `width` characters.

    >>> brief("(f32[8,5],f32[8,3])->f32[]", 20)
    '(f32[8,5],f32…)->f32[]'
    """
    if len(shapes) <= width:
        return shapes or "unknown shapes"
    arguments, arrow, results = shapes.partition("->")
    if len(results) > width // 2:
        results = results[: width // 2] + "…"
    return arguments[: max(width - len(results) - len(arrow) - 2, 1)] + "…)" + arrow + results


def empty_folder(folder: Path, files: Sequence[Path]) -> DumpError:
    """Return the error for a folder without HLO text, with those of the known reasons that what is there allows."""
    if not files:
        return DumpError(
            f"{folder} is empty: XLA wrote nothing there. Either nothing was compiled (TensorFlow without "
            "jit_compile=True), or XLA_FLAGS was set after the first compilation, or the program came from a "
            "persistent compilation cache, or the device is a TPU, which dumps on its own host."
        )
    names = [name for file in files if (name := parse_file_name(file.name)) is not None]
    kinds = Counter(name.kind for name in names)
    for kind, flag in _INSTEAD_OF_TEXT.items():
        if kinds[kind]:
            return DumpError(
                f"{folder} has {kinds[kind]} {kind} files and no HLO text: {flag} turns the text off. Dump again "
                "with --xla_dump_hlo_as_text beside it, or without it."
            )
    if kinds["pass"]:
        return DumpError(
            f"{folder} has {kinds['pass']} texts between passes and none before or after all of them; the files "
            "*before_optimizations.txt and *after_optimizations.txt are missing."
        )
    if names:
        return DumpError(
            f"{folder} has {len(names)} files of XLA's and no HLO text among them: the texts were deleted, or "
            "--xla_dump_hlo_module_re let none through, or the text of what ran came from a compilation cache."
        )
    if any(file.name == "module.mlir" for file in files):
        return DumpError(
            f"{folder} has what JAX handed to XLA (module.mlir) and no HLO text: the program came from the persistent "
            "compilation cache, or --xla_dump_hlo_module_re or --xla_dump_max_hlo_modules let none through."
        )
    shown = ", ".join(sorted({file.name for file in files})[:3])
    return DumpError(
        f"{folder} holds no HLO text and nothing that XLA names its files by (it has {shown}); XLA's begin with "
        "module_0000. Is it the folder that --xla_dump_to named?"
    )


def find_doubts(folder: DumpFolder, texts: Sequence[Text]) -> tuple[str, ...]:
    """Return what should make a reader doubt that this is one run's dump, a sentence each."""
    found = [*_mixed_runs(folder, texts), *_main_module(folder)]
    return tuple(found)


def _mixed_runs(folder: DumpFolder, texts: Sequence[Text]) -> list[str]:
    found = []
    frameworks = {each.framework for each in folder.modules} - {"unknown"}
    if len(frameworks) > 1:
        found.append("Modules of JAX and of TensorFlow lie in one folder; each numbers its own from zero.")
    runs = sorted({text.run for text in texts})
    if len(runs) > 1:
        shown = ", ".join(run or "the folder itself" for run in runs[:4])
        found.append(f"The texts lie in {len(runs)} sub-folders ({shown}); each may be another run or process.")
    groups: dict[tuple[str, str], list[Text]] = defaultdict(list)
    of_framework = {path: each.framework for each in folder.modules for path in (each.before, each.after) if path}
    for text in texts:
        if text.module_id is not None:
            groups[text.run, of_framework.get(text.path, "")].append(text)
    for group in groups.values():
        found += _two_runs(group)
    return found


def _two_runs(group: Sequence[Text]) -> list[str]:
    numbers = Counter((text.module_id, text.stage) for text in group)
    twice = sorted({number for (number, _), count in numbers.items() if count > 1 and number is not None})
    stamped = {text.timestamp is not None for text in group}
    if twice or len(stamped) > 1:
        shown = ", ".join(f"module_{number:04d}" for number in twice[:3]) or "texts with a timestamp and without"
        return [f"More than one run wrote into the folder: it has {shown} of more than one."]
    latest: Text | None = None
    for text in sorted(group, key=lambda each: each.module_id or 0):
        if latest is not None and text.modified_s < latest.modified_s - _CLOCK_SLACK_S:
            return [
                f"{text.path.name} is older than {latest.path.name}, which was compiled before it: more than one run "
                "may have written into the folder, or its files were copied or changed since."
            ]
        if latest is None or text.modified_s > latest.modified_s:
            latest = text
    return []


def _main_module(folder: DumpFolder) -> list[str]:
    found = []
    main = folder.main
    if main.after is None:
        found.append(f"{main.name} has no text after optimizations: nothing can be counted that XLA decided.")
    elif main.before is None and main.platform is None and main.module_ids and main.framework == "jax":
        found.append(
            f"{main.name} has no text before optimizations and its file names no platform: it came from the "
            "persistent compilation cache."
        )
    shapes = {each.shapes for each in folder.same_function if not each.helper} | {main.shapes}
    if len(shapes) > 1:
        found.append(f"{main.function} was compiled for {len(shapes)} sets of shapes; {brief(main.shapes)} is shown.")
    return found
