"""What a diff looks like: words, widths, escaping."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from xlacompare.diff import Diff, diff
from xlacompare.hlo import read_file, read_text
from xlacompare.report.diff_markdown import diff_markdown
from xlacompare.report.diff_text import diff_text
from xlacompare.report.diff_words import answer


def words(found: Diff) -> str:
    return "\n".join("".join(sentence) for sentence in answer(found))


def terminal(found: Diff, width: int, **options: bool) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, emoji=False).print(diff_text(found, **options))
    return out.getvalue()


def gradient_pair(corpus: Path) -> Diff:
    folder = corpus / "TheSalon__fast-dpsgd"
    left, right = (read_file(str(folder / f"text_xla_dumps__{side}_linear.txt"))[0] for side in ("jax", "tf"))
    return diff(left, right)


@pytest.mark.corpus
def test_the_words_for_the_gradient_pair_of_2020(corpus: Path) -> None:
    text = words(gradient_pair(corpus))
    assert "JAX launches 1 kernel, TensorFlow 2" in text
    assert (
        "parameter.1 @ parameter.2 (multiply, reduce): TensorFlow runs it as a kernel of its own, fusion.1; "
        "JAX recomputes it inside its single kernel, fusion." in text
    )


@pytest.mark.corpus
def test_the_boundarys_bytes_are_those_counted_by_hand(corpus: Path) -> None:
    """f32[5,5] is 100 bytes and f32[5] 20: JAX reads W, b, x, y and writes W's gradient.

    TensorFlow's first kernel reads W and x and writes W @ x, its second reads that, b, y and x and writes the gradient.
    """
    found = gradient_pair(corpus)
    assert found.total_bytes == (160 + 100, (120 + 20) + (80 + 100))
    assert "JAX's kernels read and write 260 B of memory in all, TensorFlow's 320 B." in words(found)
    assert re.findall(r"moves \d+ B", terminal(found, 120)) == ["moves 260 B", "moves 140 B", "moves 180 B"]


@pytest.mark.corpus
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(corpus: Path, width: int) -> None:
    lines = terminal(gradient_pair(corpus), width, text_diff=True).splitlines()
    assert lines
    assert max(map(len, lines)) <= width


NASTY = """HloModule jit_[bold]x

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %r = f32[4]{0} tanh(%p), metadata={op_name="[/bold][red]|`x`<script>alert(1)</script>"}
}

ENTRY %e (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0), metadata={op_name="[link=http://x]a|`b`[/bold]"}
  ROOT %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused
}
"""


def test_hlo_text_is_never_read_as_markup() -> None:
    left = read_text(NASTY)[0]
    found = diff(left, read_text(NASTY.replace("tanh", "sine"))[0])
    shown = terminal(found, 120, text_diff=True)
    assert "[/bold]" in shown
    markdown = diff_markdown(found)
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown, flags=re.DOTALL)
    assert "<script>" not in outside_code
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert line.replace("\\|", "").count("|") in (3, 4)


def test_identical_programs_are_said_to_be() -> None:
    module = read_text(NASTY)[0]
    assert words(diff(module, module)) == "The two programs are identical: 1 kernel on the same 1 operation."
