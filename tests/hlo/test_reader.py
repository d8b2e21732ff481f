"""Reading whole texts: what stands at the outermost level, in every form that it comes in."""

from __future__ import annotations

from xlacompare.hlo import read_text

PRINTED = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "/home/me/f.py"

FunctionNames
1 "f"
2 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=8 end_column=11}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=5}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


%fused (p.0: f32[4]) -> f32[4] {
  %p.0 = f32[4]{0} parameter(0)
  ROOT %m = f32[4]{0} multiply(%p.0, %p.0), metadata={op_name="jit(f)/mul" stack_frame_id=2}
}

ENTRY %main.2 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="x"}
  ROOT %mul_fusion = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused, backend_config={"a":{"b":"}"}}
}

"""


def test_the_printers_own_form() -> None:
    (module,) = read_text(PRINTED)
    assert module.name == "jit_f"
    assert module.is_scheduled
    assert [one.name for one in module.computations] == ["fused", "main.2"]
    assert module.entry.name == "main.2"
    assert module.entry.opcodes == ["parameter", "fusion"]
    fusion = module.entry.root
    assert fusion.fusion_kind == "kLoop"
    assert fusion.operands == (module.entry.instructions[0],)
    assert fusion.called == (module.computations[0],)
    assert fusion.backend_config == {"a": {"b": "}"}}
    assert str(fusion.shape) == "f32[4]"
    multiply = module.computations[0].root
    assert [(str(frame), frame.function) for frame in multiply.source_frames] == [
        ("/home/me/f.py:3", "f"),
        ("/home/me/f.py:9", "<module>"),
    ]
    assert multiply.line == 21
    assert module.check() == ()
