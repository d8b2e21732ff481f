"""What stands around a diff: the noise floor of repeated compilations, and the other modules of two folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from xlacompare.compare import Beside
from xlacompare.diff.noise import NoiseFloor
from xlacompare.report.markdown import markdown_code, markdown_table
from xlacompare.worker.launch import DISPLAY_NAMES

COLUMNS = ("left", "right", "kernels left", "kernels right", "identical")


def noise_sentences(floors: Mapping[str, NoiseFloor]) -> list[str]:
    """Return for each framework what differs between compilations of one and the same program."""
    sentences = []
    for framework, floor in floors.items():
        name, times = DISPLAY_NAMES[framework], len(floor.diffs) + 1
        if floor.identical:
            sentences.append(f"Noise floor: {times} compilations by {name} gave the same kernels every time.")
            continue
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in floor.verdicts.items())
        sentences.append(
            f"Noise floor: of {times} compilations by {name} the numbers {', '.join(map(str, floor.different))} differ "
            f"from the first ({verdicts}). Differences of that kind below mean nothing."
        )
    return sentences


def beside_table(modules: Sequence[Beside]) -> Table:
    """Return the other modules of two folders as a table."""
    table = Table(
        box=None, pad_edge=False, header_style="bold", title="Other modules of the folders", title_justify="left"
    )
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for module in modules:
        table.add_row(*map(Text, _cells(module)))
    return table


def beside_markdown(modules: Sequence[Beside]) -> str:
    """Return the other modules of two folders as Markdown."""
    rows = [[*(markdown_code(cell) for cell in cells[:2]), *cells[2:]] for cells in map(_cells, modules)]
    return f"### Other modules of the folders\n\n{markdown_table(COLUMNS, rows)}"


def _cells(module: Beside) -> list[str]:
    document = module.to_json_dict()
    numbers = [document["left_kernels"], document["right_kernels"]]
    same = {True: "yes", False: "no", None: "–"}[document["identical"]]
    return [
        module.left or "–",
        module.right or "–",
        *("–" if number is None else str(number) for number in numbers),
        same,
    ]
