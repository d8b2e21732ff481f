"""The table of frontends and compilers, really compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from xlacompare.attribution.columns import name_columns
from xlacompare.attribution.control import Control, check_cells
from xlacompare.dumps import debug_options, read_folder
from xlacompare.errors import WorkerFailed

BOTH = (("jax", None, ()), ("tensorflow", None, ()))
pytestmark = [pytest.mark.jax, pytest.mark.tensorflow]


def options(control: Control, frontend: str, compiler: str) -> dict[str, str]:
    folder = read_folder(control.cell(frontend, compiler).directory, wanted="linear_grad")
    return {name: value for name, value in debug_options(folder.main).items() if "dump" not in name}


def test_all_four_cells_compute_the_same(linear_grad: Control) -> None:
    assert [(cell.frontend, cell.compiler, cell.why_not) for cell in linear_grad.cells] == [
        ("jax", "jax", None),
        ("jax", "tensorflow", None),
        ("tensorflow", "jax", None),
        ("tensorflow", "tensorflow", None),
    ]
    parities, doubts = check_cells(linear_grad, rtol=1e-6, atol=1e-6)
    assert len(parities) == 2
    assert not doubts
    first = linear_grad.cells[0].outputs
    for cell in linear_grad.cells:
        assert cell.outputs is not None
        assert list(cell.outputs) == ["grad/W", "grad/b"]
        np.testing.assert_allclose(cell.outputs["grad/W"], first["grad/W"], rtol=1e-5)


def test_a_foreign_program_is_compiled_with_the_options_of_a_native_one(linear_grad: Control) -> None:
    for compiler in ("jax", "tensorflow"):
        assert options(linear_grad, "jax", compiler) == options(linear_grad, "tensorflow", compiler)


def test_every_cell_holds_its_own_program_and_every_pass(linear_grad: Control) -> None:
    for cell in linear_grad.cells:
        folder = read_folder(cell.directory, wanted="linear_grad")
        assert folder.main.before is not None
        assert folder.main.after is not None
        assert len(list(cell.directory.glob("*.after_*.before_*.txt"))) > 5


def test_jaxlib_says_which_options_are_in_force(linear_grad: Control) -> None:
    assert "xla_cpu_enable_fast_math: false" in linear_grad.answers["jax"].result["options"]


@pytest.mark.parametrize(
    ("framework", "module", "name", "empty", "words"),
    [
        pytest.param(
            "tensorflow",
            "tensorflow.compiler.tf2xla.python",
            "xla",
            ("jax", "tensorflow"),
            "this route was tried with tensorflow 2.21",
            id="no XlaCallModule",
        ),
        pytest.param(
            "jax",
            "jaxlib._hlo",
            "hlo_module_from_text",
            ("tensorflow", "jax"),
            "offers no hlo_module_from_text",
            id="no parser",
        ),
        # The dumped text goes the other way, so nothing is missing.
        pytest.param("jax", "jax.export", "export", None, "", id="no jax.export"),
    ],
)
def test_a_missing_private_api_empties_one_cell_and_says_so(
    tmp_path: Path,
    python_without: Callable[[str, str], str],
    control_of: Callable[..., Control],
    framework: str,
    module: str,
    name: str,
    empty: tuple[str, str] | None,
    words: str,
) -> None:
    crippled = python_without(module, name)
    environments = [(each, crippled if each == framework else None, ()) for each, _, _ in BOTH]
    control = control_of(tmp_path / "control", "linear", "grad", name_columns(environments), passes=False)
    reasons = {(cell.frontend, cell.compiler): cell.why_not for cell in control.cells}
    if empty is not None:
        assert words in str(reasons.pop(empty))
    assert set(reasons.values()) == {None}


def test_a_side_that_does_not_start_leaves_the_other(tmp_path: Path, control_of: Callable[..., Control]) -> None:
    environments = [("jax", None, ()), ("tensorflow", "/bin/false", ())]
    control = control_of(tmp_path, "linear", "grad", name_columns(environments), passes=False)
    reasons = {(cell.frontend, cell.compiler): cell.why_not for cell in control.cells}
    assert reasons.pop(("jax", "jax")) is None
    assert all("TensorFlow ended" in why for why in reasons.values())


def test_nothing_at_all_is_an_error(tmp_path: Path, control_of: Callable[..., Control]) -> None:
    environments = [("jax", "/bin/false", ()), ("tensorflow", "/no/such/python", ())]
    with pytest.raises(WorkerFailed, match=r"(?s)JAX ended.*TensorFlow: the interpreter"):
        control_of(tmp_path, "linear", "grad", name_columns(environments))
