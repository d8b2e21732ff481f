"""A module on its way through XLA's pipeline: the texts that `--xla_dump_hlo_pass_re=.*` leaves, in order."""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from xlacompare.dumps import DumpedModule
from xlacompare.hlo import Module, fingerprint, read_file
from xlacompare.kernels import kernels

# The step, the pipeline, and the passes before and after: `0016.simplification.after_algsimp.before_simplify-sorts`.
_PASS_FILE = re.compile(
    r"(?:^|\.)(?P<step>\d{4})\.(?P<pipeline>[^.]+)\.after_(?P<after>.+?)(?:\.before_.+)?\.txt(?:\.gz)?$"
)
# What XLA writes where a pipeline starts: no pass has run since the text before.
NO_PASS = "pipeline-start"


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One state of a module.

    Attributes:
        pipeline: the pipeline's name; "" for the text before all and after all optimizations.
        name: the pass that has just run; "before optimizations" and "after optimizations" for the two ends.
        path: the text.
        module: the module as it is now.
        digest: a digest of the text below its first line; equal digests are equal states.
        kernels: instructions that would each be a kernel if the pipeline ended here, and are kernels at its end.
    """

    pipeline: str
    name: str
    path: Path
    module: Module
    digest: str
    kernels: int

    @property
    def key(self) -> tuple[str, str]:
        """Pipeline and pass, by which two pipelines are aligned."""
        return self.pipeline, self.name

    @property
    def words(self) -> str:
        """The pass as it is named in a sentence."""
        if self.name == NO_PASS:
            return f"the start of {self.pipeline}"
        return f"{self.pipeline} / {self.name}" if self.pipeline else self.name


def read_pipeline(module: DumpedModule) -> tuple[Step, ...]:
    """Return the states of a module from before to after optimizations; those that no pass reached are left out.

    Without texts between the passes these are the two ends alone.

    Raises:
        HloError: a text cannot be read.
    """
    found = []
    for path in module.files.get("pass", ()):
        if match := _PASS_FILE.search(path.name):
            found.append((int(match["step"]), match["pipeline"], match["after"], path))
    texts = [("", "before optimizations", module.before)] if module.before else []
    texts += [(pipeline, name, path) for _, pipeline, name, path in sorted(found)]
    texts += [("", "after optimizations", module.after)] if module.after else []
    steps: list[Step] = []
    for pipeline, name, path in texts:
        assert path is not None
        digest = text_digest(path)
        last = steps[-1] if steps and steps[-1].digest == digest else None
        # Half of the texts show the start of a pipeline, where nothing has happened since the one before.
        state = last.module if last else read_file(path)[0]
        count = last.kernels if last else len(kernels(state, "reachable"))
        steps.append(Step(pipeline, name, path, state, digest, count))
    return tuple(steps)


def text_digest(path: Path) -> str:
    """Return the SHA-256 of a text without its first line, which names the module."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as stream:
        stream.readline()
        return hashlib.sha256(stream.read()).hexdigest()


def changed(before: Step, after: Step) -> bool:
    """Whether two states differ in more than names and metadata."""
    return before.digest != after.digest and fingerprint(before.module.entry) != fingerprint(after.module.entry)
