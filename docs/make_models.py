"""Makes docs/models.md, what XLA made of every pair, variant and framework at size tiny, and the table of
docs/findings.md, how many operations of each the diff matches.

    python docs/make_models.py [FOLDER]

Compiles and traces the whole zoo as `make test-slow` does (and keeps it in FOLDER), or reads what that left there.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from unmatched import UNEXPLAINED, reasons  # noqa: E402

from tests.models.zoo import LAUNCHES, PARITY, SPECS, Case, Run, load_run, run_zoo  # noqa: E402
from xlacompare.census import census  # noqa: E402
from xlacompare.diff import diff  # noqa: E402
from xlacompare.frameworks import FRAMEWORKS  # noqa: E402
from xlacompare.hlo import read_text  # noqa: E402

HEAD = """# Model pairs

Made by `make docs` with {versions}, on CPU, at size `tiny`.

Every pair is one folder of [models/](../models): a spec in numpy, and the same mathematics in plain operations of each
framework. `make test` asserts for every pair and variant that both compute the same from the same numbers, in float32,
within the spec's tolerance; pairs that draw random numbers are compared without them (dropout 0, noise 0), and their
draws by mean and variance over many keys.

| pair | what | sizes | options | parameters at `tiny` / `paper` | from |
|---|---|---|---|---|---|
{pairs}

{notes}

## What XLA makes of them

`fusions` and `kernels` are those that the program reaches, each once; `launches` are the steps that one execution runs,
loops counted trip by trip: what [counting.md](counting.md) calls reachable and weighted. `make test-slow` holds every
number of launches to the events of the runtime's own trace, name by name. A number with * is the trace's: XLA did not
find out how often a loop runs, so the text alone cannot tell.

| pair | variant | JAX: fusions | kernels | launches | TensorFlow: fusions | kernels | launches |
|---|---|---:|---:|---:|---:|---:|---:|
{counts}

{loops}
"""
# The same programs without their random draws, which outweigh everything else.
STILL = [case for case in PARITY if case.draws]
BEGIN, END = "<!-- made by make docs -->", "<!-- end -->"
LOOPS = """`dp_train_step` maps over its examples at once (`jax.vmap`, `tf.vectorized_map`); `no_vectorize` is its loop
over them. TensorFlow 2.21 has no vectorised form of the gradient of a convolution's filter and loops over the examples
there all the same."""


def versions() -> str:
    packages = ("jax", "jaxlib", "tensorflow", "numpy")
    found = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def parameters(name: str, size: str) -> str:
    import numpy as np

    from xlacompare.model_spec import accepted

    spec = SPECS[name]
    if size not in spec.sizes:
        return "–"
    keywords = spec.keywords(spec.sizes[size], {})
    params = spec.init_params(np.random.default_rng(0), **accepted(spec.init_params, keywords))
    return f"{sum(np.size(values) for values in params.values()):,}"


def pair_row(name: str) -> str:
    spec = SPECS[name]
    options = ", ".join(
        f"`--{option} {'|'.join(map(str, value)) if isinstance(value, tuple) else value}`"
        for option, value in spec.options.items()
    ).replace("|", "\\|")
    counts = f"{parameters(name, 'tiny')} / {parameters(name, 'paper')}"
    return f"| `{name}` | {spec.summary} | {', '.join(spec.sizes)} | {options or '–'} | {counts} | {spec.origin} |"


def notes() -> str:
    return "\n".join(f"- `{name}`: {note}" for name, spec in SPECS.items() for note in spec.notes)


def counts(run: Run, case: Case) -> str:
    name, text = run.module_text(case)
    found = census(read_text(text)[0])
    launches = found.weighted.thunks
    shown = f"{run.launched[name].total()}*" if launches is None else str(launches)
    return f"{found.reachable.fusions} | {found.reachable.kernels} | {shown}"


def count_row(runs: dict[str, Run], case: Case) -> str:
    variant = case.variant if case.vectorize else f"{case.variant}, no_vectorize"
    return f"| `{case.model}` | {variant} | {' | '.join(counts(runs[framework], case) for framework in FRAMEWORKS)} |"


def page(runs: dict[str, Run]) -> str:
    return HEAD.format(
        versions=versions(),
        pairs="\n".join(pair_row(name) for name in SPECS),
        notes=notes(),
        counts="\n".join(count_row(runs, case) for case in LAUNCHES),
        loops=LOOPS,
    )


def match_row(runs: dict[str, Run], case: Case) -> str:
    modules = []
    for framework in FRAMEWORKS:
        module = read_text(runs[framework].module_text(case)[1])[0]
        module.build()
        modules.append(module)
    names = [runs[framework].parameter_names[case.id] for framework in FRAMEWORKS]
    found = diff(*modules, left_parameters=names[0], right_parameters=names[1])
    counts = found.operation_counts
    share = counts["matched"] / min(counts["left"], counts["right"])
    variant = ", ".join(
        [
            case.variant,
            *([] if case.vectorize else ["no_vectorize"]),
            *(["without draws"] if case.still and case.draws else []),
        ]
    )
    why = [
        ", ".join(f"{title} {count}" for title, count in reasons(found, side, framework).most_common()) or "–"
        for side, framework in enumerate(FRAMEWORKS)
    ]
    numbers = f"{counts['left']} | {counts['right']} | {counts['matched']} | {share:.1%}"
    return f"| {case.model} | {variant} | {numbers} | {' | '.join(why)} |"


def with_table(text: str, rows: list[str]) -> str:
    """Return the page of findings with its table, which stands between two comments, made anew."""
    head, _, rest = text.partition(BEGIN)
    table = [
        "| model | variant | JAX | TensorFlow | matched | of the smaller side | JAX alone | TensorFlow alone |",
        "|---|---|---:|---:|---:|---:|---|---|",
        *rows,
    ]
    return "\n".join([head + BEGIN, f"With {versions()}, at size `tiny`:", "", *table, END + rest.partition(END)[2]])


def main() -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else stack.enter_context(tempfile.TemporaryDirectory()))
        if (folder / "jax" / "answer.json").is_file():
            runs = {framework: load_run(folder / framework) for framework in FRAMEWORKS}
        else:
            runs = run_zoo([], [*LAUNCHES, *STILL], folder)
        (ROOT / "docs" / "models.md").write_text(page(runs), encoding="utf-8")
        findings = ROOT / "docs" / "findings.md"
        rows = [match_row(runs, case) for case in [*LAUNCHES, *STILL]]
        if any(UNEXPLAINED in row for row in rows):
            raise SystemExit(
                "docs/unmatched.py tells no reason for some unmatched operations; docs/findings.md is kept as it was"
            )
        findings.write_text(with_table(findings.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
