"""Write docs/attribution-findings.md: whose doing the differences of the built-in pairs are.

    python docs/make_attribution_findings.py [--models linear,mlp] [--variants grad,forward]

It compiles everything, which takes minutes. Rows that were made before are made anew only if they are named; the
versions in the table's heading are those of the rows that this run made.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from xlacompare.attribution import Attribution, attribute
from xlacompare.dump import dump_request
from xlacompare.errors import XlaCompareError
from xlacompare.frameworks.program import variants_of
from xlacompare.registry import built_in_names, find_model
from xlacompare.report.markdown import markdown_code, markdown_escape, markdown_table

HERE = Path(__file__).resolve().parent
PAGE = HERE / "attribution-findings.md"
STORE = HERE / "attribution-findings.json"
HEADER = (
    "model",
    "variant",
    "kernels JAX",
    "TensorFlow",
    "verdict",
    "frontends",
    "of the counts",
    "what the frontends did (operations on one side alone)",
    "where the compilers part first",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(built_in_names()), help="default: every built-in pair")
    parser.add_argument("--variants", default="", help="default: every variant that a model has")
    arguments = parser.parse_args()
    rows = json.loads(STORE.read_text())["rows"] if STORE.exists() else {}
    for name in arguments.models.split(","):
        for variant in arguments.variants.split(",") if arguments.variants else variants_of(find_model(name).spec):
            print(name, variant, file=sys.stderr, flush=True)
            rows[f"{name} {variant}"] = row(name, variant)
            # Kept after each: an interrupted run has lost nothing.
            STORE.write_text(json.dumps({"rows": dict(sorted(rows.items()))}, indent=1) + "\n")
            PAGE.write_text(page(rows))
    return 0


def row(name: str, variant: str) -> dict[str, Any]:
    """Return what the page says of one model and variant."""
    try:
        found = attribute(dump_request(name, variant=variant))
    except XlaCompareError as error:
        return {"error": str(error).splitlines()[0]}
    verdict = found.verdicts[0]
    kernels = next((share for share in verdict.shares if share.measure == "kernels"), None)
    return {
        "versions": [environment.label for environment in found.environments],
        "verdict": verdict.verdict,
        "frontend_share": verdict.frontend_share,
        "kernels": None if kernels is None else kernels.to_json_dict(),
        "makers": makers(found),
        "parting": parting(found),
        "unable": list(found.unable),
    }


def makers(found: Attribution) -> list[str]:
    """Return who made the operations that one side alone has, the two most of each side."""
    if found.frontends is None:
        return []
    sides = ("JAX", found.frontends.left_only), ("TensorFlow", found.frontends.right_only)
    return [f"{side}: {made.maker} ({sum(made.opcodes.values())})" for side, all_made in sides for made in all_made[:2]]


def parting(found: Attribution) -> str | None:
    """Return the passes that part one program under the two compilers first."""
    if not found.compilers or not found.pipelines or not found.pipelines[0].partings:
        return None
    first = found.pipelines[0].partings[0]
    passes = dict.fromkeys((*first.left_passes, *first.right_passes))
    return ", ".join(each.split(" / ")[-1] for each in passes)


def page(rows: dict[str, dict[str, Any]]) -> str:
    """Return the page."""
    versions = sorted({" and ".join(each["versions"]) for each in rows.values() if "versions" in each})
    lines = [
        "# Whose doing is it? Every pair and variant",
        "",
        f"Made by `python docs/make_attribution_findings.py` with {'; '.join(versions)}, on CPU,",
        "each model at its first size. How to read it:",
        "[attribution.md](attribution.md). *Frontends* is their share of the kernels that differ, the",
        "compilers' is the rest; *of the counts* splits the difference of the two kernel counts.",
        "",
        markdown_table(HEADER, [cells(key, each) for key, each in sorted(rows.items())]),
    ]
    return "\n".join(lines)


def cells(key: str, found: dict[str, Any]) -> list[str]:
    name, variant = key.split(" ")
    if "error" in found:
        return [name, variant, "", "", "could not be done", "", "", markdown_escape(found["error"]), ""]
    kernels, share = found["kernels"], found["frontend_share"]
    split = ""
    if kernels is not None and kernels["difference"]:
        split = f"{kernels['difference']:+g} = {kernels['frontend']:+g} frontends {kernels['compiler']:+g} compilers"
    return [
        name,
        variant.replace("_", "\\_"),
        "" if kernels is None else f"{kernels['left']:g}",
        "" if kernels is None else f"{kernels['right']:g}",
        found["verdict"],
        "" if share is None else f"{100 * share:.0f} %",
        split,
        markdown_escape("; ".join(found["makers"])),
        markdown_code(found["parting"] or ""),
    ]


if __name__ == "__main__":
    sys.exit(main())
