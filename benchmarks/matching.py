"""Precision and recall of the matcher on truth by construction.

    python benchmarks/matching.py [--models linear mlp] [--variants grad train_step] [--misses 5] [--keep DIR]

The HLO that one frontend makes of a model is given a unique name for every operation, as metadata, and is compiled by
both XLA builds. An operation of one result is then truly that of the other which carries the same name; the matcher
never looks at metadata. Scored are the operations that carry a name which occurs on both sides:

- precision: of the matched ones, the share whose partner shares a name;
- recall: of those that share a name with an operation of the other side, the share that is matched to such a one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xlacompare.diff import Diff, diff
from xlacompare.diff.graph import Graph
from xlacompare.frameworks.program import VARIANTS
from xlacompare.frameworks.recompile import without_debug_info
from xlacompare.hlo import Module, read_file, read_text
from xlacompare.registry import built_in_names, find_model
from xlacompare.worker.launch import ENVIRONMENT, Launch, run_all

FRAMEWORKS = ("jax", "tensorflow")
PRECISION, RECALL = 0.99, 0.97
CHILD = Path(__file__).with_name("recompile_named.py")
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?[\w.-]+ = ")
_TYPES = {"f32": "float32", "f64": "float64", "s32": "int32", "s64": "int64", "u32": "uint32", "pred": "bool"}


def named(text: str) -> str:
    """Return HLO text in which every operation carries a name of its own as its only metadata."""
    lines = []
    for number, line in enumerate(without_debug_info(text).splitlines()):
        plain = not _INSTRUCTION.match(line) or " parameter(" in line
        lines.append(line if plain else f'{line}, metadata={{op_name="u{number}"}}')
    return "\n".join(lines) + "\n"


def dump_frontends(model: str, variant: str, folder: Path) -> dict[str, str]:
    """Return each frontend's HLO text before optimizations."""
    found = find_model(model)
    launches = []
    for framework in FRAMEWORKS:
        out = folder / framework
        out.mkdir(parents=True)
        request = {
            "task": "dump",
            "model_dir": str(found.folder),
            "size": dict(found.spec.sizes[found.spec.default_size]),
            "seed": 0,
            "settings": {"variant": variant, "options": {}},
            "outputs_file": str(out / "outputs.npz"),
        }
        launches.append(Launch(framework, request, f"--xla_dump_to={out} --xla_dump_large_constants"))
    texts = {}
    for launch, outcome in zip(launches, run_all(launches), strict=True):
        if isinstance(outcome, Exception):
            print(f"{model} {variant}: {outcome}", file=sys.stderr)
            continue
        files = [
            path
            for path in (folder / launch.framework).glob("*before_optimizations.txt")
            if outcome.result["name"] in path.name
        ]
        if files:
            texts[launch.framework] = max(files, key=lambda path: path.stat().st_size).read_text(encoding="utf-8")
    return texts


def compile_both(model: str, variant: str, folder: Path) -> dict[tuple[str, str], Module]:
    """Return (frontend, compiler) -> the optimized module of the frontend's program with named operations."""
    programs = []
    for frontend, text in dump_frontends(model, variant, folder).items():
        module = read_text(text)[0]
        path = folder / f"{frontend}.hlo"
        path.write_text(named(text), encoding="utf-8")
        programs.append(
            {
                "name": f"of_{frontend}",
                "text": str(path),
                "artifact": str(folder / f"{frontend}.stablehlo"),
                "inputs": [(_TYPES[one.shape.element_type], one.shape.dimensions) for one in module.entry.parameters],
                "results": [(_TYPES[leaf.element_type], leaf.dimensions) for leaf in module.entry.root.shape.leaves()],
            }
        )
    request = folder / "request.json"
    request.write_text(json.dumps({"programs": programs}), encoding="utf-8")
    compiled = {}
    for compiler in FRAMEWORKS:
        out = folder / f"by-{compiler}"
        environment = {**os.environ, **ENVIRONMENT, "XLA_FLAGS": f"--xla_dump_to={out}", "JAX_PLATFORMS": "cpu"}
        command = [sys.executable, str(CHILD), compiler, str(request)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            print(f"{model} {variant} by {compiler}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        for position, program in enumerate(programs):
            module = _compiled(out, program["name"], position, compiler)
            if module is not None:
                compiled[program["name"].removeprefix("of_"), compiler] = module
    return compiled


def _compiled(out: Path, name: str, position: int, compiler: str) -> Module | None:
    texts = sorted(out.glob("*after_optimizations.txt"), key=lambda path: path.stat().st_mtime_ns)
    if compiler == "tensorflow":
        texts = [path for path in texts if name in path.name]
        return read_file(str(texts[0]))[0] if texts else None
    return read_file(str(texts[position]))[0] if position < len(texts) else None


@dataclass(frozen=True)
class Score:
    """How a matching fared against the names.

    Attributes:
        judged: matched operations that carry a name of the other side.
        right: those of them whose partner shares a name.
        possible: operations that share a name with one of the other side.
        wrong, missed: (left node, right node) of what went wrong.
    """

    judged: int
    right: int
    possible: int
    wrong: tuple[tuple[int, int], ...]
    missed: tuple[tuple[int, int], ...]

    @property
    def precision(self) -> float:
        return self.right / self.judged if self.judged else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.possible if self.possible else 1.0


def names_of(graph: Graph) -> dict[int, set[tuple[str, str]]]:
    """Return per operation its names, each with the opcode: one name may stand for several operations of a lowering."""
    found: dict[int, set[tuple[str, str]]] = {}
    for node in graph.operations():
        names: set[tuple[str, str]] = set()
        for instruction in (graph.instructions[node], *graph.doubles.get(node, ())):
            for name in str(instruction.metadata.get("op_name", "")).split(";"):
                last = name.rsplit("/", 1)[-1]
                if re.fullmatch(r"u\d+", last):
                    names.add((last, instruction.opcode))
        found[node] = names
    return found


def score(found: Diff) -> Score:
    """Judge a diff by the names that its modules carry."""
    left, right = (names_of(graph) for graph in found.graphs)
    on_left, on_right = _union(left.values()), _union(right.values())
    to_right = found.matching.to_right
    wrong, agreed = [], set()
    judged = 0
    for node, names in left.items():
        partner = to_right[node]
        if partner < 0 or not (names & on_right) or not (right[partner] & on_left):
            continue
        judged += 1
        if names & right[partner]:
            agreed.add((node, partner))
        else:
            wrong.append((node, partner))
    missed = _missed(left, right, agreed)
    return Score(judged, len(agreed), len(agreed) + len(missed), tuple(wrong), tuple(missed))


def _missed(
    left: Mapping[int, set[tuple[str, str]]], right: Mapping[int, set[tuple[str, str]]], agreed: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    by_name = defaultdict(list)
    for node, names in right.items():
        for name in names:
            by_name[name].append(node)
    done_left, done_right = {pair[0] for pair in agreed}, {pair[1] for pair in agreed}
    missed = []
    for node, names in left.items():
        if node in done_left:
            continue
        candidates = [other for name in sorted(names) for other in by_name[name] if other not in done_right]
        if candidates:
            done_right.add(candidates[0])
            missed.append((node, candidates[0]))
    return missed


def _union(sets: Iterable[set[tuple[str, str]]]) -> set[tuple[str, str]]:
    return set().union(*sets)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=built_in_names())
    parser.add_argument("--variants", nargs="*", default=VARIANTS)
    parser.add_argument("--misses", type=int, default=5, help="how many to list per line")
    parser.add_argument("--keep", type=Path, help="keep the compiled modules here, and use those that are there")
    arguments = parser.parse_args()
    short = 0
    print(
        f"{'model':12} {'variant':14} {'frontend':10} {'left':>6} {'right':>6} {'judged':>6} precision recall",
        flush=True,
    )
    for model in arguments.models:
        for variant in arguments.variants:
            with tempfile.TemporaryDirectory() as temporary:
                root = Path(temporary) if arguments.keep is None else arguments.keep
                modules = _modules(model, variant, root / f"{model}-{variant}")
            short += sum(_report(model, variant, frontend, modules, arguments.misses) for frontend in FRAMEWORKS)
    print(f"{short} lines fall short of precision {PRECISION} or recall {RECALL}")
    return 1 if short else 0


def _modules(model: str, variant: str, folder: Path) -> dict[tuple[str, str], Module]:
    if not folder.exists():
        folder.mkdir(parents=True)
        return compile_both(model, variant, folder)
    found = {}
    for compiler in FRAMEWORKS:
        for position, frontend in enumerate(FRAMEWORKS):
            module = _compiled(folder / f"by-{compiler}", f"of_{frontend}", position, compiler)
            if module is not None:
                found[frontend, compiler] = module
    return found


def _report(model: str, variant: str, frontend: str, modules: Mapping[tuple[str, str], Module], misses: int) -> int:
    left, right = (modules.get((frontend, compiler)) for compiler in FRAMEWORKS)
    if left is None or right is None:
        print(f"{model:12} {variant:14} {frontend:10} could not be compiled by both")
        return 0
    found = diff(left, right)
    judged = score(found)
    counts = found.operation_counts
    short = judged.precision < PRECISION or judged.recall < RECALL
    print(
        f"{model:12} {variant:14} {frontend:10} {counts['left']:6} {counts['right']:6} {judged.judged:6} "
        f"{judged.precision:9.4f} {judged.recall:6.4f}{'  SHORT' if short else ''}",
        flush=True,
    )
    for kind, pairs in (("wrong", judged.wrong), ("missed", judged.missed)):
        for one, other in pairs[:misses]:
            texts = [str(graph.instructions[node]) for graph, node in zip(found.graphs, (one, other), strict=True)]
            print(f"    {kind} ({found.matching.how.get(one, 'unmatched')}): {texts[0]} | {texts[1]}")
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
