"""List the model pairs: their variants and sizes, where each comes from, and whether it can run here."""

from __future__ import annotations

import argparse

SUMMARY = "list the model pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from xlacompare.cli.options import add_output_options

    add_output_options(parser, ("text", "json"))


def run(arguments: argparse.Namespace) -> int:
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
