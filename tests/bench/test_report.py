"""What a run looks like."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.bench.made_runs import make_run
from xlacompare.bench.analysis import comparisons, summarize_columns
from xlacompare.bench.run import Run
from xlacompare.report.bench import bench_markdown, bench_text, comparison_sentence, remarks

WOBBLE = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0]
SLOW = [22.9e-3 * value for value in WOBBLE]


def rendered(run: Run, *, ascii_only: bool = False) -> str:
    console = Console(width=80, file=io.StringIO(), color_system=None)
    console.print(bench_text(run, ascii_only=ascii_only))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_the_terminals_report() -> None:
    text = rendered(make_run(SLOW, [1.5 * value for value in reversed(SLOW)], size="large"))
    assert text == (
        "linear · grad · large (width 2048, batch 1) · latency · 6 rounds × 3 batches\n"
        "cpu (2 cores) · float32 · calls a batch: jax 10, tensorflow 10\n"
        "             median       p25…p75     processes    floor\n"
        "jax         22.9 ms  22.8…23.0 ms  22.7…23.1 ms  6.00 µs\n"
        "tensorflow  34.4 ms  34.3…34.4 ms  34.0…34.7 ms   142 µs\n"
        "\n"
        "             import    trace    lower    compile  first run  peak mem  cores\n"
        "jax         50.0 ms  50.0 ms  50.0 ms    50.0 ms    50.0 ms   250 MiB    2.0\n"
        "tensorflow  50.0 ms  50.0 ms  50.0 ms  50.0 ms *    50.0 ms   250 MiB    2.0\n"
        "\n"
        "jax is 1.50× faster than tensorflow   95% CI [1.48, 1.52]   p < 0.001   → faster\n"
        "* derived: first call - steady median.\n"
        "outputs agree: max rel 3e-07."
    )


def test_a_dumb_terminal_gets_ascii() -> None:
    text = rendered(make_run(SLOW, SLOW), ascii_only=True)
    assert text.isascii()
    assert "6 rounds x 3 batches" in text


def test_dispatch_bound_rows_are_tagged_and_the_summary_says_so() -> None:
    text = rendered(make_run([31e-6] * 6, [205e-6] * 6))
    assert [line.split()[0] for line in text.splitlines() if line.endswith("dispatch-bound")] == ["tensorflow"]
    assert "tensorflow: dominated by Python dispatch; use --size large" in text


def test_who_is_at_the_large_size_already_is_not_sent_there() -> None:
    assert "use a larger --batch or" in rendered(make_run([31e-6] * 6, [205e-6] * 6, size="large")).replace("\n", " ")


def sentence(run: Run) -> str:
    return comparison_sentence(run, comparisons(run)[0])


def test_sentences_of_every_verdict() -> None:
    assert sentence(make_run(SLOW, SLOW)).endswith("→ no difference")
    slower = sentence(make_run([2 * value for value in SLOW], SLOW))
    assert slower.startswith("jax is 2.00× slower than tensorflow   95% CI [2.00, 2.00]")
    noisy = make_run([1.0, 1.2, 0.9, 1.1, 1.0, 0.95], [1.1, 1.0, 1.05, 1.2, 1.3, 0.8])
    assert "→ inconclusive at --min-effect 2% (≈ " in sentence(noisy)
    assert sentence(make_run(SLOW[:3], SLOW[:3])).endswith("→ indicative, no verdict (3 of at least 6 rounds)")
    assert "CI" not in sentence(make_run(SLOW[:1], SLOW[:1]))


@pytest.mark.parametrize("column", ["jax", "tensorflow-eager"])
def test_a_self_check_says_what_the_machine_resolves(column: str) -> None:
    run = make_run(SLOW, list(reversed(SLOW)), self_check=column, floors_s=(1e-6, 1e-6))
    assert sentence(run).startswith(f"{column} against itself: ratio 1.000")
    said = remarks(run, summarize_columns(run), comparisons(run))[0]
    assert said.startswith("in 6 rounds this machine, as it was, tells apart times that differ by 1.")


def test_markdown_is_escaped_and_complete() -> None:
    text = bench_markdown(make_run(SLOW, SLOW))
    assert text.startswith("## `linear` grad: time\n\n")
    assert "| tensorflow | 22.9 ms |" in text
    assert "no difference" in text
