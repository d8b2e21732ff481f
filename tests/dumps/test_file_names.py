from __future__ import annotations

from pathlib import Path

import pytest

from xlacompare.dumps import FileName, parse_file_name

TF = "a_inference_train_41__XlaMustCompile_true_config_proto_77_executor_type_99_.3"
CLUSTER = "cluster_5__XlaCompiledKernel_true__XlaNumConstantArgs_2__XlaNumResourceArgs_0_.61"

# name, module id, module name, kind, stage, platform, target
TABLE = [
    # 2020: always a timestamp, never a module's name or a platform
    ("1602362122664594.module_0021.before_optimizations.txt", 21, None, "hlo", "before", None, None),
    ("1602362122664594.module_0021.after_optimizations.txt", 21, None, "hlo", "after", None, None),
    ("1602362122664594.module_0021.after_optimizations-buffer-assignment.txt", 21, None, "buffer_assignment", None, None, None),
    ("module_0021.thunk_schedule", 21, None, "thunks", None, None, None),
    ("module_0021.ptx", 21, None, "device_code", None, None, None),
    ("module_0021.ir-no-opt-noconst.ll", 21, None, "llvm_ir", None, None, None),
    # 2021 to 2023: names, optional timestamps, the platform joins
    ("1624325116260738.module_0065.pmap_step_.18.before_optimizations.txt", 65, "pmap_step_.18", "hlo", "before", None, None),
    ("module_0007.jit_f.9.gpu_after_optimizations.txt", 7, "jit_f.9", "hlo", "after", "gpu", None),
    ("module_0007.jit_f.9.sm_7.0_gpu_after_optimizations.txt", 7, "jit_f.9", "hlo", "after", "gpu", "sm_7.0"),
    (f"module_0007.{CLUSTER}.sm_7.5_gpu_after_optimizations.txt", 7, CLUSTER, "hlo", "after", "gpu", "sm_7.5"),
    ("module_0000.jit_f.cl_486195391.before_optimizations.txt", 0, "jit_f", "hlo", "before", None, None),
    ("module_0004.jit_f.cpu_after_optimizations.top_level.html", 4, "jit_f", "html", "after", "cpu", None),
    # 2024 to 2026
    ("module_0013.jit_f.sm_9.0a_gpu_after_optimizations.txt", 13, "jit_f", "hlo", "after", "gpu", "sm_9.0a"),
    ("module_0013.jit_f.gfx942_gpu_after_optimizations.txt", 13, "jit_f", "hlo", "after", "gpu", "gfx942"),
    ("module_0013.jit_f.sm_8.9_gpu_after_optimizations-memory-usage-report.txt", 13, "jit_f", "memory_usage", None, "gpu", "sm_8.9"),
    ("module_0013.jit_f.thunk_sequence.txt", 13, "jit_f", "thunks", None, None, None),
    ("module_0013.jit_f.thunk_sequence_after_thunk_passes.txt", 13, "jit_f", "thunks", None, None, None),
    ("module_0004.jit_f.before_optimizations.txt", 4, "jit_f", "hlo", "before", None, None),
    ("module_0004.jit_f.cpu_after_optimizations.txt", 4, "jit_f", "hlo", "after", "cpu", None),
    ("module_0004.jit_f.cpu_after_optimizations.txt.gz", 4, "jit_f", "hlo", "after", "cpu", None),
    (f"module_0000.{TF}.cpu_after_optimizations.txt", 0, TF, "hlo", "after", "cpu", None),
    # a hit in the persistent compilation cache: no platform
    ("module_0008.jit__lambda.after_optimizations.txt", 8, "jit__lambda", "hlo", "after", None, None),
    # a name that would have made the file's too long
    ("module_0004.before_optimizations.txt", 4, None, "hlo", "before", None, None),
    ("module_0004.cpu_after_optimizations.txt", 4, None, "hlo", "after", "cpu", None),
    # a function that is called like a stage
    ("module_0003.jit_after_optimizations.cpu_after_optimizations.txt", 3, "jit_after_optimizations", "hlo", "after", "cpu", None),
    # whole modules that are not what is compared
    ("module_0023.jit_f.after_optimizations_after_buffer_assignment.txt", 23, "jit_f", "stage", None, None, None),
    ("module_0010.jit_f.0003.simplification.after_dce.before_algsimp.txt", 10, "jit_f", "pass", None, None, None),
    # what a glob over *after_optimizations*.txt would take as well
    ("module_0004.jit_f.cpu_after_optimizations-buffer-assignment.txt", 4, "jit_f", "buffer_assignment", None, "cpu", None),
    ("module_0004.jit_f.cpu_after_optimizations-buffer-assignment-values.txt", 4, "jit_f", "buffer_values", None, "cpu", None),
    ("module_0004.jit_f.cpu_after_optimizations-live-range.txt", 4, "jit_f", "live_range", None, "cpu", None),
    # no text
    ("module_0004.jit_f.cpu_after_optimizations.hlo.pb", 4, "jit_f", "proto", "after", "cpu", None),
    ("module_0004.jit_f.before_optimizations.hlo.pb.gz", 4, "jit_f", "proto", "before", None, None),
    ("module_0004.jit_f.before_optimizations.dot", 4, "jit_f", "dot", "before", None, None),
    ("module_0004.jit_f.hlo.pb", 4, "jit_f", "proto", None, None, None),
    ("module_0004.jit_f.snapshot.1f2e.pb", 4, "jit_f", "snapshot", None, None, None),
    ("module_0004.jit_f.debug_options", 4, "jit_f", "debug_options", None, None, None),
    ("module_0004.jit_f", 4, "jit_f", "other", None, None, None),
    # a kernel's name stands between the module's and the suffix; both may hold dots
    ("module_0004.jit_f.ir-with-opt.ll", 4, "jit_f", "llvm_ir", None, None, None),
    (f"module_0000.{TF}.add_fusion.2_kernel_module.ir-no-opt.ll", 0, TF, "llvm_ir", None, None, None),
    (f"module_0000.{TF}.add_fusion.2_kernel_module-post-lowering.mlir", 0, TF, "mlir", None, None, None),
    (f"module_0000.{TF}.obj-file.add_fusion.2_kernel_module.o", 0, TF, "object", None, None, None),
    ("module_0004.jit__normal.__compute_module_wrapped_add.ir-with-opt.ll", 4, "jit__normal", "llvm_ir", None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "number", "module", "kind", "stage", "platform", "target"), TABLE)
def test_names_of_every_era(
    name: str,
    number: int,
    module: str | None,
    kind: str,
    stage: str | None,
    platform: str | None,
    target: str | None,
) -> None:
    parsed = parse_file_name(name)
    assert parsed is not None
    timestamp = int(name.split(".")[0]) if name[0].isdigit() else None
    assert parsed == FileName(number, module, kind, stage, platform, target, timestamp)


@pytest.mark.parametrize("name", ["", "notes.txt", "module_x.txt", "manifest.json", "my_module_0001.txt", "modules_0001.txt"])
def test_other_names_are_not_xlas(name: str) -> None:
    assert parse_file_name(name) is None


@pytest.mark.corpus
def test_shared_table_of_names(cases: Path) -> None:
    lines = (cases / "dump_filenames.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) > 20
    for line in lines:
        name, number, module, stage, platform, is_text = line.split("\t")[:6]
        parsed = parse_file_name(name)
        assert parsed is not None and parsed.module_id == int(number), name
        assert parsed.module_name == (None if module.startswith("(") else module), name
        # The table's own words for what is no stage of ours: "-", "pass dump", "other".
        assert parsed.stage == (stage if stage in ("before", "after") else None), name
        assert parsed.is_module_text == (is_text == "yes" and stage in ("before", "after")), name
        if platform.startswith(("cpu", "gpu")):
            assert f"{parsed.platform} {parsed.target or ''}".strip() == platform, name
