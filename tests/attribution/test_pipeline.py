"""Pipelines side by side, on small folders written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xlacompare.attribution import attribute_folders
from xlacompare.attribution.passes import MAX_COMPARED, PipelineDiff, compare_pipelines, find_partings, thinned
from xlacompare.attribution.pipeline import read_pipeline
from xlacompare.attribution.verdict import split
from xlacompare.dumps import read_folder
from xlacompare.errors import UsageError
from xlacompare.report.attribution import attribution_markdown
from xlacompare.report.pipeline_plot import plot_pipelines

HEAD = (
    "HloModule jit_f, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}\n\n"
    "ENTRY %main (x: f32[4], y: f32[4]) -> f32[4] {\n"
)
PARAMETERS = "  %x = f32[4]{0} parameter(0)\n  %y = f32[4]{0} parameter(1)\n"
SQUARE = "  %p = f32[4]{0} multiply(%x, %x)\n  ROOT %r = f32[4]{0} add(%p, %y)\n}\n"
# The same, with a multiplication by one that the simplifier removes.
SPELLED = (
    "  %c = f32[] constant(1)\n  %b = f32[4]{0} broadcast(%c), dimensions={}\n  %o = f32[4]{0} multiply(%x, %b)\n"
    "  %p = f32[4]{0} multiply(%o, %x)\n  ROOT %r = f32[4]{0} add(%p, %y)\n}\n"
)
RENAMED = SQUARE.replace("%p", "%product")
NEGATED = "  %p = f32[4]{0} multiply(%x, %x)\n  %n = f32[4]{0} negate(%y)\n  ROOT %r = f32[4]{0} subtract(%p, %n)\n}\n"


def write_dump(folder: Path, before: str, passes: dict[str, str], after: str) -> Path:
    """Write a dump folder: the body of each text, passes as `pipeline.after_pass.before_pass` -> body."""
    folder.mkdir(parents=True)
    bodies = {"before_optimizations": before, "cpu_after_optimizations": after}
    bodies |= {f"{step:04d}.{name}": body for step, (name, body) in enumerate(passes.items())}
    for name, body in bodies.items():
        (folder / f"module_0001.jit_f.{name}.txt").write_text(HEAD + PARAMETERS + body)
    return folder


def compared(left: Path, right: Path) -> PipelineDiff:
    pipelines = [read_pipeline(read_folder(folder).main) for folder in (left, right)]
    return compare_pipelines(*pipelines, ("left", "right"))


def test_the_states_come_in_the_order_of_their_steps(tmp_path: Path) -> None:
    passes = {"simplify.after_algsimp.before_dce": SPELLED, "simplify.after_pipeline-start.before_algsimp": SQUARE}
    steps = read_pipeline(read_folder(write_dump(tmp_path / "a", SPELLED, passes, SQUARE)).main)
    assert [(step.pipeline, step.name) for step in steps] == [
        ("", "before optimizations"),
        ("simplify", "algsimp"),
        ("simplify", "pipeline-start"),
        ("", "after optimizations"),
    ]
    assert [step.kernels for step in steps] == [4, 4, 2, 2]


def test_what_is_only_spelled_differently_parts_nothing(tmp_path: Path) -> None:
    passes = {"simplify.after_algsimp.before_dce": SQUARE}
    found = compared(
        write_dump(tmp_path / "a", SPELLED, passes, SQUARE), write_dump(tmp_path / "b", SQUARE, passes, RENAMED)
    )
    assert found.stations[0].apart.operations > 0
    assert found.input_operations_apart == 0
    assert found.partings == ()


def test_the_pass_that_parts_them_is_named_with_what_it_touched(tmp_path: Path) -> None:
    left = {"simplify.after_algsimp.before_dce": SQUARE, "layout.after_negator.before_cse": NEGATED}
    right = {"simplify.after_algsimp.before_dce": SQUARE, "layout.after_pipeline-start.before_cse": SQUARE}
    found = compared(
        write_dump(tmp_path / "a", SPELLED, left, NEGATED), write_dump(tmp_path / "b", SPELLED, right, SQUARE)
    )
    (parting,) = found.partings
    assert parting.after == "simplify / algsimp"
    assert parting.left_passes == ("layout / negator",)
    assert parting.right_passes == ()
    # One addition on the right; a negation and a subtraction on the left.
    assert parting.operations_apart == (0, 3)
    assert sorted(operation.opcode for operation in parting.operations) == ["add", "negate", "subtract"]


def test_nothing_is_aligned_with_an_empty_pipeline() -> None:
    assert find_partings((), (), (), ("left", "right")) == ()


@pytest.mark.parametrize("count", [0, 1, MAX_COMPARED, MAX_COMPARED + 1, 1000])
def test_long_pipelines_are_thinned_and_keep_their_ends(count: int) -> None:
    pairs = [(index, index) for index in range(count)]
    kept = thinned(pairs, MAX_COMPARED)
    assert len(kept) == min(count, MAX_COMPARED)
    assert kept[:1] == pairs[:1]
    assert kept[-1:] == pairs[-1:]


@pytest.mark.parametrize(
    ("cells", "frontend", "compiler", "interaction"),
    [
        pytest.param((5, 5, 5, 5), 0, 0, 0, id="nothing"),
        pytest.param((30, 30, 25, 25), 5, 0, 0, id="frontend alone"),
        pytest.param((30, 20, 30, 20), 0, 10, 0, id="compiler alone"),
        pytest.param((30, 28, 25, 23), 5, 2, 0, id="both, additive"),
        pytest.param((9, 5, 5, 5), 2, 2, 4, id="only together"),
    ],
)
def test_shares(cells: tuple[float, float, float, float], frontend: float, compiler: float, interaction: float) -> None:
    share = split("kernels", *cells)
    assert (share.frontend, share.compiler, share.interaction) == (frontend, compiler, interaction)
    assert share.frontend + share.compiler == share.difference


def test_two_folders_with_one_input_tell_the_compilers_apart(tmp_path: Path) -> None:
    left = write_dump(tmp_path / "a", SPELLED, {}, NEGATED)
    found = attribute_folders(left, write_dump(tmp_path / "b", SPELLED, {}, SQUARE))
    assert found.verdict == "compiler"
    assert any("xla_dump_hlo_pass_re" in sentence for sentence in found.unable)


def test_two_folders_with_two_inputs_are_told_apart_by_their_passes(tmp_path: Path) -> None:
    passes = {"simplify.after_algsimp.before_dce": SQUARE}
    left = write_dump(tmp_path / "a", SPELLED, passes, NEGATED)
    right = write_dump(tmp_path / "b", SQUARE, passes, SQUARE)
    found = attribute_folders(left, right)
    # The simplifier brought the two together, so what differs at the end is the doing of a later pass.
    assert found.verdict == "compiler"
    assert found.to_json_dict()["first_divergent_pass"]["after"] == "simplify / algsimp"


def test_two_folders_without_passes_and_with_two_inputs_cannot_be_told_apart(tmp_path: Path) -> None:
    left = write_dump(tmp_path / "a", SPELLED, {}, NEGATED)
    found = attribute_folders(left, write_dump(tmp_path / "b", NEGATED, {}, SQUARE))
    assert found.verdict == "unknown"
    assert "cannot be told" in attribution_markdown(found)


def test_the_result_is_a_table_a_page_and_a_document(tmp_path: Path) -> None:
    folders = write_dump(tmp_path / "a", SPELLED, {}, NEGATED), write_dump(tmp_path / "b", SPELLED, {}, SQUARE)
    found = attribute_folders(*folders)
    assert list(found.to_pandas()["kernels"]) == [3, 2]
    assert "whose doing?" in found._repr_html_()
    assert json.loads(found.to_json())["verdict"] == "compiler"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    folder = write_dump(tmp_path / "a", SQUARE, {}, SQUARE)
    with pytest.raises(UsageError, match="two dump folders"):
        attribute_folders(folder, next(folder.iterdir()))


def test_text_from_a_dump_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    nasty = '  ROOT %r = f32[4]{0} add(%x, %y), metadata={op_name="<img src=x>|[red]$x$ /f"}\n}\n'
    left = write_dump(tmp_path / "a", nasty, {"<b>$s$.after_[red]x.before_y": nasty}, nasty)
    right = write_dump(tmp_path / "b", NEGATED, {"<b>$s$.after_[red]x.before_y": NEGATED}, NEGATED)
    found = attribute_folders(left, right)
    text = attribution_markdown(found)
    outside_code = "".join(text.split("`")[::2])
    assert "<img" not in outside_code.replace("\\<", "")
    plot = tmp_path / "plot.svg"
    plot_pipelines(found.pipelines, plot, "a $title$ <b>")
    again = tmp_path / "again.svg"
    plot_pipelines(found.pipelines, again, "a $title$ <b>")
    assert plot.read_bytes() == again.read_bytes()


def test_a_plot_needs_two_pipelines_and_a_known_ending(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no two pipelines"):
        plot_pipelines((), tmp_path / "plot.svg", "title")
    with pytest.raises(UsageError, match=r"\.svg or \.png"):
        plot_pipelines((), tmp_path / "plot.pdf", "title")
