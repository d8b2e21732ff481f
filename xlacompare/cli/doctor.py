"""What is installed, which XLA each framework embeds, which flags are set, and whether a compile here writes a dump."""

from __future__ import annotations

import argparse

from xlacompare.cli.options import add_framework_options, add_output_options, pythons

SUMMARY = "what is installed, and whether a compile here writes a dump"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_framework_options(parser)
    add_output_options(parser, ("text", "json"))


def run(arguments: argparse.Namespace) -> int:
    from xlacompare.cli.output import console, stage_progress, wants_json, write_json
    from xlacompare.doctor import diagnose

    with stage_progress(arguments) as on_stage:
        diagnosis = diagnose(
            frameworks=arguments.frameworks,
            device=arguments.device,
            pythons=pythons(arguments),
            timeout_s=arguments.timeout,
            on_stage=on_stage,
        )
    if wants_json(arguments):
        write_json(diagnosis.to_json_dict())
    else:
        from xlacompare.report.doctor import doctor_text

        console(arguments).print(doctor_text(diagnosis))
    return 0
