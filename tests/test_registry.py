"""Model pairs by name and by path, and specs that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xlacompare.models import BUILT_IN_DIR

from tests.model_folders import write_model
from xlacompare.errors import ModelError, UsageError
from xlacompare.model_spec import ModelFolderError, ModelSpec, accepted, load_spec
from xlacompare.registry import Model, all_models, built_in_names, find_model
from xlacompare.settings import check_settings


def spec(**changes: Any) -> ModelSpec:
    values: dict[str, Any] = {
        "name": "m",
        "summary": "",
        "loss": None,
        "sizes": {"tiny": {"batch": 1, "width": 2}},
        "init_params": dict,
        "example_batch": tuple,
    }
    return ModelSpec(**{**values, **changes})


def test_all_built_in_pairs_load() -> None:
    models = {model.name: model for model in all_models() if model.name in built_in_names()}
    assert sorted(models) == built_in_names()
    assert all(isinstance(model, Model) for model in models.values())
    expected = "cifar10 deep embed ffnn linear logreg lstm mlp mnist resnet transformer"
    assert expected.split() == built_in_names()


def test_a_folder_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert find_model("./mine").name == find_model("mine").name == "mine"


def test_a_name_that_is_none_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Nearest: linear"):
        find_model("liner")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "raised ZeroDivisionError"),
        ("raise SystemExit(2)", "raised SystemExit"),
        ("SPEC = 3", "defines no SPEC"),
        ("def broken(:", "raised SyntaxError"),
    ],
)
def test_a_broken_folder_says_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        find_model(str(write_model(tmp_path / "bad", spec=text)))


def test_a_folder_without_a_spec(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"spec\.py is missing"):
        find_model(str(tmp_path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "hinge"}, "'hinge' is none of"),
        ({"sizes": {}}, "sizes is empty"),
        ({"sizes": {"tiny": {"width": 2}}}, "'tiny' has no 'batch'"),
        ({"still_options": {"dropout": 0.0}}, "'dropout' is given a value and is none of its options"),
        ({"vectorize_options": {"unroll": 0}}, "'unroll' is given a value and is none of its options"),
    ],
)
def test_a_spec_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFolderError, match=message):
        spec(**changes)


def test_options_go_over_sizes_and_sizes_over_defaults() -> None:
    pair = spec(
        options={"depth": 2, "unroll": 1, "prng": ("one", "two")},
        sizes={"tiny": {"batch": 1, "width": 2}, "large": {"batch": 8, "width": 4, "depth": 12}},
        vectorize_options={"unroll": 0},
    )
    tiny, large = pair.sizes["tiny"], pair.sizes["large"]
    assert pair.keywords(tiny, {}) == {"depth": 2, "unroll": 1, "prng": "one", "width": 2}
    assert pair.keywords(large, {}) == {"depth": 12, "unroll": 1, "prng": "one", "width": 4}
    assert pair.keywords(large, {"depth": 3, "prng": "two"})["depth"] == 3
    assert pair.keywords(tiny, {}, vectorized=True)["unroll"] == 0
    assert pair.keywords(tiny, {"unroll": 5}, vectorized=True)["unroll"] == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depht": 3}, "has no option 'depht'; it has depth"),
        ({"depth": "many"}, "takes int as depth, such as 2; 'many' is str"),
        ({"depth": 1.5}, "takes int as depth"),
        ({"depth": True}, "takes int as depth"),
        ({"prng": "mersenne"}, "has no prng 'mersenne'; choose from threefry2x32, rbg, unsafe_rbg"),
    ],
)
def test_an_option_that_cannot_be_is_refused_before_any_process(options: dict[str, Any], message: str) -> None:
    deep = find_model("deep").spec
    with pytest.raises(UsageError, match=message):
        check_settings(deep, variant="grad", size=None, batch=None, options=options)


def test_a_whole_number_may_stand_for_a_rate() -> None:
    check_settings(find_model("deep").spec, variant="grad", size=None, batch=None, options={"dropout": 0})


def test_functions_are_passed_what_they_name() -> None:
    assert accepted(lambda rng, width: None, {"width": 2, "heads": 3}) == {"width": 2}
    assert accepted(lambda rng, **rest: None, {"width": 2, "heads": 3}) == {"width": 2, "heads": 3}


@pytest.mark.parametrize("name", built_in_names())
def test_built_in_pairs_keep_the_house_rules(name: str) -> None:
    pair = load_spec(BUILT_IN_DIR / name)
    assert pair.name == name
    assert pair.default_size == "tiny"
    assert set(pair.sizes) >= {"tiny", "large"}
    assert pair.origin
    for file in (BUILT_IN_DIR / name).glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "keras" not in text and "haiku" not in text and "flax" not in text, file
    assert pair.random == bool(pair.still_options)


def test_the_mlp_has_the_benchmark_s_size() -> None:
    pair = find_model("mlp").spec
    params = pair.init_params(
        np.random.default_rng(0), **accepted(pair.init_params, pair.keywords(pair.sizes["paper"], {}))
    )
    assert sum(values.size for values in params.values()) == 535_818
