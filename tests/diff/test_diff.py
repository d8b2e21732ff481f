"""What a diff says of real pairs, old and new, against what is known of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xlacompare.diff import Diff, diff
from xlacompare.errors import UsageError
from xlacompare.hlo import Module, read_file, read_text

Dumped = Callable[..., tuple[Module, Module]]
VERDICTS = {"identical", "same_operations", "merged", "split", "regrouped", "left_only", "right_only"}


def supplement(corpus: Path, name: str) -> Module:
    return read_file(str(corpus / "TheSalon__fast-dpsgd" / f"text_xla_dumps__{name}.txt"))[0]


def check_document(found: Diff) -> dict:
    """Check what holds of every diff, and return its document."""
    document = found.to_json_dict()
    counts = document["operations"]
    assert counts["left"] == counts["matched"] + counts["left_only"]
    assert counts["right"] == counts["matched"] + counts["right_only"]
    for side in ("left", "right"):
        listed = [name for kernel in document["kernels"] for name in kernel[side]]
        assert len(listed) == len(set(listed)) == document[side]["kernels"]["reachable"]
    for kernel in document["kernels"]:
        assert kernel["verdict"] in VERDICTS
        assert (kernel["verdict"] == "left_only") == (not kernel["right"])
        assert (kernel["verdict"] == "right_only") == (not kernel["left"])
    return document


@pytest.mark.corpus
def test_the_gradient_pair_of_2020(corpus: Path) -> None:
    found = diff(supplement(corpus, "jax_linear"), supplement(corpus, "tf_linear"))
    document = check_document(found)
    assert document["operations"] == {"left": 11, "right": 11, "matched": 11, "left_only": 0, "right_only": 0}
    assert [(one["verdict"], one["left"], one["right"]) for one in document["kernels"]] == [
        ("split", ["fusion"], ["fusion.1", "fusion"])
    ]
    assert not document["identical"]


@pytest.mark.corpus
def test_the_forward_pair_of_2020_runs_one_kernel_each(corpus: Path) -> None:
    document = check_document(diff(supplement(corpus, "jax_nograd_linear"), supplement(corpus, "tf_nograd_linear")))
    assert [len(one["left"]) for one in document["kernels"]] == [1]
    assert [len(one["right"]) for one in document["kernels"]] == [1]
    assert document["operations"]["left_only"] == document["operations"]["right_only"] == 0


@pytest.mark.corpus
def test_a_library_fusion_is_the_operation_that_it_wraps(cases: Path) -> None:
    left, right = (read_file(str(cases / f"pair_dense_{side}.hlo"))[0] for side in ("jax", "tf"))
    document = check_document(diff(left, right))
    assert document["operations"]["matched"] == 5
    assert [one["verdict"] for one in document["kernels"]] == ["same_operations", "identical"]
    assert document["kernels"][0]["notes"] == ["packing"]


@pytest.mark.jax
@pytest.mark.tensorflow
def test_linear_grad_of_today(dumped: Dumped) -> None:
    document = check_document(diff(*dumped("linear", "grad")))
    assert document["operations"] == {"left": 9, "right": 9, "matched": 9, "left_only": 0, "right_only": 0}
    assert [len(one["left"]) for one in document["kernels"]] == [1, 1, 1]
    assert [len(one["right"]) for one in document["kernels"]] == [1, 1, 1]
    moved = [one["right_moved_operations"] for one in document["kernels"]]
    assert [operation["opcode"] for operation in moved[0]] == ["add"]
    assert len(moved[0][0]["stands_in"]) == 2


@pytest.mark.jax
@pytest.mark.tensorflow
def test_a_module_against_itself_is_identical(dumped: Dumped) -> None:
    for module in dumped("linear", "grad"):
        found = diff(module, module)
        assert found.identical
        assert check_document(found)["identical"]


SWAPPED = """HloModule m

ENTRY %e (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  ROOT %s = f32[4]{0} subtract(%a, %b)
}
"""


def test_pairs_that_the_user_gives_come_first() -> None:
    module = read_text(SWAPPED)[0]
    assert diff(module, module).identical
    crossed = diff(module, module, pairs=[("a", "b"), ("1", "0")])
    assert [(pair.left, pair.right) for pair in crossed.parameters] == [(0, 1), (1, 0)]
    assert not crossed.identical


def test_names_by_the_spec_pair_parameters_in_any_order() -> None:
    left = read_text(SWAPPED)[0]
    right = read_text(SWAPPED.replace("subtract(%a, %b)", "subtract(%b, %a)"))[0]
    found = diff(left, right, left_parameters=["W", "b"], right_parameters=["b", "W"])
    assert [(pair.left_name, pair.right_name) for pair in found.parameters] == [("W", "W"), ("b", "b")]
    assert found.identical


@pytest.mark.parametrize("pair", [("a", "nowhere"), ("7", "0")])
def test_a_pair_of_parameters_that_are_not_there_is_refused(pair: tuple[str, str]) -> None:
    module = read_text(SWAPPED)[0]
    with pytest.raises(UsageError, match="There is no"):
        diff(module, module, pairs=[pair])


def test_one_parameter_in_two_pairs_is_refused() -> None:
    module = read_text(SWAPPED)[0]
    with pytest.raises(UsageError, match="more than one pair"):
        diff(module, module, pairs=[("a", "a"), ("a", "b")])


def test_importing_the_diff_imports_nothing_heavy() -> None:
    heavy = {"rich", "pandas", "matplotlib", "jax", "tensorflow"}
    code = f"import sys, xlacompare.diff; print(*(set(sys.modules) & {heavy!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
