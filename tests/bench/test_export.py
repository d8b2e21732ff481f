"""Other tools read what a run is exported to."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

from tests.bench.made_runs import make_run
from xlacompare.bench.export import rows, to_action, to_csv, to_pandas, to_pyperf

RUN = make_run([1e-3, 1.1e-3], [2e-3, 2.1e-3])
SLOWER = make_run([1.5e-3, 1.6e-3], [2e-3, 2.1e-3])


def test_csv_and_pandas_have_every_batch() -> None:
    table = list(csv.DictReader(io.StringIO(to_csv(RUN))))
    assert len(table) == len(rows(RUN)) == len(to_pandas(RUN)) == 12
    assert float(table[1]["call_s"]) == to_pandas(RUN)["call_s"][1] == 1e-3
    assert table[3]["column"] == "tensorflow"


def test_pyperf_reads_and_compares_it(tmp_path: Path) -> None:
    for name, run in (("old", RUN), ("new", SLOWER)):
        (tmp_path / f"{name}.json").write_text(to_pyperf(run))
    command = [sys.executable, "-m", "pyperf", "compare_to", "old.json", "new.json", "--verbose"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "linear/grad/tiny/latency/jax" in said
    assert "1.05 ms" in said
    assert "1.48x slower" in said


def test_github_action_benchmark_list() -> None:
    entries = json.loads(to_action(RUN))
    assert [set(entry) for entry in entries] == [{"name", "unit", "value", "range", "extra"}] * 2
    assert entries[0]["value"] == 1050.0
    assert all(isinstance(entry["value"], float) for entry in entries)
