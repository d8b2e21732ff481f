"""Which model pairs there are: the built-in ones, installed plugins', and folders named by path."""

from __future__ import annotations

import difflib
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from xlacompare.errors import ModelError, UsageError
from xlacompare.model_spec import FRAMEWORK_FILES, SPEC_FILE, ModelFolderError, ModelSpec, load_spec
from xlacompare.models import BUILT_IN_DIR

ENTRY_POINT_GROUP = "xlacompare.models"


@dataclass(frozen=True)
class Model:
    """A model pair that can be compiled: its spec and the folder with the two implementations.

    `folder` is the file that holds the spec where that is not called spec.py, as a plugin's may be.
    """

    spec: ModelSpec
    folder: Path
    origin: str

    @property
    def name(self) -> str:
        return self.spec.name


@dataclass(frozen=True)
class BrokenModel:
    """A model pair that cannot be used, and why; listed, and harmful to nothing else."""

    name: str
    origin: str
    reason: str


def built_in_names() -> list[str]:
    """Return the names of the pairs that come with xlacompare, without executing any of their code."""
    return sorted(folder.name for folder in BUILT_IN_DIR.iterdir() if (folder / SPEC_FILE).is_file())


def plugin_names() -> list[str]:
    """Return the names under which installed packages register model pairs."""
    return sorted({entry.name for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)})


def find_model(name: str) -> Model:
    """Return the pair called `name`: a built-in, an installed plugin's, or the path of a model folder.

    Raises:
        UsageError: there is no such model; the message has the nearest names.
        ModelError: the folder or plugin is there and broken.
    """
    if name in built_in_names():
        return load_model(BUILT_IN_DIR / name, "built in")
    if name in plugin_names():
        return _load_plugin(name)
    folder = Path(name)
    if folder.is_dir():
        return load_model(folder.resolve(), f"folder {folder}")
    known = [*built_in_names(), *plugin_names()]
    near = difflib.get_close_matches(name, known, n=3) or known
    raise UsageError(
        f"there is no model {name!r}: no built-in, no installed plugin's and no folder is called so. "
        f"Nearest: {', '.join(near)}."
    )


def all_models() -> list[Model | BrokenModel]:
    """Return every built-in and plugin pair, broken ones as such."""
    found: list[Model | BrokenModel] = []
    for name in built_in_names():
        try:
            found.append(load_model(BUILT_IN_DIR / name, "built in"))
        except ModelError as error:
            found.append(BrokenModel(name, "built in", str(error)))
    for name in plugin_names():
        try:
            found.append(_load_plugin(name))
        except ModelError as error:
            found.append(BrokenModel(name, f"plugin {name}", str(error)))
    return found


def load_model(folder: Path, origin: str) -> Model:
    """Return the pair in `folder`; raise ModelError if it cannot be used."""
    try:
        return Model(load_spec(folder), folder, origin)
    except ModelFolderError as error:
        raise ModelError(str(error)) from error


def _load_plugin(name: str) -> Model:
    """Load the `ModelSpec` that an entry point names; the two implementations lie beside the file that defines it.

    The children load that file by path, so it must hold the spec under the name SPEC.
    """
    entries = list(importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=name))
    origins = [entry.dist.name if entry.dist is not None else entry.value for entry in entries]
    if len(entries) > 1:
        raise ModelError(f"the packages {' and '.join(origins)} both provide the model {name!r}; uninstall one")
    (entry,), (origin,) = entries, origins
    plugin = f"the plugin {name!r} of {origin}"
    if name in built_in_names():
        raise ModelError(f"{plugin} takes the name of a built-in pair, which stays the one that is meant")
    try:
        spec = entry.load()
        file = importlib.import_module(entry.module).__file__
    # A plugin that calls sys.exit must not end the listing.
    except (Exception, SystemExit) as error:
        raise ModelError(f"{plugin} raised {type(error).__name__}: {error}") from error
    if not isinstance(spec, ModelSpec) or file is None:
        raise ModelError(f"{plugin} names {entry.value}, which is a {type(spec).__name__} and no ModelSpec")
    if spec.name != name:
        raise ModelError(f"{plugin} has a SPEC that is called {spec.name!r}; both names must be the same")
    path = Path(file).resolve()
    if entry.attr != "SPEC":
        raise ModelError(f"{plugin} calls its spec {entry.attr!r} in {path}; it must be called SPEC")
    for needed in FRAMEWORK_FILES.values():
        if not (path.parent / needed).is_file():
            raise ModelError(f"{plugin} has no {needed} beside {path}")
    return Model(spec, path.parent if path.name == SPEC_FILE else path, f"plugin {origin}")
