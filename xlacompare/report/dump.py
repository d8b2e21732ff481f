"""What `dump` made: parity, the census side by side, where the files are."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from xlacompare.dump import DumpResult, FrameworkDump
from xlacompare.report.census import census_markdown, census_table
from xlacompare.report.markdown import markdown_code
from xlacompare.worker.launch import DISPLAY_NAMES


def dump_text(result: DumpResult) -> RenderableType:
    """Return the dump for a terminal."""
    titles = [_title(dump) for dump in result.dumps]
    return Group(
        Text(f"{result.model} · {result.variant} · {_shapes(result)} · {_devices(result)}", style="bold"),
        Text(parity_sentence(result)),
        Text(),
        census_table(titles, [dump.census.to_json_dict() for dump in result.dumps]),
        Text(),
        *[Text(f"{DISPLAY_NAMES[dump.framework]}'s files: {dump.directory}/", style="dim") for dump in result.dumps],
        Text(f"Next: xlacompare diff {result.model} --variant {result.variant}", style="dim"),
    )


def dump_markdown(result: DumpResult) -> str:
    """Return the dump as Markdown."""
    table = census_markdown(
        [_title(dump) for dump in result.dumps], [dump.census.to_json_dict() for dump in result.dumps]
    )
    files = "".join(f"- {DISPLAY_NAMES[dump.framework]}: {markdown_code(str(dump.after))}\n" for dump in result.dumps)
    heading = f"## {markdown_code(result.model)} {result.variant}: what XLA made of it"
    return f"{heading}\n\n{parity_sentence(result)}\n\n{table}\n{files}"


def parity_sentence(result: DumpResult) -> str:
    """Return one sentence: do both sides compute the same?"""
    if result.parity is None:
        return "One framework alone: its outputs are finite; there is nothing to compare them with."
    parity = result.parity
    changed = ", ".join(f"{name} {value:g}" for name, value in parity.compared_at.items())
    same = f"Both compute the same{f' at {changed}, for their random numbers differ' if changed else ''}"
    if parity.max_abs == 0:
        return f"{same}: the outputs are equal to the bit."
    return f"{same}: largest relative difference {parity.max_rel:.1e} ({parity.tolerance})."


def _title(dump: FrameworkDump) -> str:
    return f"{DISPLAY_NAMES[dump.framework]} {dump.manifest.versions[dump.framework]}"


def _shapes(result: DumpResult) -> str:
    shapes = result.dumps[0].manifest.shapes
    return ", ".join(f"{name} {shape}" for name, shape in list(shapes.items())[:4]) + (" …" if len(shapes) > 4 else "")


def _devices(result: DumpResult) -> str:
    return ", ".join(sorted({dump.manifest.device for dump in result.dumps}))
