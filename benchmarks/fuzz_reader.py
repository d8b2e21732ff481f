"""Fuzz the HLO reader: whatever the input, its answer is modules or its own error, and soon.

    make fuzz                                    two hundred thousand inputs
    python benchmarks/fuzz_reader.py --runs N [--seeds FOLDER] [--seed N]

Guided by coverage where `atheris` is installed (pip install atheris); with its own mutations where it is not. Inputs
grow from texts that this file holds, and from the files of a folder of HLO texts where one is given.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from xlacompare.errors import HloError
from xlacompare.hlo import fingerprint, print_module, read_text

SEEDS = [
    """HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }

FileNames
1 "/a/b.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=8 end_column=11}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%fused (p.0: f32[4], p.1: (f32[], s32[2])) -> f32[4] {
  %p.0 = f32[4]{0} parameter(0)
  %p.1 = (f32[], /*index=1*/s32[2]{0}) parameter(1)
  ROOT %m = f32[4]{0:T(8,128)S(1)} multiply(f32[4]{0} %p.0, %p.0), metadata={op_name="a\\"b" stack_frame_id=1}
}, execution_thread="t"

ENTRY %main.2 (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={k="v",w={a = 1 : i32}}
  ROOT %f = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused, backend_config={"a":{"b":"}"}}
}
""",
    """// HloModule no
m {
  p = f32[<=4,?] parameter(0) /* " */
  c = (c64[2], pred[]) constant(({(1, -2.5), (inf, nan)}, true))
  s = ((f32[4]), f32[8], s32[]) custom-call-start(p), async_execution_thread='t', custom_call_target="foo"
  d = f32[8] custom-call-done(s)
  w = window(p#0, add(f32[] negate(p), b(f32[4]) p)), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  r = reduce(p, d), dimensions={0}, to_apply={ a = f32[] parameter(0) ROOT b = f32[] add(a, a) }
  ROOT t = (f32[], f32[]) tuple(r, %r), control-predecessors={%s, d}
}
""",
    """*** Begin module_0000.x.txt ***
HloModule a
ENTRY e { ROOT p = f32[] parameter(0) }
*** End ***
// -----
HloModule b
ROOT f = f32[2] add(f32[2] x, f32[2])
""",
]
WORDS = [
    "HloModule ", "ENTRY ", "ROOT ", "%", " = ", "f32[2]{0}", "(", ")", "{", "}", "[", "]", '"', "'", "\\", "/*", "*/",
    "//", "\n", "\n}", "\n\n", "  ", ", ", "=", "->", "<=", "#0", "add(", "-start(", "calls=%f", "to_apply={", "{...}",
    "constant(", "parameter(0)", "metadata={", "FileNames\n", "StackFrames\n", "1 {", "// -----\n", "\0", "é", "\ud7ff",
    "-1", "99999999999999999999", "inf", "b(", "sparse{1}", ":T(8,128)", "$0", "*** Begin x ***\n",
]  # fmt: skip
SLOW_S = 2.0


def check(text: str) -> None:
    """Read, print, read again and fingerprint a text; anything but the reader's own error escapes."""
    try:
        modules = read_text(text)
    except HloError:
        return
    for module in modules:
        module.check()
        for computation in module.computations:
            for one in computation.instructions:
                _ = one.attributes, one.metadata, one.backend_config, one.shape, str(one.shape), one.source, one.users
        if module.computations:
            fingerprint(module)
            read_text(print_module(module), file="printed.hlo")
    if len(text) < 1 << 14:
        try:
            read_text(text, strict=True)
        except HloError as error:
            str(error)


def mutate(text: str, others: list[str], random_: random.Random) -> str:
    """Return the text with a few pieces cut, doubled, moved, swapped with another text's or replaced by odd words."""
    for _ in range(random_.randint(1, 6)):
        start = random_.randrange(len(text) + 1)
        stop = min(len(text), start + random_.choice((0, 1, 2, 8, 40, 400)))
        kind = random_.randrange(6)
        if kind == 0:
            text = text[:start] + text[stop:]
        elif kind == 1:
            text = text[:stop] + text[start:stop] * random_.randint(1, 3) + text[stop:]
        elif kind == 2:
            text = text[:start] + random_.choice(WORDS) * random_.choice((1, 1, 1, 20)) + text[stop:]
        elif kind == 3:
            other = random_.choice(others)
            at = random_.randrange(len(other) + 1)
            text = text[:start] + other[at : at + random_.choice((10, 100, 1000))] + text[stop:]
        elif kind == 4:
            text = text[:start] + chr(random_.choice((random_.randrange(128), random_.randrange(0xD000)))) + text[stop:]
        else:
            text = text[:stop]
    return text[: 1 << 20]


def run_own(seeds: list[str], runs: int, seed: int, check_one: Callable[[str], None]) -> None:
    """Check `runs` mutations, half of them of seeds, half of earlier mutations."""
    random_ = random.Random(seed)
    pool = list(seeds)
    for _ in range(runs):
        text = mutate(random_.choice(pool), seeds, random_)
        check_one(text)
        if random_.random() < 0.05 and len(text) < 1 << 14:
            pool.append(text)
            if len(pool) > len(seeds) + 2000:
                pool[random_.randrange(len(seeds), len(pool))] = pool.pop()


def run_guided(seeds: list[str], runs: int, seed: int, check_one: Callable[[str], None]) -> None:
    """Let atheris choose the inputs by what code they reach."""
    import atheris

    random_ = random.Random(seed)

    def custom_mutator(data: bytes, max_size: int, _seed: int) -> bytes:
        return mutate(data.decode("utf-8", "replace"), seeds, random_).encode("utf-8", "replace")[:max_size]

    atheris.instrument_all()
    atheris.Setup(
        [sys.argv[0], f"-runs={runs}", f"-seed={seed}", "-max_len=65536", "-print_final_stats=1", "-verbosity=0"],
        lambda data: check_one(data.decode("utf-8", "replace")),
        custom_mutator=custom_mutator,
    )
    atheris.Fuzz()


def main() -> int:
    """Run until the number of inputs is reached or one of them breaks the reader; that one is printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=Path, help="a folder of HLO texts to start from as well")
    parser.add_argument("--guided", action="store_true", help="by coverage, with atheris")
    options = parser.parse_args()
    seeds = list(SEEDS)
    if options.seeds is not None:
        files = sorted(file for file in options.seeds.rglob("*") if file.suffix in (".hlo", ".txt"))
        seeds += [file.read_text(encoding="utf-8", errors="replace") for file in files if file.stat().st_size < 1 << 14]
    count, slowest = 0, 0.0

    def check_one(text: str) -> None:
        nonlocal count, slowest
        started = time.process_time()
        try:
            check(text)
        except BaseException:
            print(f"input {count + 1} broke the reader:\n{text!r}", file=sys.stderr)
            raise
        count += 1
        slowest = max(slowest, time.process_time() - started)
        if count % 20_000 == 0:
            print(f"{count} inputs, slowest {slowest:.2f} s", file=sys.stderr, flush=True)

    (run_guided if options.guided else run_own)(seeds, options.runs, options.seed, check_one)
    print(f"{count} inputs from {len(seeds)} seeds: no exception but HloError, slowest {slowest:.2f} s")
    return int(slowest > SLOW_S)


if __name__ == "__main__":
    raise SystemExit(main())
