"""Every text that XLA's own parser accepts must mean to this reader what it means to that parser."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from xlacompare.hlo import Module, print_module, read_text

ORACLE = Path(__file__).parent / "jaxlib_oracle.py"
PARTS = 4
ANSWER_S = 120.0
CRASHED = "the parser crashed or hung"
CRASHES_SOUGHT = 10


class Oracle:
    """jaxlib's parser in a child process, started anew where a text kills or hangs it."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def ask(self, text: str) -> dict[str, Any]:
        """Return what the parser makes of a text, `{"error": …}` where it refuses or dies."""
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, str(ORACLE)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        child = self._child
        assert child.stdin is not None and child.stdout is not None
        limit = Timer(ANSWER_S, child.kill)
        limit.start()
        try:
            child.stdin.write(json.dumps({"text": text}) + "\n")
            child.stdin.flush()
            answer = child.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            limit.cancel()
        if answer:
            return dict(json.loads(answer))
        self.close()
        return {"error": CRASHED}

    def ask_afresh(self, text: str, tries: int = 5) -> dict[str, Any]:
        """Return what fresh processes make of a text; the first answer that is no crash counts."""
        answer: dict[str, Any] = {}
        for _ in range(tries):
            self.close()
            answer = self.ask(text)
            if answer.get("error") != CRASHED:
                break
        return answer

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    pytest.importorskip("jaxlib")
    found = Oracle()
    yield found
    found.close()


def graph(module: Module) -> list[str]:
    """Return every computation as opcodes and operand numbers, sorted: jaxlib renames and reorders computations."""
    found = []
    for computation in module.computations:
        numbers = {instruction: number for number, instruction in enumerate(computation.instructions)}
        rows = [[one.opcode, [numbers[operand] for operand in one.operands]] for one in computation.instructions]
        found.append(json.dumps(rows))
    return sorted(found)


def disagreement(text: str, oracle: Oracle) -> str | None:
    """Return how this reader and jaxlib differ on a text; "refused" where jaxlib does not take it."""
    judged = oracle.ask(text)
    if "error" in judged:
        # A text may have damaged the process before: only a fresh one's refusal counts.
        judged = oracle.ask_afresh(text)
        if "error" in judged:
            return "refused"
    modules = read_text(text)
    module = modules[0]
    if len(modules) != 1 or module.check():
        return f"{len(modules)} modules, warnings {module.check()[:2]}"
    if graph(module) != sorted(json.dumps(rows) for _, rows in judged["computations"]):
        return "the graphs differ"
    if module.entry.name != judged["entry"] and not module.entry.is_bare:
        return f"ENTRY is {module.entry.name}, not {judged['entry']}"
    fusions = [
        sum(row[0] == "fusion" for row in rows) for name, rows in judged["computations"] if name == judged["entry"]
    ]
    if module.entry.opcodes.count("fusion") != fusions[0]:
        return f"{module.entry.opcodes.count('fusion')} fusions in ENTRY, not {fusions[0]}"
    return reprint_disagreement(text, module, judged, oracle)


def reprint_disagreement(text: str, module: Module, judged: dict[str, Any], oracle: Oracle) -> str | None:
    """Return what printing and reading again changed, for this reader or for jaxlib."""
    printed = print_module(module)
    again = read_text(printed)[0]
    if print_module(again) != printed or graph(again) != graph(module):
        return "printing and reading again gives another module"
    rejudged = oracle.ask(printed)
    if "error" in rejudged:
        rejudged = oracle.ask_afresh(printed)
    if rejudged.get("error") == CRASHED and any(
        "error" in oracle.ask_afresh(text, tries=1) for _ in range(CRASHES_SOUGHT)
    ):
        # The text as it is kills the parser as well, if not every time: it says nothing about what was printed.
        return "refused"
    if "error" in rejudged:
        return f"jaxlib refuses the printed text: {rejudged['error']}"
    key = "without_constants" if "{...}" in text else "canonical"
    return None if rejudged[key] == judged[key] else "jaxlib's canonical prints differ"


def corpus_texts(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file that the index calls accepted, and of each such string of compiler tests."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        accepted = [
            row["file"]
            for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["xla_parser"] == "ok"
        ]
    seen = set()
    for name in accepted:
        text = (corpus / name).read_text(encoding="utf-8")
        seen.add(text)
        yield name, text
    with gzip.open(corpus / "EMBEDDED_ALL.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["xla_parser"] == "ok" and row["text"] not in seen:
                seen.add(row["text"])
                yield f"{row['path']}:{row['line']}", row["text"]


@pytest.mark.corpus
@pytest.mark.parametrize("part", range(PARTS))
def test_every_text_that_jaxlib_accepts_means_the_same(
    part: int, corpus: Path, oracle: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    compared, refused, failures = 0, [], []
    for number, (name, text) in enumerate(corpus_texts(corpus)):
        if number % PARTS != part:
            continue
        found = disagreement(text, oracle)
        if found == "refused":
            refused.append(name)
            continue
        compared += 1
        if found is not None:
            failures.append(f"{name}: {found}")
    with capsys.disabled():
        print(f"\nreader, part {part + 1}/{PARTS}: {compared} texts compared with jaxlib, {len(failures)} differ")
    assert not failures
    # Two of the texts corrupt the parser's own memory; whether it survives them is chance.
    assert len(refused) <= 2
    assert compared > 2000


TEXTS = {
    "nested operands": "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] add(f32[2] negate(p), p) }",
    "a result shape left out": "HloModule m\nENTRY e { p = f32[2] parameter(0)\n ROOT r = add(p, p) }",
    "an inline computation": """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT s = f32[] add(a, b)
  }
}""",
    "a short async form": """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[8], s32[]) custom-call-start(p), async_execution_thread="t", custom_call_target="foo"
  u = ((f32[4]), f32[8], s32[]) custom-call-update(s)
  ROOT d = f32[8] custom-call-done(u)
}""",
    "one instruction alone": "ROOT foo = f32[10] add(f32[10] x, f32[10] y)",
    "one instruction of shapes": "ROOT foo = f32[10] add(f32[10], f32[10])",
    "one instruction and what it calls": """%foo = f32[10]{0} fusion(f32[10] %x), kind=kLoop, calls={
  p = f32[10] parameter(0)
  ROOT n = f32[10] negate(p)
}""",
    "no header, entry or root": "f { p = f32[] parameter(0) n = f32[] negate(p) }",
    "everything on one line": "HloModule m ENTRY e { ROOT c = f16[] constant(1) }",
    "a space before sizes and layout": "HloModule m\nENTRY e { ROOT p = s32 [5,3] {0,1} parameter(0) }",
    "a module inside a string": """HloModule m, frontend_attributes={text="HloModule n

ENTRY %x (p: f32[]) -> f32[] {
  ROOT %p = f32[] parameter(0)
}
"}

ENTRY %e (q: f32[]) -> f32[] {
  %q = f32[] parameter(0)
  ROOT %n = f32[] negate(%q)
}
""",
    "comments everywhere": """// HloModule no
HloModule m /* , is_scheduled=true */
ENTRY /* { */ e { // }
  p = f32[4]{0} /* " */ parameter(0) // ' "
  /* q = f32[] parameter(1) */
  ROOT t = (f32[4], f32[4]) tuple(p, /*index=1*/p), metadata={op_name="/* { */ // \\"x"}
}""",
    "literals": """HloModule m
ENTRY e {
  a = c64[2] constant({(1, -2.5), (inf, nan)})
  b = (f32[], pred[2]) constant((-nan, {true, false}))
  c = s4[2,1]{1,0:E(4)} constant({ {-8}, {7} })
  ROOT d = f32[0] constant({})
}""",
    "a layout after the arrow": "HloModule m\nENTRY %e (p: f32[2]) -> f32[2]{0} { ROOT %p = f32[2]{0} parameter(0) }",
    "single quotes": "HloModule m\nENTRY e { ROOT c = f32[] custom-call(), custom_call_target='a\"b{' }",
}


@pytest.mark.jax
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_odd_forms_mean_the_same_as_to_jaxlib(text: str, oracle: Oracle) -> None:
    assert disagreement(text, oracle) is None
