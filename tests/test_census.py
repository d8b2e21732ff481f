from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.runtime_trace import Traced, trace_programs
from xlacompare.census import Census, census, census_document, check_listing
from xlacompare.documents import dumps, load
from xlacompare.dumps import parse_thunks, read_folder, thunk_listing
from xlacompare.errors import UsageError
from xlacompare.hlo import read_file, read_text
from xlacompare.kernels import kernels, steps

HERE = Path(__file__).parent


def counts(result: Census, modules: int) -> dict[str, object]:
    """The words of the hand counts, and what the census says for each."""
    found: dict[str, object] = {
        "modules": modules,
        "entry": result.entry_name,
        "entry_instructions": result.entry_instructions,
    }
    for scope in ("entry", "reachable", "weighted"):
        found[f"{scope}_fusions"] = getattr(result, scope).fusions
        found[f"{scope}_kernels"] = getattr(result, scope).kernels
    found["wrapped_fusions"] = result.entry.wrapped
    found["real_fusions"] = result.entry.fusions - result.entry.wrapped  # type: ignore[operator]
    return found


@pytest.mark.corpus
def test_hand_counts(cases: Path) -> None:
    checked = 0
    for path in sorted(cases.glob("*.hlo")):
        text = path.read_text(encoding="utf-8")
        modules = read_file(path)
        for number, line in re.findall(r"^// expect(?:\[(\d+)\])?: (.*)$", text, re.MULTILINE):
            found = counts(census(modules[int(number or 0)]), len(modules))
            for word, value in re.findall(r"(\w+)=(\S+)", line):
                expected = None if value == "unknown" else value.rstrip(",")
                assert (None if found[word] is None else str(found[word])) == expected, (path.name, word)
                checked += 1
        for kinds in re.findall(r"^// by kind: ((?:k\w+=\d+ ?)+)", text, re.MULTILINE):
            by_kind = census(modules[0]).entry.fusions_by_kind
            assert by_kind == {kind: int(n) for kind, n in re.findall(r"(k\w+)=(\d+)", kinds)}, path.name
        for names in re.findall(r"^// kernels: (.*)$", text, re.MULTILINE):
            assert [kernel.name for kernel in kernels(modules[0])] == names.split(", "), path.name
    assert checked > 140


@pytest.mark.corpus
def test_launch_lists_of_2020(corpus: Path) -> None:
    """Every instruction that the GPU compiler of 2020 scheduled, by name, and no other."""
    totals = []
    for name in ("jax_generatedffnn", "tf_generatedffnn"):
        for module in read_folder(corpus / "fast-dpsgd" / name).modules:
            listing = thunk_listing(module)
            assert listing is not None and module.after is not None
            check = check_listing(read_file(module.after)[0], listing)
            assert check.agrees, (module.name, check)
            totals.append(check.counted)
    assert len(totals) == 25
    assert sorted(totals, reverse=True)[:4] == [38, 34, 26, 22]


@pytest.mark.corpus
def test_fusions_as_xlas_own_parser_counts_them(corpus: Path) -> None:
    lines = (corpus / "INDEX.tsv").read_text(encoding="utf-8").splitlines()
    columns = lines[0].split("\t")
    compared = 0
    for line in lines[1:]:
        row = dict(zip(columns, line.split("\t"), strict=False))
        path = corpus / row["file"]
        if row["xla_parser"] != "ok" or row["xla_parser_after_fix"] or path.stat().st_size > 2_000_000:
            continue
        modules = read_file(path)
        if len(modules) != 1:
            continue
        result = census(modules[0])
        seen = (str(result.entry.fusions), str(result.entry_instructions))
        assert seen == (row["entry_fusions"], row["entry_instructions"]), row["file"]
        kinds = " ".join(f"{kind}:{count}" for kind, count in sorted(result.entry.fusions_by_kind.items()))
        assert kinds == " ".join(sorted(row["entry_fusion_kinds"].split())), row["file"]
        compared += 1
    print(f"compared {compared} files")
    assert compared > 1000


def check_against_trace(name: str, traced: Traced) -> None:
    """Every step that the census tells ran as often as it says, and nothing else ran."""
    (module,) = read_text(traced.text)
    expected: Counter[str] = Counter()
    unknown: dict[tuple[str, str], set[int]] = {}
    unknown_names = set()
    for step in steps(module, "weighted"):
        if step.times is None:
            assert step.caller is not None
            place = (step.caller.name, step.instruction.computation.name)
            unknown.setdefault(place, set()).add(traced.launched[step.name])
            unknown_names.add(step.name)
        elif step.times:
            expected[step.name] += step.times
            if step.work.opcode == "sort":
                # A sort works in place: the runtime first copies what it may not overwrite, under the sort's name.
                expected[step.name] += sum(each.opcode == "parameter" for each in step.work.operands)
    seen = Counter({op: count for op, count in traced.launched.items() if op not in unknown_names})
    assert seen == expected, name
    # Steps of a computation whose count is not known run equally often: none of them is told wrongly.
    for place, times in unknown.items():
        assert len(times) == 1, (name, place, times)
    total = census(module).weighted.thunks
    if total is not None and "sort" not in name:
        assert total == traced.launched.total(), name


@pytest.mark.jax
def test_steps_are_what_the_runtime_launches_for_jax(tmp_path: Path) -> None:
    traced = trace_programs("jax", HERE / "programs_jax.py", tmp_path)
    for name, program in traced.items():
        check_against_trace(name, program)
    assert len(traced) >= 30
    # A small loop is compiled into the call around it: one kernel, and no loop that anybody could see.
    (module,) = read_text(traced["small_loop"].text)
    (call,) = [kernel for kernel in kernels(module, "reachable") if kernel.instruction.opcode == "call"]
    assert call.kernel_class == "own"
    assert call.inside is not None and "while" in call.inside.opcodes
    assert census(module).loops == ()


@pytest.mark.tensorflow
def test_steps_are_what_the_runtime_launches_for_tensorflow(tmp_path: Path) -> None:
    traced = trace_programs("tensorflow", HERE / "programs_tensorflow.py", tmp_path)
    for name, program in traced.items():
        check_against_trace(name, program)
    assert len(traced) >= 15


LOOP = """HloModule jit_scan, is_scheduled=true

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %tanh = f32[4]{0} tanh(%p)
}

%body (b: f32[4]) -> f32[4] {
  %b = f32[4]{0} parameter(0)
  ROOT %wrapped_tanh = f32[4]{0} fusion(%b), kind=kLoop, calls=%fused
}

%cond (c: f32[4]) -> pred[] {
  %c = f32[4]{0} parameter(0)
  ROOT %compare = pred[] custom-call(%c), custom_call_target="done"
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %copy = f32[4]{0} copy(%x)
  ROOT %while = f32[4]{0} while(%copy), condition=%cond, body=%body%s
}
"""


@pytest.mark.parametrize(
    ("attribute", "times"),
    [
        (', backend_config={"known_trip_count":{"n":"10"},"known_init_step":{"init":"0","step":"1"}}', 10),
        (r', backend_config="{\"known_trip_count\":{\"n\":\"10\"}}"', 10),
        (', backend_config={"known_trip_count":{"n":"0"}}', 0),
        ("", None),
    ],
)
def test_loops_are_weighted_by_their_length(attribute: str, times: int | None) -> None:
    (module,) = read_text(LOOP.replace("%s", attribute))
    result = census(module)
    assert (result.entry.fusions, result.reachable.fusions, result.weighted.fusions) == (0, 1, times)
    # the copy, the condition's call and the body's fusion; the condition never runs where the length is known
    assert (result.entry.kernels, result.reachable.kernels) == (1, 3)
    assert result.weighted.kernels == (None if times is None else 1 + times)
    assert result.weighted.thunks == (None if times is None else 2 + times)
    assert [(loop.name, loop.computation, loop.trip_count) for loop in result.loops] == [("while", "main", times)]
    assert [(kernel.name, kernel.times) for kernel in kernels(module, "weighted")] == [
        ("copy", 1),
        ("compare", 0 if times is not None else None),
        ("wrapped_tanh", times),
    ]


def test_branches_that_differ_leave_the_weighted_count_unknown() -> None:
    text = """HloModule jit_cond

%one (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  ROOT %sine = f32[4]{0} sine(%a)
}

%two (b: f32[4]) -> f32[4] {
  %b = f32[4]{0} parameter(0)
  %cosine = f32[4]{0} cosine(%b)
  ROOT %%%s
}

ENTRY %main (i: pred[], x: f32[4]) -> f32[4] {
  %i = pred[] parameter(0)
  %x = f32[4]{0} parameter(1)
  ROOT %c = f32[4]{0} conditional(%i, %x, %x), branch_computations={%one, %two}
}
"""
    (differ,) = read_text(text.replace("%%%s", "%negate = f32[4]{0} negate(%cosine)"))
    assert (census(differ).reachable.kernels, census(differ).weighted.kernels) == (3, None)
    (agree,) = read_text(text.replace("%%%s", "%bitcast = f32[4]{0} bitcast(%cosine)"))
    assert (census(agree).weighted.kernels, census(agree).weighted.thunks) == (1, 2)


def test_what_starts_and_ends_apart_is_one_launch() -> None:
    text = """HloModule jit_pipeline, is_scheduled=true

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %m = f32[8]{0} multiply(%p, %p)
  ROOT %n = f32[8]{0} negate(%m)
}

%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %s = f32[] add(%l, %r)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %all-reduce-start = f32[8]{0} all-reduce-start(%x), to_apply=%add
  %fusion-start = ((f32[8]{0}), f32[8]{0}, u32[]) fusion-start(%x), kind=kLoop, calls=%fused
  %copy-start = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%x)
  %copy-done = f32[8]{0} copy-done(%copy-start)
  %fusion-done = f32[8]{0} fusion-done(%fusion-start)
  ROOT %all-reduce-done = f32[8]{0} all-reduce-done(%all-reduce-start)
}
"""
    (module,) = read_text(text)
    result = census(module)
    assert (result.entry.kernels, result.entry.thunks, result.entry.async_pairs) == (3, 3, 3)
    assert (result.entry.fusions, result.reachable.fusions) == (0, 1)
    assert result.entry.collectives == {"all-reduce": 1}
    assert result.entry.kernels_by_class == {"own": 1, "library": 0, "copy": 1, "collective": 1, "other": 0}


def test_constants_that_the_program_carries() -> None:
    (module,) = read_text(
        "HloModule m\n\nENTRY %e (x: f32[20]) -> f32[20] {\n  %x = f32[20]{0} parameter(0)\n"
        "  %c = f32[20]{0} constant({...})\n  %s = f32[] constant(2)\n  %d = s8[3]{0} constant({1, 2, 3})\n"
        "  ROOT %a = f32[20]{0} add(%x, %c)\n}\n"
    )
    result = census(module).constants
    assert (result.count, result.bytes, result.elided) == (2, 83, 1)


def test_a_computation_that_calls_itself_ends() -> None:
    (module,) = read_text(
        "HloModule m\n\n%f (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  %c = f32[] call(%p), to_apply=%f\n"
        "  ROOT %n = f32[] negate(%c)\n}\n\nENTRY %e (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
        "  ROOT %c = f32[] call(%x), to_apply=%f\n}\n"
    )
    assert census(module).reachable.kernels == 1
    assert [kernel.name for kernel in kernels(module, "reachable")] == ["n"]


def test_many_calls_deep_and_many_times_over() -> None:
    depth = 3000
    parts = ["HloModule m\n\n%f0 (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %n = f32[] negate(%p)\n}\n"]
    parts += [
        f"%f{i} (p: f32[]) -> f32[] {{\n  %p = f32[] parameter(0)\n  %a = f32[] call(%p), to_apply=%f{i - 1}\n"
        f"  ROOT %b = f32[] call(%a), to_apply=%f{i - 1}\n}}\n"
        for i in range(1, depth + 1)
    ]
    parts.append(
        "ENTRY %e (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
        f"  ROOT %c = f32[] call(%x), to_apply=%f{depth}\n}}\n"
    )
    (module,) = read_text("\n".join(parts))
    assert census(module).reachable.kernels == 2**depth


def test_the_stored_form() -> None:
    (module,) = read_text(LOOP.replace("%s", ""), file="step.hlo")
    doc = load(dumps(census_document([census(module, platform="cpu")])), "census")
    assert doc == json.loads(census(module, platform="cpu").to_json())
    (one,) = doc["modules"]
    assert one["fusions"] == {"entry": 0, "reachable": 1, "weighted": None, "by_kind": {}, "wrapped": 0, "library": 0}
    assert one["kernels"] == {
        "entry": 1,
        "reachable": 3,
        "weighted": None,
        "by_class": {"own": 0, "library": 0, "copy": 1, "collective": 0, "other": 0},
    }
    assert one["thunks"] == {"entry": 2, "reachable": 4, "weighted": None}
    assert one["instructions"] == {"total": 9, "entry": 3}
    assert one["opcodes"] == {
        "entry": {"copy": 1, "parameter": 1, "while": 1},
        "total": {"parameter": 4, "copy": 1, "custom-call": 1, "fusion": 1, "tanh": 1, "while": 1},
    }
    names = ("name", "file", "framework", "platform", "stage", "main", "entry", "computations", "warnings")
    assert [one[name] for name in names] == ["jit_scan", "step.hlo", "jax", "cpu", "after", True, "main", 4, []]


def test_no_such_scope() -> None:
    (module,) = read_text(LOOP.replace("%s", ""))
    with pytest.raises(UsageError, match="'loops'; it is one of entry, reachable, weighted"):
        kernels(module, "loops")


def test_a_listing_that_differs_says_where(tmp_path: Path) -> None:
    (module,) = read_text(LOOP.replace("%s", ""))
    schedule = parse_thunks(
        "Total order:\nkCopy\t%copy = f32[4]{0} copy(%x)\nkKernel\t%gone = …\n\nDependencies:\n", tmp_path
    )
    check = check_listing(module, schedule)
    assert (check.listed, check.counted, check.only_listed, check.only_counted) == (2, 2, ("gone",), ("while",))
    assert not check.agrees
    nameless = parse_thunks("000: kCopy\n001: kWhile\n  002: kKernel\n  003: kKernel\n", tmp_path)
    assert check_listing(module, nameless).agrees
