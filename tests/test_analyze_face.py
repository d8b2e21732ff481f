"""`import xlacompare.analyze as xa`: the public names, and what their results offer."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import xlacompare.analyze as xa
from tests.conftest import REPOSITORY

TEXT = """HloModule jit_f, is_scheduled=true
%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = f32[8]{0} tanh(%p), metadata={op_name="<script>[bold]"}
  ROOT %n = f32[8]{0} negate(%t)
}
ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %tanh_fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
}
"""

# A name that goes breaks somebody's script: a change here belongs in the release notes.
PUBLIC = {
    "Analysis", "Census", "Computation", "Diff", "DumpError", "DumpFolder", "DumpRequest", "DumpResult",
    "FrameworkDump", "FrameworkMissing", "HloError", "Instruction", "Manifest", "ModelError", "Module", "NotHloError",
    "ParityError", "SchemaError", "Shape", "UsageError", "WorkerFailed", "XlaCompareError", "analyze", "census",
    "compare", "diff", "diff_paths", "dump", "dump_request", "load", "read_file", "read_folder", "read_manifest",
    "read_text",
}  # fmt: skip


@pytest.fixture
def module() -> xa.Module:
    return xa.read_text(TEXT)[0]


def test_no_public_name_goes() -> None:
    assert set(xa.__all__) >= PUBLIC
    assert all(hasattr(xa, name) for name in xa.__all__)


def test_the_object_model_is_as_promised(module: xa.Module) -> None:
    assert [computation.name for computation in module.computations] == ["fused", "main"]
    entry = module.entry
    assert (module.name, entry.name, entry.root.name) == ("jit_f", "main", "tanh_fusion")
    root = entry.root
    assert (root.opcode, str(root.shape), root.attributes["kind"]) == ("fusion", "f32[8]", "kLoop")
    assert [operand.name for operand in root.operands] == ["x"]
    assert [computation.name for computation in root.called] == ["fused"]
    assert root.source is None


def test_a_census_is_text_table_and_picture(module: xa.Module) -> None:
    count = xa.census(module)
    document = json.loads(count.to_json())
    assert document["schema"] == "xlacompare.census"
    assert document["modules"][0]["fusions"]["entry"] == 1
    frame = count.to_pandas()
    assert frame.loc["entry", "kernels"] == 1
    assert "kernels in ENTRY" in count._repr_html_()


def test_a_diff_is_text_table_and_picture(module: xa.Module) -> None:
    difference = xa.diff(module, module)
    document = json.loads(difference.to_json())
    assert document["identical"] is True
    assert list(difference.to_pandas()["verdict"]) == ["identical"]
    page = difference._repr_html_()
    assert "tanh_fusion" in page
    assert "<script>" not in page


@pytest.mark.jax
@pytest.mark.tensorflow
def test_two_functions_at_hand_are_compared() -> None:
    scale = np.float32(3)  # a closure and two lambdas: nothing here has a name to import

    def in_tensorflow(x):  # type: ignore[no-untyped-def]
        import tensorflow as tf

        return tf.tanh(x * scale)

    def in_jax(x):  # type: ignore[no-untyped-def]
        import jax.numpy as jnp

        return jnp.tanh(x * scale)

    difference = xa.compare(in_jax, lambda x: in_tensorflow(x), (np.ones(16, np.float32),))
    operations = difference.to_json_dict()["operations"]
    assert (operations["left_only"], operations["right_only"]) == (0, 0)
    with pytest.raises(xa.ParityError):
        xa.compare(lambda x: x, lambda x: x * 2, (np.ones(16, np.float32),))


@pytest.mark.jax
@pytest.mark.tensorflow
def test_the_example_runs() -> None:
    script = REPOSITORY / "examples" / "compare_functions.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
