"""List the model pairs: their variants and sizes, where each comes from, and whether it can run here.

`models new NAME` writes the folder of a new pair, which runs as it is.
"""

from __future__ import annotations

import argparse

SUMMARY = "list the model pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from xlacompare.cli.options import add_output_options

    parser.add_argument("action", nargs="?", choices=("new",), help="write the folder of a new pair")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the new pair's name, and its folder's")
    add_output_options(parser, ("text", "json"))


def run(arguments: argparse.Namespace) -> int:
    return run_new(arguments) if arguments.action == "new" else run_list(arguments)


def run_new(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import wants_json, write_json
    from xlacompare.documents import document
    from xlacompare.errors import UsageError
    from xlacompare.new_model import new_model

    if arguments.name is None:
        raise UsageError("models new needs a NAME: the new pair's, and its folder's.")
    folder = new_model(arguments.name)
    if wants_json(arguments):
        write_json(document("new_model", {"name": arguments.name, "dir": str(folder)}))
    else:
        print(f"{folder}: spec.py, jax_model.py, tensorflow_model.py. Try: xlacompare dump ./{folder} --variant grad")
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    from xlacompare.catalogue import catalogue
    from xlacompare.cli.output import console, wants_json, write_json
    from xlacompare.documents import document

    entries = catalogue()
    if wants_json(arguments):
        write_json(document("models", {"models": [entry.to_json_dict() for entry in entries]}))
    else:
        from xlacompare.report.models import models_details, models_table

        console(arguments).print(models_details(entries) if arguments.verbose else models_table(entries))
    return 0
