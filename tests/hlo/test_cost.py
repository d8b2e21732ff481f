from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime_trace import Traced, trace_programs
from xlacompare.errors import UsageError
from xlacompare.hlo import read_file, read_text
from xlacompare.hlo.cost import Cost, instruction_cost, module_cost
from xlacompare.hlo.cost_flops import WindowDimension, parse_window, valid_positions

# Where this counts otherwise than XLA on purpose; docs/counting.md says which of the two is wrong.
DIFFERENT = {"cholesky", "conditional", "fourier_two_axes", "gather", "normal", "scan", "sort_rows", "top_k"}
# XLA counts 8 bytes per element of a result tuple's table of pointers, at most eight elements here.
POINTERS = 64


@pytest.mark.jax
def test_against_xlas_own_cost_analysis(tmp_path: Path) -> None:
    analysed = trace_programs("jax", Path(__file__).parent / "programs_cost.py", tmp_path)
    agreeing = {name: program for name, program in analysed.items() if name not in DIFFERENT}
    for name, program in agreeing.items():
        cost = module_cost(read_text(program.text)[0], "reachable")
        assert cost.unknown == (), name
        assert cost.flops == program.cost.get("flops", 0), name
        assert cost.transcendentals == program.cost.get("transcendentals", 0), name
        assert cost.bytes_accessed is not None
        assert 0 <= program.cost["bytes accessed"] - cost.bytes_accessed <= POINTERS, name
    assert len(agreeing) >= 50
    check_where_xlas_own_is_wrong(analysed)


@pytest.mark.jax
@pytest.mark.slow
def test_every_model_pair_against_xlas_own_cost_analysis(tmp_path: Path) -> None:
    """Loops taken once, as XLA does, the sums are the same; loops times their length they are larger."""
    analysed = trace_programs("jax", Path(__file__).parent / "programs_zoo.py", tmp_path)
    compared = 0
    for name, program in analysed.items():
        (module,) = read_text(program.text)
        once = module_cost(module, "once")
        # XLA adds -1 for each library call that it does not know.
        flops = program.cost.get("flops", 0) + program.text.count("custom_call_target=")
        assert abs(once.known_flops - flops) <= 0.01 * flops, name
        assert once.known_transcendentals == program.cost.get("transcendentals", 0), name
        assert module_cost(module).known_flops >= once.known_flops or module_cost(module).unknown, name
        compared += 1
    assert compared >= 45


def check_where_xlas_own_is_wrong(analysed: dict[str, Traced]) -> None:
    def of(name: str, scope: str = "weighted") -> Cost:
        return module_cost(read_text(analysed[name].text)[0], scope)

    # XLA counts a loop's body once. 10 trips of a 64x64 product: 10 * 2 * 64**3, and 10 steps of the counter.
    assert analysed["scan"].cost["flops"] == 2 * 64**3 + 2
    assert of("scan").flops == 10 * 2 * 64**3 + 10
    assert of("scan", "reachable").flops == 2 * 64**3 + 2
    # XLA takes the logarithm of the whole array: 800 elements are 100 rows of 8, each sorted in 3 rounds.
    assert analysed["sort_rows"].cost["flops"] == 800 * 10
    assert of("sort_rows").flops == 800 * 3
    # XLA multiplies the levels of the axes, 4 * 4; a transform over two axes has 4 + 4.
    converted = 256
    assert analysed["fourier_two_axes"].cost["flops"] == 8 * 16 * 256 + converted
    assert of("fourier_two_axes").flops == 8 * 8 * 256 + converted
    # XLA says -1 for every call of a library.
    assert analysed["top_k"].cost["flops"] == -1
    assert (of("top_k").flops, of("top_k").bytes_accessed) == (None, None)
    # A factorisation takes n**3 / 3 operations, whoever makes it.
    cholesky = of("cholesky").flops
    assert cholesky is not None and cholesky - analysed["cholesky"].cost["flops"] - 1 == 32**3 // 3
    # XLA lets a fused gather read the whole table: 7 of 50 rows are read.
    gathered = of("gather").bytes_read
    assert gathered is not None and gathered <= 7 * 8 * 4 + 7 * 4 < 50 * 8 * 4
    # XLA takes the dearer branch for granted.
    branches = of("conditional")
    assert branches.flops is None
    assert branches.known_flops < analysed["conditional"].cost["flops"] < 2 * 64**3 + 20_000
    assert branches.unknown[0].startswith("cond")


def kernel(line: str, extra: str = "") -> Cost:
    """The cost of the last line of an ENTRY of three parameters."""
    (module,) = read_text(
        f"HloModule m\n{extra}\nENTRY %e (x: f32[8,16], w: f32[16,16], v: f32[16,4]) -> f32[] {{\n"
        "  %x = f32[8,16]{1,0} parameter(0)\n  %w = f32[16,16]{1,0} parameter(1)\n"
        f"  %v = f32[16,4]{{1,0}} parameter(2)\n  ROOT %r = {line}\n}}\n"
    )
    return instruction_cost(module.entry.root)


@pytest.mark.parametrize(
    ("line", "flops"),
    [
        # 8 x 16 results of 16 multiply-adds each
        ("f32[8,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 2 * 8 * 16 * 16),
        (
            '(f32[8,16]{1,0}, s8[2048]{0}) custom-call(%x, %w), custom_call_target="__cublas$gemm", backend_config='
            '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}',
            2 * 8 * 16 * 16,
        ),
        (
            '(f32[8,4]{1,0}, s8[512]{0}) custom-call(%x, %v), custom_call_target="__cublas$gemm", '
            r'backend_config="{\"alpha_real\":1,\"note\":\"a } b\"}"',
            2 * 8 * 4 * 16,
        ),
        ('f32[8,4]{1,0} custom-call(%x, %v), custom_call_target="__onednn$matmul"', 2 * 8 * 4 * 16),
        ('f32[8,16]{1,0} custom-call(%x), custom_call_target="Sharding"', 0),
        ('f32[8,16]{1,0} custom-call(%x), custom_call_target="my_kernel"', None),
        ("f32[8,16]{1,0} some-new-opcode(%x)", None),
        ("f32[8,16]{1,0} fusion(%x), kind=kLoop, calls=%gone", None),
        ("f32[8,16]{1,0} copy(%x)", 0),
    ],
)
def test_hand_counted_kernels(line: str, flops: int | None) -> None:
    cost = kernel(line)
    assert cost.flops == flops
    assert cost.unknown == (() if flops is not None else ("r",))


@pytest.mark.parametrize(
    ("target", "left", "right", "result"),
    [
        ("__cudnn$convForward", "f32[4,16,16,8]", "f32[3,3,8,5]", "f32[4,16,16,5]"),
        ("__cudnn$convBackwardInput", "f32[4,16,16,5]", "f32[3,3,8,5]", "f32[4,16,16,8]"),
        ("__cudnn$convBackwardFilter", "f32[4,16,16,8]", "f32[4,16,16,5]", "f32[3,3,8,5]"),
    ],
)
def test_the_three_convolutions_of_cudnn_cost_the_same(target: str, left: str, right: str, result: str) -> None:
    (module,) = read_text(
        f"HloModule m\n\nENTRY %e (a: {left}, b: {right}) -> {result} {{\n  %a = {left} parameter(0)\n"
        f"  %b = {right} parameter(1)\n  ROOT %c = ({result}, u8[0]) custom-call(%a, %b), "
        f'window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f, custom_call_target="{target}"\n}}\n'
    )
    # along each of two axes 3 kernel positions meet 16 + 2 * 15 input elements
    assert instruction_cost(module.entry.root).flops == 2 * 4 * 8 * 5 * 46**2


def test_positions_of_a_window() -> None:
    (first, second) = parse_window("{size=3x2 stride=2x1 pad=1_1x0_-1 lhs_dilate=1x2 rhs_dilate=2x1}")
    assert first == WindowDimension(3, 2, 1, 1, 1, 2)
    assert second == WindowDimension(2, 1, 0, -1, 2, 1)
    # counted one by one
    for input_size in (1, 5, 8):
        for window in (
            first,
            second,
            WindowDimension(3, 3, 2, 0, 3, 2),
            WindowDimension(4),
            WindowDimension(7, 2, 5, 0, 4, 6),
        ):
            output_size = 6
            expected = sum(
                (at := o * window.stride - window.pad_low + k * window.window_dilation) >= 0
                and at % window.base_dilation == 0
                and at // window.base_dilation < input_size
                for k in range(window.size)
                for o in range(output_size)
            )
            assert valid_positions(input_size, window.size, output_size, window) == expected
    # a kernel as long as its input, as in a gradient, takes no time; a size that no array has takes none either
    assert valid_positions(10**9, 10**9, 3, WindowDimension(10**9, pad_low=1, pad_high=1)) == 3 * 10**9 - 2
    assert valid_positions(10**15, 10**15, 10**15, WindowDimension(10**15)) is None


FUSED = """
%fused (p: f32[8,16], q: f32[16,16]) -> (f32[8,16], f32[8]) {
  %p = f32[8,16]{1,0} parameter(0)
  %q = f32[16,16]{1,0} parameter(1)
  %rows = f32[8,16]{1,0} slice(%q), slice={[0:8], [0:16]}
  %sum = f32[8,16]{1,0} add(%p, %rows)
  %exp = f32[8,16]{1,0} exponential(%sum)
  %zero = f32[] constant(0)
  %total = f32[8]{0} reduce(%exp, %zero), dimensions={1}, to_apply=%add
  ROOT %t = (f32[8,16]{1,0}, f32[8]{0}) tuple(%exp, %total)
}
"""
ADD = """
%add (l: f32[], r: f32[]) -> f32[] {
  %l = f32[] parameter(0)
  %r = f32[] parameter(1)
  ROOT %s = f32[] add(%l, %r)
}
"""


def test_a_fusion_reads_and_writes_its_edges_only() -> None:
    cost = kernel("(f32[8,16]{1,0}, f32[8]{0}) fusion(%x, %w), kind=kLoop, calls=%fused", ADD + FUSED)
    assert cost.flops == 8 * 16 + 8 * 15
    assert cost.transcendentals == 8 * 16
    # all of p, the first half of q
    assert cost.bytes_read == 2 * 8 * 16 * 4
    assert cost.bytes_written == 8 * 16 * 4 + 8 * 4
    # the slice and the sum never leave the kernel
    assert cost.bytes_inside == 2 * 8 * 16 * 4


def test_an_update_in_place_touches_the_update() -> None:
    fused = """
%fused (p: f32[16,16], u: f32[1,16], i: s32[]) -> f32[16,16] {
  %p = f32[16,16]{1,0} parameter(0)
  %u = f32[1,16]{1,0} parameter(1)
  %i = s32[] parameter(2)
  ROOT %d = f32[16,16]{1,0} dynamic-update-slice(%p, %u, %i, %i)
}
"""
    cost = kernel("f32[16,16]{1,0} fusion(%w, %x, %v), kind=kLoop, calls=%fused", fused)
    assert (cost.bytes_read, cost.bytes_written) == (16 * 4 + 4, 16 * 4)


def test_loops_and_scopes() -> None:
    loop = """
%body (b: f32[8,16]) -> f32[8,16] {
  %b = f32[8,16]{1,0} parameter(0)
  ROOT %m = f32[8,16]{1,0} multiply(%b, %b)
}

%cond (c: f32[8,16]) -> pred[] {
  %c = f32[8,16]{1,0} parameter(0)
  %z = f32[] constant(0)
  %o = f32[] constant(1)
  ROOT %p = pred[] compare(%z, %o), direction=LT
}
"""
    line = "f32[8,16]{1,0} while(%x), condition=%cond, body=%body"
    known = kernel(line + ', backend_config={"known_trip_count":{"n":"10"}}', loop)
    assert (known.flops, known.bytes_accessed) == (1280, 10 * 2 * 8 * 16 * 4)
    unknown = kernel(line, loop)
    assert (unknown.flops, unknown.known_flops, unknown.unknown) == (None, 0, ("r",))
    (module,) = read_text(
        "HloModule m\n" + loop + "\nENTRY %e (x: f32[8,16]) -> f32[8,16] {\n  %x = f32[8,16]{1,0} parameter(0)\n"
        "  %n = f32[8,16]{1,0} negate(%x)\n  ROOT %w = f32[8,16]{1,0} while(%n), condition=%cond, body=%body, "
        'backend_config={"known_trip_count":{"n":"10"}}\n}\n'
    )
    assert [module_cost(module, scope).flops for scope in ("entry", "reachable", "weighted")] == [128, 257, 1408]
    with pytest.raises(UsageError):
        module_cost(module, "everything")


def test_an_unknown_call_leaves_the_sum_unknown_and_says_what_is_known() -> None:
    (module,) = read_text(
        "HloModule m\n\nENTRY %e (x: f32[8]) -> f32[8] {\n  %x = f32[8]{0} parameter(0)\n"
        '  %call.1 = f32[8]{0} custom-call(%x), custom_call_target="secret"\n  ROOT %n = f32[8]{0} negate(%call.1)\n}\n'
    )
    cost = module_cost(module)
    assert cost.to_json_dict() == {
        "flops": None,
        "transcendentals": None,
        "read_bytes": None,
        "written_bytes": None,
        "inside_bytes": 0,
        "known_flops": 8,
        "known_read_bytes": 32,
        "known_written_bytes": 32,
        "unknown": ["call.1"],
    }


def test_text_that_calls_itself_ends() -> None:
    (module,) = read_text(
        "HloModule m\n\n%f (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
        "  ROOT %r = f32[] fusion(%p), kind=kLoop, calls=%f\n}\n\n"
        "ENTRY %e (x: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  ROOT %c = f32[] call(%x), to_apply=%f\n}\n"
    )
    assert module_cost(module).flops is None


@pytest.mark.corpus
def test_every_shared_text_has_a_cost(corpus: Path) -> None:
    counted = 0
    for path in sorted(corpus.glob("[!.]*/*")):
        if path.suffix not in (".hlo", ".txt") or path.stat().st_size > 300_000:
            continue
        for module in filter(lambda each: each.computations, read_file(path)):
            for scope in ("entry", "reachable", "weighted"):
                module_cost(module, scope)
            counted += 1
    assert counted > 500
