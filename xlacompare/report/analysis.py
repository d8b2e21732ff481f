"""What `analyze` found at a path: the module that is meant, its counts, and what else is there."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from xlacompare.reading import Analysis
from xlacompare.report.census import CensusDocument, census_markdown, census_table, doubts
from xlacompare.report.markdown import markdown_code, markdown_escape, markdown_table

SHOWN_WARNINGS = 5
HELPERS_SHOWN = 10


def analysis_text(analysis: Analysis, *, verbose: bool = False) -> RenderableType:
    """Return the analysis for a terminal; `verbose` lists every module and every doubt."""
    documents = [module.to_json_dict() for module in analysis.modules]
    shown, others = _shown(documents)
    parts: list[RenderableType] = [Text(_headline(analysis, shown[0]), style="bold")]
    if analysis.folder is not None:
        parts.append(Text(f"Chosen because {analysis.folder.reason}."))
    parts += [Text(), census_table([_stage_title(each) for each in shown], shown)]
    if others:
        parts += [Text(), Text(_others_sentence(analysis, others)), _others_table(others, verbose)]
    warnings = [*analysis.warnings, *(doubt for each in shown for doubt in doubts(each))]
    limit = len(warnings) if verbose else SHOWN_WARNINGS
    parts += [Text(f"! {warning}", style="yellow") for warning in warnings[:limit]]
    if len(warnings) > limit:
        parts.append(Text(f"! {len(warnings) - limit} more doubts (-v shows them)", style="yellow"))
    return Group(*parts)


def analysis_markdown(analysis: Analysis) -> str:
    """Return the analysis as Markdown."""
    documents = [module.to_json_dict() for module in analysis.modules]
    shown, others = _shown(documents)
    parts = [f"## {markdown_code(shown[0]['name'])}\n"]
    if analysis.folder is not None:
        parts.append(f"Chosen because {markdown_escape(analysis.folder.reason)}.\n")
    parts.append(census_markdown([_stage_title(each) for each in shown], shown))
    if others:
        rows = [[markdown_code(each["name"]), *_key_numbers(each)] for each in others]
        parts.append(f"{_others_sentence(analysis, others)}\n\n{markdown_table(['module', *KEY_NUMBERS], rows)}")
    warnings = [*analysis.warnings, *(doubt for each in shown for doubt in doubts(each))]
    if warnings:
        parts.append("".join(f"- {markdown_escape(warning)}\n" for warning in warnings))
    return "\n".join(parts)


KEY_NUMBERS = ("stage", "kernels", "fusions", "instructions")


def _key_numbers(census: CensusDocument) -> list[str]:
    return [
        census["stage"],
        f"{census['kernels']['entry']:,}",
        f"{census['fusions']['entry']:,}",
        f"{census['instructions']['total']:,}",
    ]


def _shown(documents: Sequence[CensusDocument]) -> tuple[list[CensusDocument], Sequence[CensusDocument]]:
    """Return the main module's censuses (both stages stand side by side) and all the others."""
    main = documents[0]
    same = [main]
    if len(documents) > 1 and documents[1]["name"] == main["name"] and documents[1]["stage"] != main["stage"]:
        same.append(documents[1])
    return same, documents[len(same) :]


def _headline(analysis: Analysis, main: CensusDocument) -> str:
    made_by = {"jax": "JAX", "tensorflow": "TensorFlow"}.get(main["framework"], "framework not known")
    platform = f" on {main['platform']}" if main["platform"] else ""
    return f"{main['name']} ({made_by}{platform}), ENTRY {main['entry']}"


def _stage_title(census: CensusDocument) -> str:
    return {"before": "before optimizations", "after": "after optimizations"}.get(census["stage"], "stage not known")


def _others_sentence(analysis: Analysis, others: Sequence[CensusDocument]) -> str:
    if analysis.folder is None:
        return f"{len(others)} more modules in this file:"
    helpers = len(analysis.folder.helpers)
    return f"{len(others)} more modules in this folder, {helpers} of them helpers that a framework compiled on its own:"


def _others_table(others: Sequence[CensusDocument], verbose: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("module", overflow="fold")
    for name in KEY_NUMBERS:
        table.add_column(name, justify="right")
    ordered = sorted(others, key=lambda each: -each["instructions"]["total"])
    for census in ordered if verbose else ordered[:HELPERS_SHOWN]:
        table.add_row(Text(census["name"]), *_key_numbers(census))
    if len(ordered) > HELPERS_SHOWN and not verbose:
        table.add_row(f"… {len(ordered) - HELPERS_SHOWN} more (-v shows them)")
    return table
