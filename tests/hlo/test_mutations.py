"""Real text, mutated: the reader answers with modules or with its own error, and printing loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hlo.test_reader import PRINTED
from xlacompare.errors import HloError
from xlacompare.hlo import fingerprint, print_module, read_text

PIECES = st.sampled_from(
    [
        "",
        " ",
        "\n",
        '"',
        "'",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        "=",
        "%",
        "ROOT ",
        "ENTRY ",
        "/*",
        "//",
        "\\",
        "\n}\n",
        "é",
    ]
) | st.text(max_size=5)
EDITS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40), PIECES), min_size=1, max_size=5)


def edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Return the text with each edit's stretch replaced by its piece."""
    for place, length, piece in edits:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + length :]
    return text


def check(text: str) -> None:
    try:
        modules = read_text(text)
    except HloError:
        return
    for module in modules:
        module.check()
        if not module.computations:
            continue
        assert len(fingerprint(module)) == 64
        printed = print_module(module)
        try:
            again = read_text(printed)
        except HloError:
            continue
        assert len(again) >= 1


@settings(max_examples=200, deadline=None)
@given(EDITS)
def test_the_printers_form_mutated(edits: list[tuple[int, int, str]]) -> None:
    check(edited(PRINTED, edits))


@pytest.fixture(scope="module")
def compiled_text() -> str:
    """What this machine's jaxlib makes of a small gradient."""
    jax = pytest.importorskip("jax")

    def loss(weight: object, x: object) -> object:
        return (jax.numpy.tanh(x @ weight) ** 2).mean()

    arrays = jax.numpy.ones((4, 4)), jax.numpy.ones((2, 4))
    return str(jax.jit(jax.grad(loss)).lower(*arrays).compile().as_text())


@pytest.mark.jax
def test_a_compiled_text_comes_back_as_it_was(compiled_text: str) -> None:
    (module,) = read_text(compiled_text)
    assert module.check() == ()
    printed = print_module(module)
    assert printed.split() == compiled_text.split()


@pytest.mark.jax
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_a_compiled_text_mutated(compiled_text: str, edits: list[tuple[int, int, str]]) -> None:
    check(edited(compiled_text, edits))
