"""Folders that JAX and TensorFlow really write, under the flags that change what lies in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlacompare.census import census
from xlacompare.dumps import debug_options, memory_use, read_folder, reported_total_bytes, thunk_listing
from xlacompare.errors import DumpError
from xlacompare.hlo import read_file


def make(framework: str, folder: Path) -> Path:
    script = Path(__file__).with_name(f"make_{framework}_dumps.py")
    environment = {
        **os.environ,
        "XLA_FLAGS": f"--xla_dump_to={folder / 'default'}",
        "JAX_PLATFORMS": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.jax
def test_folders_that_jax_writes(tmp_path: Path) -> None:
    folder = make("jax", tmp_path)
    default = read_folder(folder / "default")
    assert (default.main.name, default.main.framework, default.main.platform) == ("jit_train_step", "jax", "cpu")
    # the last of the two batch sizes; both have as many instructions
    assert default.main.shapes.startswith("(f32[5,3],f32[3],f32[16,5],f32[16,3])")
    assert len([each for each in default.same_function if each.function == "train_step"]) >= 1
    assert {each.name for each in default.modules if not each.helper} == {"jit_train_step"}
    assert {"jit__normal", "jit__threefry_seed", "jit_broadcast_in_dim"} <= {each.name for each in default.helpers}

    plain = read_folder(folder / "plain")
    assert plain.reason == "the only module"
    assert plain.main.before is not None and plain.main.after is not None
    assert census(read_file(plain.main.after)[0]).entry.fusions > 0  # type: ignore[operator]
    assert debug_options(plain.main)["xla_dump_to"] == str(folder / "plain")
    assert thunk_listing(plain.main) is None
    check_memory(plain.main, json.loads((folder / "memory.json").read_text()))

    assert read_folder(folder / "passes").reason == "the only module"
    within = read_folder(folder / "subfolder").main
    assert within.name == "jit_train_step" and within.run.rpartition("_")[2].isdigit()
    assert within.before is not None and within.before.name[0].isdigit()
    assert debug_options(within)["xla_dump_include_timestamp"] == "true"
    long = read_folder(folder / "long").main
    assert long.name == "jit_" + "a" * 245
    assert long.after is not None and long.after.name.startswith("module_") and "aaa" not in long.after.name

    compiled = read_folder(folder / "compiled")
    assert compiled.warnings == ()
    check_cached(folder / "cached")
    for name, flag in (("proto", "as_proto"), ("dot", "as_dot"), ("html", "as_html")):
        with pytest.raises(DumpError, match=f"--xla_dump_hlo_{flag}"):
            read_folder(folder / name)


def check_memory(module, stats: dict[str, int]) -> None:  # type: ignore[no-untyped-def]
    """XLA's own account of the executable is the judge of the sums over its buffers."""
    use = memory_use(module)
    assert use is not None
    assert use.argument_bytes == stats["argument"]
    assert use.output_bytes == stats["output"]
    assert use.alias_bytes == stats["alias"] > 0
    assert use.temp_bytes == stats["temp"]
    assert use.total_bytes == reported_total_bytes(module)


def check_cached(folder: Path) -> None:
    """A hit in the cache leaves no text before optimizations, or none at all."""
    try:
        warnings = read_folder(folder).warnings
    except DumpError as error:
        warnings = (str(error),)
    assert any("cache" in each for each in warnings), warnings


@pytest.mark.tensorflow
def test_folders_that_tensorflow_writes(tmp_path: Path) -> None:
    folder = read_folder(make("tensorflow", tmp_path) / "default")
    assert (folder.main.function, folder.main.framework, folder.main.platform) == ("train_step", "tensorflow", "cpu")
    assert [each.helper for each in folder.modules] == [False, False]
    assert folder.warnings[0].startswith("train_step was compiled for 2 sets of shapes; ")
    main = folder.main
    assert main.before is not None and main.after is not None
    use = memory_use(main)
    assert use is not None and use.total_bytes == reported_total_bytes(main)
    # f32[16,5] and f32[16,3] for the batch, f32[5,3] and f32[3] for the variables
    assert use.argument_bytes == 4 * (16 * 5 + 16 * 3 + 5 * 3 + 3)
    assert "xla_dump_to" in debug_options(main)
