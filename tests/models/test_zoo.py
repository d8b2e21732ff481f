"""Every pair and variant: both frameworks compute the same, and launch what the census says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import xlacompare.analyze as xa
from tests.models.zoo import (
    LAUNCHES,
    LAUNCHES_THIRD,
    OPTIONS,
    OTHER_MODES,
    PARITY,
    SPECS,
    Case,
    Run,
    run_zoo,
)
from xlacompare.frameworks import FRAMEWORKS
from xlacompare.frameworks.program import argument_names
from xlacompare.hlo import Module, read_text
from xlacompare.kernels import steps
from xlacompare.parity import Parity, compare_outputs

# One worker runs them all: the zoo is compiled once.
pytestmark = [pytest.mark.jax, pytest.mark.tensorflow, pytest.mark.xdist_group("zoo")]


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return run_zoo([*PARITY, *OPTIONS], LAUNCHES_THIRD, tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="session")
def whole_zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return run_zoo(PARITY, LAUNCHES, tmp_path_factory.mktemp("whole_zoo"))


@pytest.fixture(scope="session")
def other_modes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    # TensorFlow 2.21's own kernels write past their memory in the transformer's dp_train_step when oneDNN is on.
    return run_zoo(OTHER_MODES, [], tmp_path_factory.mktemp("other_modes"), {"TF_ENABLE_ONEDNN_OPTS": "0"})


def case_id(case: Case) -> str:
    return case.id


def check_parity(runs: dict[str, Run], case: Case) -> Parity:
    spec = SPECS[case.model]
    left, right = runs["jax"].outputs(case), runs["tensorflow"].outputs(case)
    return compare_outputs(left, right, rtol=spec.rtol, atol=spec.atol)


def check_launches(run: Run, case: Case) -> None:
    """The steps that the census tells are the events of the runtime's trace, by name and number."""
    name, text = run.module_text(case)
    (module,) = read_text(text)
    launched = run.launched[name]
    expected: Counter[str] = Counter()
    unknown: dict[str, set[str]] = {}
    for step in steps(module, "weighted"):
        if step.times is None:
            unknown.setdefault(step.instruction.computation.name, set()).add(step.name)
        elif step.times:
            expected[step.name] += step.times
    uncounted = {name for names in unknown.values() for name in names}
    assert {op: count for op, count in launched.items() if op not in uncounted} == expected
    times: dict[str, int] = {}
    for computation, names in unknown.items():
        counts = {launched[each] for each in names}
        assert len(counts) == 1, (computation, {each: launched[each] for each in names})
        times[computation] = counts.pop()
    check_unknown_loops(module, launched, times)


def check_unknown_loops(module: Module, launched: Counter[str], times: dict[str, int]) -> None:
    """A loop of unknown length runs its condition once more than its body, each time that it is entered."""
    for computation in module.computations:
        for loop in computation.instructions:
            if loop.opcode != "while":
                continue
            (body,), (condition,) = loop.called_by_role["body"], loop.called_by_role["condition"]
            if body.name in times and condition.name in times:
                assert times[condition.name] == times[body.name] + launched[loop.name], loop.name


@pytest.mark.parametrize("case", [*PARITY, *OPTIONS], ids=case_id)
def test_both_frameworks_compute_the_same(zoo: dict[str, Run], case: Case) -> None:
    assert check_parity(zoo, case).ok


@pytest.mark.parametrize("case", PARITY, ids=case_id)
def test_outputs_are_every_parameter_s(zoo: dict[str, Run], case: Case) -> None:
    names = zoo["jax"].parameter_names[case.id]
    params = names[: names.index("x")]
    expected = {
        "forward": {"output"},
        "grad": {f"grad/{name}" for name in params},
        "value_and_grad": {"loss", *(f"grad/{name}" for name in params)},
        "train_step": {f"params/{name}" for name in params},
        "dp_train_step": {f"params/{name}" for name in params},
    }
    assert set(zoo["tensorflow"].outputs(case)) == set(zoo["jax"].outputs(case)) == expected[case.variant]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("case", LAUNCHES_THIRD, ids=case_id)
def test_entry_parameters_are_the_arguments_in_order(zoo: dict[str, Run], case: Case, framework: str) -> None:
    entry = {}
    for side in FRAMEWORKS:
        (module,) = read_text(zoo[side].module_text(case)[1])
        found = [each for each in module.entry.instructions if each.opcode == "parameter"]
        entry[side] = [str(each.shape).split("{")[0] for each in sorted(found, key=lambda each: each.parameter_number)]
    names = zoo[framework].parameter_names[case.id]
    params = dict.fromkeys(names[: names.index("x")])
    assert names == argument_names(SPECS[case.model], case.variant, params)
    assert len(names) == len(entry[framework])
    for name, left, right in zip(names, entry["jax"], entry["tensorflow"], strict=True):
        # A key is u32[2] in JAX and a seed s32[2] in TensorFlow.
        assert left == right or (name, left, right) == ("key", "u32[2]", "s32[2]")


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("case", LAUNCHES_THIRD, ids=case_id)
def test_launches_are_those_of_the_census(zoo: dict[str, Run], case: Case, framework: str) -> None:
    check_launches(zoo[framework], case)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("case", LAUNCHES, ids=case_id)
def test_all_launches_are_those_of_the_census(whole_zoo: dict[str, Run], case: Case, framework: str) -> None:
    check_launches(whole_zoo[framework], case)


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHER_MODES, ids=case_id)
def test_eager_and_graph_compute_the_same(whole_zoo: dict[str, Run], other_modes: dict[str, Run], case: Case) -> None:
    jitted = whole_zoo["jax"].outputs(Case(case.model, case.variant, case.vectorize))
    spec = SPECS[case.model]
    for framework in FRAMEWORKS if case.mode == "eager" else ["tensorflow"]:
        assert compare_outputs(jitted, other_modes[framework].outputs(case), rtol=spec.rtol, atol=spec.atol).ok


@pytest.mark.parametrize("unroll", [0, 3, 4])
def test_unrolling_changes_no_number(zoo: dict[str, Run], unroll: int) -> None:
    looped, unrolled = Case("lstm", "grad"), Case("lstm", "grad", options=(("unroll", unroll),))
    for framework in FRAMEWORKS:
        assert compare_outputs(
            zoo[framework].outputs(looped), zoo[framework].outputs(unrolled), rtol=1e-5, atol=1e-6
        ).ok


# One that draws in its layers and in its step in any case.
@pytest.mark.parametrize(
    "model", ["deep", *(pytest.param(model, marks=pytest.mark.slow) for model in SPECS if model != "deep")]
)
def test_every_pair_is_dumped(tmp_path: Path, model: str) -> None:
    result = xa.dump(model, variant="dp_train_step", out=tmp_path)
    assert result.parity is not None and result.parity.ok
    expected = {**SPECS[model].still_options, "noise_multiplier": 0.0}
    assert result.parity.compared_at == expected
    assert result.to_json_dict()["parity"]["compared_at"] == expected


def test_the_third_has_every_pair_and_every_variant() -> None:
    assert {case.model for case in LAUNCHES_THIRD} == set(SPECS)
    assert {(case.variant, case.vectorize) for case in LAUNCHES_THIRD} == {
        (case.variant, case.vectorize) for case in LAUNCHES
    }
    assert 3 * len(LAUNCHES_THIRD) >= len(LAUNCHES)


def test_parity_names_the_worst_parameter(zoo: dict[str, Run], tmp_path: Path) -> None:
    from xlacompare.errors import ParityError

    case = Case("mlp", "grad")
    outputs = zoo["tensorflow"].outputs(case)
    outputs["grad/b2"] = outputs["grad/b2"] * 1.01
    with pytest.raises(ParityError, match="grad/b2"):
        compare_outputs(zoo["jax"].outputs(case), outputs, rtol=SPECS["mlp"].rtol, atol=SPECS["mlp"].atol)
