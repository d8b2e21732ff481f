"""How each kind of result looks, for `rich.print` and for a notebook."""

from __future__ import annotations

import io
from functools import singledispatch

from rich.console import Console, RenderableType
from rich.text import Text

from xlacompare.attribution import Attribution
from xlacompare.census import Census
from xlacompare.diff import Diff
from xlacompare.dump import DumpResult
from xlacompare.reading import Analysis
from xlacompare.results import Result

HTML_WIDTH = 110


@singledispatch
def renderable(result: Result) -> RenderableType:
    """Return what rich prints for a result; a kind without a look of its own shows its JSON."""
    return Text(result.to_json())


@renderable.register(Census)
def _(result: Census) -> RenderableType:
    from xlacompare.report.census import census_table

    return census_table([result.name], [result.to_json_dict()])


@renderable.register(Analysis)
def _(result: Analysis) -> RenderableType:
    from xlacompare.report.analysis import analysis_text

    return analysis_text(result)


@renderable.register(DumpResult)
def _(result: DumpResult) -> RenderableType:
    from xlacompare.report.dump import dump_text

    return dump_text(result)


@renderable.register(Diff)
def _(result: Diff) -> RenderableType:
    from xlacompare.report.diff_text import diff_text

    return diff_text(result)


@renderable.register(Attribution)
def _(result: Attribution) -> RenderableType:
    from xlacompare.report.attribution import attribution_text

    return attribution_text(result)


def html(result: Result) -> str:
    """Return the result's look as a fragment of HTML; everything in it is escaped by rich."""
    console = Console(record=True, width=HTML_WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(result)
    return console.export_html(inline_styles=True, code_format='<pre style="line-height:1.2">{code}</pre>')
