"""Who hands whose program to whom, and in which form."""

from __future__ import annotations

from pathlib import Path

from xlacompare.attribution.columns import Places, child_request, name_columns, orphans

PLACES = Places(Path("/cells"), Path("/exchange"))
JAX, TENSORFLOW = ("jax", None, ()), ("tensorflow", None, ())


def test_one_environment_offers_nothing_and_waits_for_nothing() -> None:
    columns = name_columns([JAX])
    request = child_request(columns[0], columns, PLACES)
    assert request["offers"] == {}
    assert request["foreign"] == []
    assert request["conversions"] == []


def test_a_program_travels_as_text_to_jax_and_as_stablehlo_to_tensorflow() -> None:
    columns = name_columns([JAX, TENSORFLOW])
    jax, tensorflow = (child_request(column, columns, PLACES) for column in columns)
    assert list(jax["offers"]) == ["stablehlo", "text"]
    assert list(tensorflow["offers"]) == ["text"]
    assert jax["foreign"][0]["bundles"] == list(tensorflow["offers"].values())
    assert tensorflow["foreign"][0]["bundles"] == [jax["offers"]["stablehlo"]]


def test_every_bundle_that_is_waited_for_is_written_by_somebody() -> None:
    columns = name_columns([JAX, TENSORFLOW, ("jax", "/old", ()), ("tensorflow", "/new", ())])
    requests = [child_request(column, columns, PLACES) for column in columns]
    written = {path for request in requests for path in request["offers"].values()}
    written |= {conversion["stablehlo"] for request in requests for conversion in request["conversions"]}
    awaited = {path for request in requests for foreign in request["foreign"] for path in foreign["bundles"]}
    awaited |= {conversion["text"] for request in requests for conversion in request["conversions"]}
    assert awaited <= written
    assert not orphans(columns, PLACES)


def test_two_tensorflows_without_a_jax_to_convert_are_told_so() -> None:
    columns = name_columns([TENSORFLOW, ("tensorflow", "/new", ())])
    awaited = {
        foreign
        for column in columns
        for each in child_request(column, columns, PLACES)["foreign"]
        for foreign in each["bundles"]
    }
    assert awaited == {str(path) for path in orphans(columns, PLACES)}


def test_cells_have_folders_of_their_own() -> None:
    columns = name_columns([JAX, TENSORFLOW, ("jax", "/old", ())])
    requests = [child_request(column, columns, PLACES) for column in columns]
    folders = [cell["dir"] for request in requests for cell in [request["own"], *request["foreign"]]]
    assert len(set(folders)) == 9
