"""Options that mean the same in every command, and what they become."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlacompare.errors import UsageError

FRAMEWORK_ALIASES = {"tf": "tensorflow"}
FORMATS = ("text", "markdown", "json")


def add_output_options(parser: argparse.ArgumentParser, formats: tuple[str, ...] = FORMATS) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="exactly one JSON document on stdout (--format json)")
    group.add_argument("--format", choices=formats, default="text", help="default: %(default)s")
    group.add_argument("--width", type=positive, help="columns of the text (default: the terminal's)")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: %(default)s")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    group.add_argument("-v", "--verbose", action="store_true", help="more detail")


def add_storage_options(parser: argparse.ArgumentParser, kind: str, what: str) -> argparse._ArgumentGroup:
    """Add where a command keeps what it measured; return the group, for what else is written."""
    group = parser.add_argument_group("where it goes")
    group.add_argument("-o", "--output", type=Path, metavar="FILE", help=what)
    group.add_argument(
        "--out",
        type=Path,
        default=Path("dumps"),
        metavar="DIR",
        help=f"else DIR/MODEL/{kind}-<UTC>.json (default: dumps)",
    )
    return group


def add_model_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument("--variant", default="grad", help="forward, grad, … (default: %(default)s)")
    group.add_argument("--size", metavar="NAME", help="one of the model's sizes (default: its first)")
    group.add_argument("--batch", type=positive, metavar="N", help="instead of the size's own")
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of parameters and batch (default: %(default)s)"
    )
    group.add_argument("--no-jit", action="store_true", help="eager: JAX without jit, TensorFlow without tf.function")
    group.add_argument("--no-xla", action="store_true", help="TensorFlow as a graph without XLA")
    group.add_argument("--no-vectorize", action="store_true", help="dp_train_step with a loop over the examples")
    parser.epilog = "A model's own options are taken too: --depth 4, --dropout 0.1 (see `xlacompare models -v`)."
    parser.set_defaults(model_options={})


def add_framework_options(parser: argparse.ArgumentParser, *, further_pythons: bool = False) -> None:
    """Add what says how to compile; with `further_pythons`, interpreters add up instead of one taking our place."""
    group = parser.add_argument_group("the frameworks")
    group.add_argument(
        "--frameworks",
        default="jax,tensorflow",
        type=frameworks,
        metavar="LIST",
        help="default: %(default)s; tf is taken too",
    )
    group.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="default: %(default)s")
    group.add_argument("--xla-flags", default="", metavar="FLAGS", help="for both, after your XLA_FLAGS")
    for framework in ("jax", "tensorflow"):
        group.add_argument(f"--{framework}-xla-flags", default="", metavar="FLAGS", help=f"for {framework} alone")
        if further_pythons:
            group.add_argument(
                f"--{framework}-python",
                metavar="PATH",
                action="append",
                help=f"one more interpreter that has {framework}; may be given several times",
            )
        else:
            group.add_argument(f"--{framework}-python", metavar="PATH", help=f"the interpreter that has {framework}")
    group.add_argument("--serial", action="store_true", help="one framework after the other")
    group.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="for each framework (default: %(default)g)"
    )


def add_folder_options(parser: argparse.ArgumentParser, out: Path | None = Path("dumps")) -> None:
    """Add --out and --overwrite; `out` None is for a command that writes of two paths only where it is told to."""
    group = parser.add_argument_group("where it goes")
    default = f"default: {out}" if out else "default: dumps for a model, nowhere for two paths"
    group.add_argument("--out", type=Path, default=out, metavar="DIR", help=default)
    group.add_argument("--overwrite", action="store_true", help="replace what is there")


def frameworks(text: str) -> tuple[str, ...]:
    """Return the frameworks of a comma-separated list, in order.

    >>> frameworks("tf,jax")
    ('tensorflow', 'jax')
    """
    names = [FRAMEWORK_ALIASES.get(name.strip(), name.strip()) for name in text.split(",") if name.strip()]
    for name in names:
        if name not in ("jax", "tensorflow"):
            raise argparse.ArgumentTypeError(f"there is no framework {name!r}; choose from jax, tensorflow")
    if not names or len(set(names)) != len(names):
        raise argparse.ArgumentTypeError(f"{text!r} names no framework, or one twice; choose from jax, tensorflow")
    return tuple(names)


def model_options(words: list[str]) -> dict[str, Any]:
    """Return a model's own options, as they were left over on the command line; numbers become numbers.

    >>> model_options(["--depth", "4", "--prng=rbg", "--unrolled"])
    {'depth': 4, 'prng': 'rbg', 'unrolled': True}
    """
    options: dict[str, Any] = {}
    waiting = None
    for word in words:
        if word.startswith("--"):
            name, separator, value = word[2:].partition("=")
            name = name.replace("-", "_")
            options[name] = _value(value) if separator else True
            waiting = None if separator else name
        elif waiting is not None:
            options[waiting] = _value(word)
            waiting = None
        else:
            raise UsageError(f"there is no place for the argument {word!r}")
    return options


def xla_flags(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return each framework's flags of the command line: those for both, then its own."""
    return {
        framework: f"{arguments.xla_flags} {getattr(arguments, f'{framework}_xla_flags')}".strip()
        for framework in ("jax", "tensorflow")
    }


def pythons(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the interpreters that were named, as absolute paths; of several the first."""
    return {framework: paths[0] for framework, paths in all_pythons(arguments).items() if paths}


def all_pythons(arguments: argparse.Namespace) -> Mapping[str, tuple[str, ...]]:
    """Return each framework's interpreters that were named, as absolute paths."""
    found = {}
    for framework in ("jax", "tensorflow"):
        named = getattr(arguments, f"{framework}_python") or []
        paths = [named] if isinstance(named, str) else named
        for path in paths:
            if not os.access(path, os.X_OK):
                raise UsageError(f"--{framework}-python {path}: there is no program there that can be run")
        # Not resolved: a virtual environment's interpreter is a link that must be called by its own name.
        found[framework] = tuple(str(Path(path).absolute()) for path in paths)
    return found


def dump_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `xlacompare.dump.dump_request` that the options of a command stand for."""
    return {
        "variant": arguments.variant,
        "size": arguments.size,
        "batch": arguments.batch,
        "options": arguments.model_options,
        "seed": arguments.seed,
        "settings": {
            "jit": not arguments.no_jit,
            "xla": not arguments.no_xla,
            "vectorize": not arguments.no_vectorize,
        },
        "frameworks": arguments.frameworks,
        "device": arguments.device,
        "xla_flags": xla_flags(arguments),
        "pythons": pythons(arguments),
        "serial": arguments.serial,
        "timeout_s": arguments.timeout,
        "command": ("xlacompare", *arguments.argv),
    }


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
