from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from xlacompare.dumps import (
    Manifest,
    framework_of,
    function_name,
    is_helper_name,
    parse_thunks,
    read_folder,
    read_header,
    thunk_listing,
    write_manifest,
)
from xlacompare.errors import DumpError

BODY = """
ENTRY %main.{n} (x.1: f32[{size}]) -> f32[{size}] {{
  %x.1 = f32[{size}]{{0}} parameter(0)
{adds}
}}
"""


def text(name: str, *, size: int = 8, instructions: int = 20, after: bool = True, layout: bool = True) -> str:
    """A module of that many instructions, as XLA prints it."""
    lines = ["  %add.1 = f32[{0}]{{0}} add(%x.1, %x.1)".format(size)]
    lines += [f"  %add.{i} = f32[{size}]{{0}} add(%add.{i - 1}, %x.1)" for i in range(2, instructions)]
    lines[-1] = lines[-1].replace("  %", "  ROOT %", 1)
    header = f"HloModule {name}" + (", is_scheduled=true" if after else "")
    if layout:
        # Tilings and layouts differ between the two texts of a module; shapes do not.
        tiling = "{0:T(128)}" if after else "{0}"
        header += f", entry_computation_layout={{(f32[{size}]{tiling})->f32[{size}]{tiling}}}"
    return header + "\n" + BODY.format(n=instructions, size=size, adds="\n".join(lines))


def put(folder: Path, names: dict[str, str], *, seconds: float = 1_700_000_000.0) -> None:
    for position, (name, content) in enumerate(names.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        os.utime(path, (seconds + position / 100, seconds + position / 100))


def pair(number: int, name: str, **options: int) -> dict[str, str]:
    return {
        f"module_{number:04d}.{name}.before_optimizations.txt": text(name, after=False, **options),
        f"module_{number:04d}.{name}.cpu_after_optimizations.txt": text(name, **options),
    }


def test_the_program_is_meant_and_helpers_are_folded(tmp_path: Path) -> None:
    # jax.random compiles far larger modules than the user's own step may be.
    put(
        tmp_path,
        {
            **pair(0, "jit_convert_element_type", instructions=2),
            **pair(2, "jit__threefry_split", instructions=300),
            **pair(4, "jit_step", instructions=40),
            **pair(6, "jit_evaluate", instructions=30),
        },
    )
    folder = read_folder(tmp_path)
    assert (folder.main.name, folder.main.function) == ("jit_step", "step")
    assert [each.name for each in folder.helpers] == ["jit_convert_element_type", "jit__threefry_split"]
    assert folder.reason == (
        "the largest of 2 that are no helpers of a framework, 40 instructions; the next, jit_evaluate, has 30"
    )
    assert (folder.main.framework, folder.main.platform) == ("jax", "cpu")
    assert folder.main.before == tmp_path / "module_0004.jit_step.before_optimizations.txt"
    assert folder.main.after == folder.main.text == tmp_path / "module_0004.jit_step.cpu_after_optimizations.txt"
    assert folder.warnings == ()


def test_a_wanted_name_decides(tmp_path: Path) -> None:
    put(tmp_path, {**pair(0, "jit_step"), **pair(2, "jit_evaluate"), **pair(4, "jit__normal")})
    assert read_folder(tmp_path, wanted="evaluate").main.name == "jit_evaluate"
    assert read_folder(tmp_path, wanted="jit_step").main.name == "jit_step"
    helper = read_folder(tmp_path, wanted="_normal")
    assert helper.main.name == "jit__normal"
    assert not helper.main.helper
    with pytest.raises(DumpError, match="'train'; it has evaluate, step"):
        read_folder(tmp_path, wanted="train")


def test_only_helpers(tmp_path: Path) -> None:
    put(tmp_path, {**pair(0, "jit_add", instructions=3), **pair(2, "jit__mean", instructions=5)})
    folder = read_folder(tmp_path)
    assert folder.main.name == "jit__mean"
    assert "all of which look like" in folder.reason


def test_before_and_after_with_different_numbers(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "module_0021.jit_step.before_optimizations.txt": text("jit_step", after=False, size=8),
            "module_0023.jit_step.after_optimizations.txt": text("jit_step", size=8),
            "module_0025.jit_step.before_optimizations.txt": text("jit_step", after=False, size=16),
            "module_0022.jit_step.after_optimizations.txt": text("jit_step", size=16),
            "module_0023.jit_step.after_optimizations_after_buffer_assignment.txt": text("jit_step", size=8),
        },
    )
    folder = read_folder(tmp_path)
    assert len(folder.modules) == 2
    for module in folder.modules:
        assert module.before is not None and module.after is not None
        assert read_header(module.before).shapes == read_header(module.after).shapes  # type: ignore[union-attr]
    assert {each.module_ids for each in folder.modules} == {(21, 23), (22, 25)}


def test_one_function_for_several_shapes_is_kept_apart(tmp_path: Path) -> None:
    put(tmp_path, {**pair(0, "jit_step", size=8), **pair(2, "jit_step", size=64), **pair(4, "jit_step", size=64)})
    folder = read_folder(tmp_path)
    assert [each.shapes for each in folder.modules] == [
        "(f32[8])->f32[8]",
        "(f32[64])->f32[64]",
        "(f32[64])->f32[64]",
    ]
    # equal in size: the one compiled last is the one that goes on running
    assert folder.main.module_ids == (4,)
    assert len(folder.same_function) == 2
    assert folder.warnings == ("step was compiled for 2 sets of shapes; (f32[64])->f32[64] is shown.",)


def test_names_lost_from_the_files_and_old_headers(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "1602362122664594.module_0021.before_optimizations.txt": text("jit_update.979", after=False, layout=False),
            "1602362122664594.module_0021.after_optimizations.txt": text("jit_update.979", layout=False),
            "module_0021.thunk_schedule": "Total order:\nkKernel\t%add.1 = f32[8]{0} add(f32[8]{0} %x.1)\n\nDependencies:\n",
        },
    )
    main = read_folder(tmp_path).main
    assert (main.name, main.function, main.shapes) == ("jit_update.979", "update", "(f32[8])->f32[8]")
    listing = thunk_listing(main)
    assert listing is not None and [thunk.name for thunk in listing.thunks] == ["add.1"]


def test_sub_folders_and_compressed_texts(tmp_path: Path) -> None:
    where = tmp_path / "jit_step" / "host_4711"
    where.mkdir(parents=True)
    with gzip.open(where / "module_0004.jit_step.cpu_after_optimizations.txt.gz", "wt") as stream:
        stream.write(text("jit_step"))
    folder = read_folder(tmp_path)
    assert (folder.main.name, folder.main.run, folder.main.instructions) == ("jit_step", "host_4711", 20)


def test_texts_under_names_of_somebodys_own(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "step_optimized.hlo": text("SyncTensorsGraph.20"),
            "readme.txt": "The module HloModule in here is only spoken of.\n",
            "notes.txt": "// HloModule jit_comment\n",
        },
    )
    folder = read_folder(tmp_path)
    assert folder.reason == "the only module"
    assert (folder.main.name, folder.main.framework) == ("SyncTensorsGraph.20", "unknown")
    assert folder.main.after == tmp_path / "step_optimized.hlo"


def test_the_manifest_names_the_module(tmp_path: Path) -> None:
    put(tmp_path, {**pair(0, "jit_step", instructions=90), **pair(2, "jit_loss", instructions=20)})
    write_manifest(
        tmp_path,
        Manifest(
            framework="jax",
            module="jit_loss",
            module_reason="the function that was compiled",
            after="module_0002.jit_loss.cpu_after_optimizations.txt",
        ),
    )
    folder = read_folder(tmp_path)
    assert folder.main.name == "jit_loss"
    assert folder.reason == "manifest.json names it (the function that was compiled)"


def test_two_frameworks_in_one_folder(tmp_path: Path) -> None:
    put(tmp_path, {**pair(0, "jit_step"), **pair(0, "a_inference_step_18__XlaMustCompile_true_.1", instructions=30)})
    folder = read_folder(tmp_path)
    assert {each.framework for each in folder.modules} == {"jax", "tensorflow"}
    assert folder.warnings == ("Modules of JAX and of TensorFlow lie in one folder; each numbers its own from zero.",)


def test_a_second_run_over_the_first(tmp_path: Path) -> None:
    put(tmp_path, pair(2, "jit_step") | pair(4, "jit_evaluate"))
    put(tmp_path, pair(2, "jit_step"), seconds=1_700_000_600.0)
    (warning,) = read_folder(tmp_path).warnings
    assert "jit_evaluate" in warning and "is older than" in warning


def test_one_number_for_two_modules(tmp_path: Path) -> None:
    put(tmp_path, {**pair(2, "jit_step"), **pair(2, "jit_other")})
    (warning,) = read_folder(tmp_path).warnings
    assert "More than one run" in warning and "module_0002" in warning


def test_a_hit_in_the_compilation_cache(tmp_path: Path) -> None:
    put(tmp_path, {"module_0008.jit__lambda.after_optimizations.txt": text("jit__lambda")})
    (warning,) = read_folder(tmp_path).warnings
    assert "persistent compilation cache" in warning


def test_nothing_after_optimizations(tmp_path: Path) -> None:
    put(tmp_path, {"module_0008.jit_f.before_optimizations.txt": text("jit_f", after=False)})
    folder = read_folder(tmp_path)
    assert folder.main.after is None
    assert folder.warnings == ("jit_f has no text after optimizations: nothing can be counted that XLA decided.",)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "jit_compile=True"),
        (["module_0004.jit_f.before_optimizations.hlo.pb"], "--xla_dump_hlo_as_proto"),
        (["module_0004.jit_f.cpu_after_optimizations.hlo.pb.gz"], "--xla_dump_hlo_as_proto"),
        (["module_0004.jit_f.before_optimizations.dot"], "--xla_dump_hlo_as_dot"),
        (["module_0004.jit_f.cpu_after_optimizations.top_level.html"], "--xla_dump_hlo_as_html"),
        (["module_0004.jit_f.snapshot.12.pb"], "--xla_dump_hlo_snapshots"),
        (["module_0004.jit_f.0001.fusion.after_fusion.before_dce.txt"], "between passes"),
        (["module_0004.jit_f.debug_options"], "--xla_dump_hlo_module_re"),
        (["module_0004.jit_f/module.mlir"], "compilation cache"),
        (["train.py", "notes.txt"], "notes.txt, train.py"),
    ],
)
def test_an_empty_folder_says_why(tmp_path: Path, names: list[str], words: str) -> None:
    put(tmp_path, dict.fromkeys(names, "x"))
    with pytest.raises(DumpError) as caught:
        read_folder(tmp_path)
    assert words in str(caught.value)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(DumpError, match="does not exist"):
        read_folder(tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(DumpError, match="is a file"):
        read_folder(tmp_path / "file")


@pytest.mark.parametrize(
    ("module", "framework", "function", "helper"),
    [
        ("jit_train_step", "jax", "train_step", False),
        ("jit_train_step__1.979", "jax", "train_step", False),
        ("pjit__wrapped", "jax", "_wrapped", True),
        ("pmap_eval_step.3589", "jax", "eval_step", False),
        ("jit__lambda", "jax", "_lambda", False),
        ("jit__lambda_.7", "jax", "_lambda_", False),
        ("jit__unnamed_wrapped_function_", "jax", "_unnamed_wrapped_function_", False),
        ("jit__threefry_split__2.20", "jax", "_threefry_split", True),
        ("jit_broadcast_in_dim", "jax", "broadcast_in_dim", True),
        ("primitive_computation_add__1.4", "jax", "primitive_computation_add", True),
        ("a_inference_step_18__XlaMustCompile_true_config_proto_1_executor_type_2_.1", "tensorflow", "step", False),
        ("a_inference_one_step_on_data_633__XlaMustCompile_true_.5", "tensorflow", "one_step_on_data", False),
        (
            "cluster_3__XlaCompiledKernel_true__XlaNumConstantArgs_1__XlaNumResourceArgs_0_.42",
            "tensorflow",
            "cluster_3",
            False,
        ),
        ("SyncTensorsGraph.20", "unknown", "SyncTensorsGraph", False),
        ("main", "unknown", "main", False),
    ],
)
def test_what_a_modules_name_says(module: str, framework: str, function: str, helper: bool) -> None:
    assert (framework_of(module), function_name(module), is_helper_name(module)) == (framework, function, helper)


def test_a_large_text_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "module_0000.jit_big.cpu_after_optimizations.txt"
    # 5 MiB of HLO, then 2 GiB that take no room on disk: reading them would take seconds
    with path.open("w") as stream:
        stream.write(text("jit_big", instructions=100_000))
    real = path.stat().st_size
    os.truncate(path, 2 << 30)
    header = read_header(path)
    assert header is not None and header.name == "jit_big" and real > 4 << 20
    assert header.instructions > 1_000_000


def test_a_sequence_with_steps_inside_steps(tmp_path: Path) -> None:
    listing = parse_thunks(
        "000: kSequential\n"
        "  001: kKernel kernel=loop_add_fusion, profile_annotation=loop_add_fusion.3, device_kernel=1\n"
        "  002: kGemm profile_annotation=custom-call.5\n"
        "003: kCommandBuffer\n"
        "  004: kCopy profile_annotation=copy.1\n"
        "005: kAllReduceDone\n",
        tmp_path,
    )
    assert [(thunk.kind, thunk.name, thunk.depth) for thunk in listing.thunks] == [
        ("kSequential", None, 0),
        ("kKernel", "loop_add_fusion.3", 1),
        ("kGemm", "custom-call.5", 1),
        ("kCommandBuffer", None, 0),
        ("kCopy", "copy.1", 1),
        ("kAllReduceDone", None, 0),
    ]
    assert (listing.form, listing.steps, listing.launches) == ("sequence", 3, 3)


@pytest.mark.corpus
def test_dumps_of_2020(corpus: Path) -> None:
    """The four modules of 2020 whose schedules have 38, 34, 26 and 22 lines (grep -c '^k')."""
    lines = {}
    for name in ("jax_generatedffnn", "tf_generatedffnn"):
        folder = read_folder(corpus / "fast-dpsgd" / name)
        for module in (folder.main, *folder.same_function):
            listing = thunk_listing(module)
            assert listing is not None and module.before is not None and module.after is not None
            lines[module.framework, module.module_ids[0]] = listing.launches
        helpers = [each.function for each in folder.modules if each.helper]
        assert all(each.startswith(("primitive_computation", "lazy_force", "_")) for each in helpers)
    assert sorted(lines.values(), reverse=True) == [38, 34, 26, 22], lines
