"""`doctor`: what is installed here, which flags are in force, and whether a compile writes a dump."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from xlacompare import __version__
from xlacompare.documents import document
from xlacompare.dump import dump_request, make_dumps
from xlacompare.errors import FrameworkMissing, XlaCompareError
from xlacompare.frameworks import FRAMEWORKS

PACKAGES = ("jax", "jaxlib", "tensorflow", "numpy", "pandas", "matplotlib", "rich")
VARIABLES = (
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "JAX_PLATFORMS",
    "JAX_ENABLE_X64",
    "JAX_COMPILATION_CACHE_DIR",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "CUDA_VISIBLE_DEVICES",
    "TF_ENABLE_ONEDNN_OPTS",
)


@dataclass(frozen=True)
class FrameworkState:
    """What one framework can do here.

    Attributes:
        framework: "jax" or "tensorflow".
        installed: it can be imported.
        versions: of Python, the framework and the XLA that it embeds.
        device: what programs run on.
        dumps: a compile wrote the HLO text of the module that was meant.
        problem: why not, or None.
    """

    framework: str
    installed: bool
    versions: Mapping[str, str]
    device: str
    dumps: bool
    problem: str | None


@dataclass(frozen=True)
class Diagnosis:
    """Everything that `doctor` found."""

    python: str
    platform: str
    cores: int
    packages: Mapping[str, str | None]
    variables: Mapping[str, str]
    frameworks: tuple[FrameworkState, ...]
    advice: tuple[str, ...]

    def to_json_dict(self) -> dict[str, Any]:
        """Return the `xlacompare.doctor` document."""
        return document("doctor", {"xlacompare": __version__, **asdict(self)})


def diagnose(
    *,
    frameworks: tuple[str, ...] = FRAMEWORKS,
    device: str = "cpu",
    pythons: Mapping[str, str] | None = None,
    timeout_s: float = 600.0,
    on_stage: Callable[[str, str], None] | None = None,
) -> Diagnosis:
    """Compile `linear` in each framework with dumping on, and say what came of it."""
    states = tuple(_try(name, device, pythons or {}, timeout_s, on_stage) for name in frameworks)
    return Diagnosis(
        platform.python_version(),
        platform.platform(terse=True),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        {name: _version(name) for name in PACKAGES},
        {name: os.environ[name] for name in VARIABLES if name in os.environ},
        states,
        tuple(_advice(states)),
    )


def _try(
    framework: str,
    device: str,
    pythons: Mapping[str, str],
    timeout_s: float,
    on_stage: Callable[[str, str], None] | None,
) -> FrameworkState:
    with tempfile.TemporaryDirectory(prefix="xlacompare-doctor-") as folder:
        try:
            request = dump_request(
                "linear",
                variant="forward",
                frameworks=(framework,),
                device=device,
                pythons=pythons,
                timeout_s=timeout_s,
            )
            made = make_dumps(request, folder, on_stage=on_stage).dumps[0]
        except XlaCompareError as error:
            missing = isinstance(error, FrameworkMissing)
            return FrameworkState(framework, not missing, {}, "", False, str(error))
    return FrameworkState(framework, True, dict(made.manifest.versions), made.manifest.device, True, None)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _advice(states: tuple[FrameworkState, ...]) -> list[str]:
    """Return what of the environment would hide a dump or skew a comparison in a program of the user's own."""
    advice = []
    if "--xla_dump_to" in os.environ.get("XLA_FLAGS", ""):
        advice.append("XLA_FLAGS names a dump folder of its own: xlacompare leaves that out and uses a fresh one.")
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        advice.append(
            "JAX_COMPILATION_CACHE_DIR is set: a cache hit compiles nothing and dumps nothing. xlacompare switches the "
            "cache off in its own processes; do the same in yours when a dump stays empty."
        )
    if os.environ.get("JAX_ENABLE_X64", "").lower() in ("1", "true"):
        advice.append("JAX_ENABLE_X64 is set: JAX may compute in f64 where TensorFlow computes in f32.")
    if all(not state.dumps for state in states):
        advice.append("Nothing can be compiled here; `analyze` and `diff LEFT RIGHT` still read any dump.")
    return advice
