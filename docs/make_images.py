"""Make the pictures of README.md anew: the fusion diff of `linear`, as a terminal of 96 columns shows it.

python docs/make_images.py
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from xlacompare.compare import diff_dumps
from xlacompare.dump import dump
from xlacompare.report.diff_text import diff_text

HERE = Path(__file__).resolve().parent
WIDTH = 96


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        difference = diff_dumps(dump("linear", variant="grad", out=folder))
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
        console.print(diff_text(difference))
        svg = console.export_svg(title="xlacompare diff linear", theme=DIMMED_MONOKAI, unique_id="linear")
    # A picture in a README fetches no font from anywhere.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")
    (HERE / "images").mkdir(exist_ok=True)
    (HERE / "images" / "linear.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
