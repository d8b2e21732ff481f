"""A dump folder read: its modules with their texts paired, the one that is meant and why, what to doubt."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlacompare.dumps.doubts import brief, empty_folder, find_doubts
from xlacompare.dumps.file_names import FileName, parse_file_name
from xlacompare.dumps.headers import Header, framework_of, function_name, is_helper_name, read_header
from xlacompare.dumps.manifest import MANIFEST_NAME, Manifest, read_manifest
from xlacompare.errors import DumpError

# A module of fewer instructions, beside larger ones, is what JAX compiles to make or convert a single array.
_TINY_INSTRUCTIONS = 10
_TEXT_ENDINGS = (".txt", ".hlo", ".txt.gz", ".hlo.gz")
_SUBFOLDER_RUN = re.compile(r".+_\d+$")


@dataclass(frozen=True, slots=True)
class Text:
    """One HLO text of a folder: a module before or after all optimizations."""

    path: Path
    stage: str
    header: Header
    file_name: FileName | None
    run: str
    modified_s: float

    @property
    def module_id(self) -> int | None:
        """The number in the file's name, None where the name is not XLA's."""
        return None if self.file_name is None else self.file_name.module_id

    @property
    def timestamp(self) -> int | None:
        """Microseconds in front of the file's name, None without."""
        return None if self.file_name is None else self.file_name.timestamp


@dataclass(frozen=True, slots=True)
class DumpedModule:
    """One compilation that a folder holds.

    Attributes:
        name: the module's name, from its `HloModule` line.
        function: the user's function within that name.
        framework: "jax", "tensorflow" or "unknown".
        platform: "cpu", "gpu", …, None where no file name says it.
        target: the device's architecture, "sm_8.9", None where no file name says it.
        shapes: shapes of parameters and results, "(f32[8,5])->f32[]"; one function compiled for several shapes is
            several modules of one name that differ here.
        instructions: size of the text, fused instructions included.
        helper: whether it is one that a framework compiled on its own.
        before: the text before optimizations, None where the folder has none.
        after: the text after optimizations, likewise.
        run: sub-folder that it was found in, "" for the folder itself.
        module_ids: the numbers in the names of its files.
        files: its other files by what they are ("memory_usage", "debug_options", "thunks", …).
    """

    name: str
    function: str
    framework: str
    platform: str | None
    target: str | None
    shapes: str
    instructions: int
    helper: bool
    before: Path | None
    after: Path | None
    run: str
    module_ids: tuple[int, ...]
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)

    @property
    def text(self) -> Path:
        """The text that is counted: after optimizations, or before where there is no other."""
        path = self.after or self.before
        assert path is not None
        return path


@dataclass(frozen=True, slots=True)
class DumpFolder:
    """What a dump folder holds.

    Attributes:
        path: the folder.
        main: the module that is meant.
        reason: why it is this one, as a phrase.
        modules: all modules in the order in which they were compiled, `main` and helpers among them.
        warnings: what to doubt, a sentence each.
        manifest: the folder's `manifest.json`, None where another program made it.
    """

    path: Path
    main: DumpedModule
    reason: str
    modules: tuple[DumpedModule, ...]
    warnings: tuple[str, ...] = ()
    manifest: Manifest | None = None

    @property
    def helpers(self) -> tuple[DumpedModule, ...]:
        """The modules that a framework compiled on its own."""
        return tuple(module for module in self.modules if module.helper)

    @property
    def same_function(self) -> tuple[DumpedModule, ...]:
        """The other modules of the main one's function: other shapes, or compiled again."""
        main = self.main
        return tuple(
            each
            for each in self.modules
            if each is not main and (each.function, each.framework) == (main.function, main.framework)
        )


def read_folder(path: Path | str, *, wanted: str | None = None) -> DumpFolder:
    """Return what a folder of dumped files holds, sub-folders included; texts are not read beyond their heads.

    Args:
        path: the folder.
        wanted: name of the module or function that is meant; without it `manifest.json` decides, or the largest
            module that no framework compiled on its own.

    Raises:
        DumpError: no such folder, no HLO text in it (with the likely reason), or nothing of the wanted name.
    """
    folder = Path(path)
    if not folder.is_dir():
        kind = "is a file, not a folder of dumped files" if folder.exists() else "does not exist"
        raise DumpError(f"{folder} {kind}.")
    files = [Path(where) / name for where, _, names in sorted(os.walk(folder)) for name in sorted(names)]
    texts = [text for file in files if (text := _as_text(folder, file)) is not None]
    if not texts:
        raise empty_folder(folder, files)
    manifest = read_manifest(folder) if (folder / MANIFEST_NAME).is_file() else None
    modules = _with_files(folder, _pair(texts), files)
    main, reason = _choose(folder, modules, wanted, manifest)
    # The module that is meant is no helper, whatever its name.
    marked = tuple(replace(each, helper=False) if each is main else each for each in modules)
    main = marked[modules.index(main)]
    result = DumpFolder(folder, main, reason, marked, manifest=manifest)
    return replace(result, warnings=find_doubts(result, texts))


def _as_text(folder: Path, file: Path) -> Text | None:
    name = parse_file_name(file.name)
    if name is None:
        if not file.name.endswith(_TEXT_ENDINGS):
            return None
    elif not name.is_module_text:
        return None
    try:
        header = read_header(file)
    except OSError:
        return None
    if header is None:
        if name is None:
            return None
        # XLA named it a module's text: kept, so that reading it says what is wrong.
        header = Header(name.module_name or "", "", False, 0)
    relative = file.parent.relative_to(folder)
    run = relative.name if _SUBFOLDER_RUN.fullmatch(relative.name) else relative.as_posix()
    stage = _stage(file, header) if name is None or name.stage is None else name.stage
    return Text(file, stage, header, name, "" if run == "." else run, file.stat().st_mtime)


def _stage(file: Path, header: Header) -> str:
    # A text under a name of somebody's own: "before" only if the name says so or nothing speaks for "after".
    if "before_optimizations" in file.name:
        return "before"
    return "after" if header.is_optimized or "after_optimizations" in file.name else "before"


def _pair(texts: Sequence[Text]) -> list[tuple[Text | None, Text | None]]:
    """Return (before, after) pairs: by number and name, else by name and shapes, else by name, nearest number."""
    pairs: list[tuple[Text | None, Text | None]] = []
    groups: dict[tuple[str, str], list[Text]] = defaultdict(list)
    for text in texts:
        # A timestamp or the module's own number may differ between the two; its name does not.
        groups[text.run, text.header.name].append(text)
    for group in groups.values():
        befores = [text for text in group if text.stage == "before"]
        afters = [text for text in group if text.stage == "after"]
        tests = (
            lambda left, right: left.module_id == right.module_id and left.timestamp == right.timestamp,
            lambda left, right: left.module_id == right.module_id,
            lambda left, right: left.header.shapes == right.header.shapes,
            lambda left, right: True,
        )
        for test in tests:
            for after in list(afters):
                fitting = [before for before in befores if test(before, after)]
                if fitting:
                    best = min(fitting, key=lambda before: abs((before.module_id or 0) - (after.module_id or 0)))
                    pairs.append((best, after))
                    befores.remove(best)
                    afters.remove(after)
        pairs += [(before, None) for before in befores] + [(None, after) for after in afters]
    return sorted(pairs, key=_order)


def _order(pair: tuple[Text | None, Text | None]) -> tuple[str, int, int, str]:
    text = pair[1] or pair[0]
    assert text is not None
    return text.run, text.timestamp or 0, text.module_id or 0, text.path.name


def _with_files(
    folder: Path, pairs: Iterable[tuple[Text | None, Text | None]], files: Iterable[Path]
) -> list[DumpedModule]:
    others: dict[tuple[Path, int], list[tuple[FileName, Path]]] = defaultdict(list)
    for file in files:
        name = parse_file_name(file.name)
        if name is not None and not name.is_module_text:
            others[file.parent, name.module_id].append((name, file))
    modules = []
    for before, after in pairs:
        text = after or before
        assert text is not None
        ids = tuple(sorted({each.module_id for each in (before, after) if each and each.module_id is not None}))
        mine: dict[str, list[Path]] = defaultdict(list)
        for number in ids:
            for name, file in others.get((text.path.parent, number), ()):
                if name.module_name in (None, text.header.name) or text.file_name is None or (
                    name.module_name == text.file_name.module_name
                ):
                    mine[name.kind].append(file)
        modules.append(_module(before, after, text, ids, {kind: tuple(paths) for kind, paths in mine.items()}))
    return modules


def _module(
    before: Text | None, after: Text | None, text: Text, ids: tuple[int, ...], files: Mapping[str, tuple[Path, ...]]
) -> DumpedModule:
    header = text.header
    return DumpedModule(
        name=header.name,
        function=function_name(header.name),
        framework=framework_of(header.name),
        platform=text.file_name.platform if text.file_name else None,
        target=text.file_name.target if text.file_name else None,
        shapes=header.shapes or (before.header.shapes if before else ""),
        instructions=header.instructions,
        helper=is_helper_name(header.name) or header.instructions <= _TINY_INSTRUCTIONS,
        before=before.path if before else None,
        after=after.path if after else None,
        run=text.run,
        module_ids=ids,
        files=files,
    )


def _choose(
    folder: Path, modules: Sequence[DumpedModule], wanted: str | None, manifest: Manifest | None
) -> tuple[DumpedModule, str]:
    if wanted is not None:
        for test in (
            lambda each: wanted == each.name,
            lambda each: wanted == each.function,
            lambda each: wanted in each.name,
        ):
            fitting = [each for each in modules if test(each)]
            if fitting:
                return _largest(fitting), _among(f"the one that was asked for ({wanted!r})", fitting)
        names = sorted({each.function for each in modules if not each.helper}) or sorted({m.name for m in modules})
        raise DumpError(f"{folder} has no module of the name {wanted!r}; it has {_listed(names)}.")
    if manifest is not None:
        meant = folder / (manifest.after or manifest.before or "")
        for each in modules:
            if meant in (each.after, each.before):
                return each, f"{MANIFEST_NAME} names it ({manifest.module_reason})"
    if len(modules) == 1:
        return modules[0], "the only module"
    candidates = [each for each in modules if not each.helper]
    if not candidates:
        return _largest(modules), f"the largest of {len(modules)}, all of which look like a framework's own helpers"
    best = _largest(candidates)
    if len(candidates) == 1:
        return best, f"the only one of {len(modules)} that is no helper of a framework"
    return best, _among(f"the largest of {len(candidates)} that are no helpers of a framework", candidates)


def _largest(modules: Sequence[DumpedModule]) -> DumpedModule:
    # The size of the whole program, since ENTRY may hold nothing but a call or a loop. Of equals the last compiled
    # is the one that a running program goes on using.
    return max(enumerate(modules), key=lambda each: (each[1].after is not None, each[1].instructions, each[0]))[1]


def _among(reason: str, modules: Sequence[DumpedModule]) -> str:
    best = _largest(modules)
    rest = [each for each in modules if each is not best]
    if not rest:
        return reason
    next_best = _largest(rest)
    size = f"{best.instructions:,} instructions"
    if next_best.function == best.function:
        times = sum(each.function == best.function for each in modules)
        return f"{reason}, {size}; compiled {times} times, this one for {brief(best.shapes)}"
    return f"{reason}, {size}; the next, {next_best.name}, has {next_best.instructions:,}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
