"""Make the reference dumps anew: small programs, compiled by many versions of both frameworks on a CPU.

Each version is installed by pip in a virtual environment of its own, which is removed afterwards. Of what XLA writes
only the two HLO texts of each program are kept, byte for byte but for the paths of the environment and of this folder,
which become /venv and /src. PROVENANCE.json says which versions made which folder.

    python make.py [FOLDER ...]        for example: python make.py jax-0.4.30 tensorflow-2.15.1
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ("linear_grad", "mlp_step", "scan_grad", "conv")
# folder -> (Python, what pip installs)
VERSIONS = {
    "jax-0.4.13": ("3.8", ["jax==0.4.13", "jaxlib==0.4.13"]),
    "jax-0.4.20": ("3.9", ["jax==0.4.20", "jaxlib==0.4.20", "numpy<2"]),
    "jax-0.4.30": ("3.11", ["jax==0.4.30", "jaxlib==0.4.30", "numpy<2"]),
    "jax-0.5.3": ("3.12", ["jax==0.5.3", "jaxlib==0.5.3"]),
    "jax-0.7.2": ("3.13", ["jax==0.7.2", "jaxlib==0.7.2"]),
    "jax-0.10.2": ("3.11", ["jax==0.10.2", "jaxlib==0.10.2"]),
    "tensorflow-2.5.3": ("3.8", ["tensorflow-cpu==2.5.3", "protobuf<3.21"]),
    "tensorflow-2.8.4": ("3.9", ["tensorflow-cpu==2.8.4", "protobuf<3.21", "numpy<2"]),
    "tensorflow-2.12.1": ("3.9", ["tensorflow-cpu==2.12.1"]),
    "tensorflow-2.15.1": ("3.10", ["tensorflow-cpu==2.15.1"]),
    "tensorflow-2.18.1": ("3.12", ["tensorflow-cpu==2.18.1"]),
    "tensorflow-2.21.0": ("3.11", ["tensorflow==2.21.0"]),
}
TEXT = re.compile(r"(before_optimizations|after_optimizations)\.txt$")


def make(name: str) -> dict[str, object]:
    """Make one folder and return its provenance."""
    python, packages = VERSIONS[name]
    framework = name.split("-")[0]
    with tempfile.TemporaryDirectory() as scratch:
        venv, dump = Path(scratch) / "venv", Path(scratch) / "dump"
        subprocess.run([f"python{python}", "-m", "venv", str(venv)], check=True)
        run = str(venv / "bin" / "python")
        subprocess.run([run, "-m", "pip", "install", "--quiet", "--no-cache-dir", *packages], check=True)
        program = HERE / f"programs_{framework}.py"
        flags = f"--xla_dump_to={dump} --xla_dump_hlo_as_text"
        environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
        subprocess.run([run, str(program)], check=True, env=environment)
        kept = keep(dump, HERE / name, {str(venv): "/venv", str(HERE): "/src"})
        listed = json.loads(subprocess.run([run, "-m", "pip", "list", "--format=json"], check=True, capture_output=True).stdout)
    wanted = {"jax", "jaxlib", "tensorflow", "tensorflow-cpu", "numpy"}
    versions = {entry["name"]: entry["version"] for entry in listed if entry["name"] in wanted}
    return {"python": python, "versions": versions, "program": program.name, "files": kept}


def keep(dump: Path, folder: Path, renamed: dict[str, str]) -> list[str]:
    """Copy the two texts of each program into `folder`, under XLA's names."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kept = []
    for path in sorted(dump.rglob("*.txt")):
        text = path.read_text(encoding="utf-8")
        head = text.partition("\n")[0]
        if not TEXT.search(path.name) or not any(program in head for program in PROGRAMS):
            continue
        for old, new in renamed.items():
            text = text.replace(old, new)
        (folder / path.name).write_text(text, encoding="utf-8")
        kept.append(path.name)
    if len(kept) != 2 * len(PROGRAMS):
        raise SystemExit(f"{folder.name}: expected two texts of each of {PROGRAMS}, found {kept}")
    return kept


def main() -> None:
    file = HERE / "PROVENANCE.json"
    provenance = json.loads(file.read_text()) if file.is_file() else {}
    for name in sys.argv[1:] or VERSIONS:
        provenance[name] = make(name)
        file.write_text(json.dumps(dict(sorted(provenance.items())), indent=1) + "\n")
        print(name, "made")


if __name__ == "__main__":
    main()
