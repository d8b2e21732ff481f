"""`main`: the parser over all commands, and the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from xlacompare import __version__
from xlacompare.cli.options import model_options
from xlacompare.errors import XlaCompareError

COMMANDS = ("models", "dump", "analyze", "diff", "attribute", "bench", "profile", "compare", "doctor")
DESCRIPTION = "Compare what XLA makes of the same model written in JAX and in TensorFlow."
INTERRUPTED = 130
INVALID_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<choices>.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors name what was probably meant."""

    def error(self, message: str) -> NoReturn:
        if match := INVALID_CHOICE.search(message):
            choices = re.findall(r"[\w.-]+", match["choices"])
            message = f"{message[: match.start()]}there is no {match['word']!r}. {nearest(match['word'], choices)}"
        self.exit(2, f"{self.prog}: error: {message}\nTry '{self.prog} --help'.\n")


def nearest(word: str, choices: Sequence[str]) -> str:
    """Return a sentence with the choices that are nearest to `word`, or all of them.

    >>> nearest("dmup", ["diff", "dump"])
    'Did you mean dump?'
    """
    near = difflib.get_close_matches(word, choices, n=3)
    return f"Did you mean {' or '.join(near)}?" if near else f"Choose from {', '.join(choices)}."


def build_parser() -> Parser:
    parser = Parser(prog="xlacompare", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"xlacompare {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"xlacompare.cli.{name}")
        command = commands.add_parser(
            name,
            help=module.SUMMARY,
            description=module.__doc__,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, parser=command)
    return parser


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    arguments, unknown = build_parser().parse_known_args(argv)
    if unknown and hasattr(arguments, "model_options"):
        # Whether the model has such options is known when its spec has been read.
        arguments.model_options = model_options(unknown)
    elif unknown:
        options = [word.split("=")[0] for word in unknown if word.startswith("-")]
        command: Parser = arguments.parser
        if options:
            known = [option for action in command._actions for option in action.option_strings]
            command.error(f"there is no option {options[0]}. {nearest(options[0], known)}")
        command.error(f"too many arguments: {' '.join(unknown)}")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (0 done, 1 could not be done, 2 usage, 3 a gate tripped, 130)."""
    try:
        arguments = parse(argv)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 2
    except XlaCompareError as error:
        print(f"xlacompare: {error}", file=sys.stderr)
        return error.exit_code
    arguments.argv = list(sys.argv[1:] if argv is None else argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except XlaCompareError as error:
        print(f"xlacompare {arguments.command}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"xlacompare {arguments.command}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has gone (`| head`); Python would complain about it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
