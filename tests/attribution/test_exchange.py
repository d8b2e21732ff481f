"""Bundles between child processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xlacompare.frameworks.recompile import RouteError, without_debug_info
from xlacompare.worker.tasks.exchange import Bundle, wait_for_bundle, write_bundle, write_failure


def test_a_bundle_comes_back_as_it_was_written(tmp_path: Path) -> None:
    bundle = Bundle(
        b"HloModule m\x00\xff",
        [np.arange(3, dtype=np.int32), np.float32(2.5), *(np.full(1, index) for index in range(12))],
        {"loss": np.float32(1), "grad/W": np.zeros((2, 0), np.float32), "grad/b": np.ones(2, np.float16)},
    )
    write_bundle(tmp_path / "jax.text", bundle)
    read = wait_for_bundle(tmp_path / "jax.text", 1)
    assert read.program == bundle.program
    assert [value.tolist() for value in read.inputs] == [value.tolist() for value in bundle.inputs]
    assert list(read.outputs) == list(bundle.outputs)
    assert [value.dtype for value in read.outputs.values()] == [np.float32, np.float32, np.float16]
    assert [path.name for path in tmp_path.iterdir()] == ["jax.text"]


def test_whoever_waits_is_told_why_nothing_comes(tmp_path: Path) -> None:
    write_failure(tmp_path / "jax.text", "its frontend failed: é")
    with pytest.raises(RouteError, match="its frontend failed: é"):
        wait_for_bundle(tmp_path / "jax.text", 60)


def test_waiting_ends(tmp_path: Path) -> None:
    with pytest.raises(RouteError, match=r"within 0\.05 s"):
        wait_for_bundle(tmp_path / "jax.text", 0.05)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("ENTRY e {\n  a = f32[] b()\n}\n", "ENTRY e {\n  a = f32[] b()\n}\n", id="nothing to remove"),
        pytest.param('a, metadata={op_name="x\\"}" n={1 2}}, b\n', "a, b\n", id="quotes and braces inside"),
        pytest.param("m\n\nStackFrames\n1 {a=1}\n\ne\n", "m\n\ne\n", id="one table"),
        pytest.param('m\n\nFileNames\n1 "a"\n\nStackFrames\n1 {}\n\n\ne\n', "m\n\n\ne\n", id="two tables"),
    ],
)
def test_what_says_where_text_came_from_goes(text: str, expected: str) -> None:
    assert without_debug_info(text) == expected
