"""What a framework's adapter offers: one Protocol, and the plain data that goes in.

Both adapters promise the same, so that what is compared is the same:
- inputs are on the device before the first stage starts;
- the stages trace, lower and compile can be timed apart (a framework that cannot part two of them does both in the
  later one);
- `call` starts one execution and `wait` returns when every output is there;
- outputs come back under the same names: "output", "loss", "grad/<parameter>", "params/<parameter>".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

VARIANTS = ("forward", "grad", "value_and_grad")


@dataclass(frozen=True)
class Settings:
    """How a model is to be compiled; the same for both frameworks.

    Attributes:
        variant: one of `VARIANTS`.
        jit: compile with the framework's own compiler entry (False: eager).
        xla: TensorFlow's graph goes through XLA (always so for JAX).
        options: keyword arguments of the model's `apply`.
    """

    variant: str = "grad"
    jit: bool = True
    xla: bool = True
    options: "dict[str, Any]" = field(default_factory=dict)


class Program(Protocol):
    """One model, one variant, in one framework, with its inputs on the device."""

    name: str
    parameter_names: "list[str]"

    def trace(self) -> None: ...

    def lower(self) -> None: ...

    def compile(self) -> None: ...

    def call(self) -> Any:
        """Start one execution and return its outputs, which may not be there yet."""

    def wait(self, outputs: Any) -> None:
        """Return when every array of `outputs` has been computed."""

    def to_numpy(self, outputs: Any) -> "dict[str, Any]":
        """Return the outputs by name as numpy arrays."""


def function_name(model: str, variant: str) -> str:
    """Return the name of the compiled function, `<model>_<variant>`, by which its module is found in a dump.

    >>> function_name("my-model 2", "grad")
    'my_model_2_grad'
    """
    return "".join(character if character.isalnum() else "_" for character in f"{model}_{variant}")
