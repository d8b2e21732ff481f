"""What `doctor` found, for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from xlacompare import __version__
from xlacompare.doctor import Diagnosis, FrameworkState
from xlacompare.worker.launch import DISPLAY_NAMES


def doctor_text(diagnosis: Diagnosis) -> RenderableType:
    """Return the diagnosis as paragraphs: this machine, each framework, the variables, advice."""
    packages = ", ".join(f"{name} {version or '(not installed)'}" for name, version in diagnosis.packages.items())
    lines = [
        Text(
            f"xlacompare {__version__} on Python {diagnosis.python}, {diagnosis.platform}, {diagnosis.cores} cores",
            style="bold",
        ),
        Text(f"installed: {packages}"),
    ]
    lines += [_framework(state) for state in diagnosis.frameworks]
    if diagnosis.variables:
        lines.append(Text("set in the environment:"))
        lines += [Text(f"  {name}={value}") for name, value in diagnosis.variables.items()]
    else:
        lines.append(Text("set in the environment: no variable that changes what XLA compiles or dumps"))
    lines += [Text(f"! {advice}", style="yellow") for advice in diagnosis.advice]
    return Group(*lines)


def _framework(state: FrameworkState) -> Text:
    name = DISPLAY_NAMES[state.framework]
    if state.dumps:
        versions = ", ".join(f"{key} {value}" for key, value in state.versions.items() if key != "xla")
        text = Text(f"✓ {name}: a compile writes a dump", style="green")
        return text.append(f" ({versions}; its XLA is {state.versions['xla']}; device {state.device})", style="default")
    return Text(f"✗ {name}: {state.problem}", style="red")
