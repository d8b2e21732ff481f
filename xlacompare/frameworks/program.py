"""What a framework's adapter offers: one Protocol, and the plain data that goes in.

Both adapters promise the same, so that what is compared is the same:
- inputs are on the device before the first stage starts;
- the stages trace, lower and compile can be timed apart (a framework that cannot part two of them does both in the
  later one);
- `call` starts one execution and `wait` returns when every output is there;
- the function's arguments are the parameters, `x`, `y` (not for forward) and a random key (for a random model, and for
  dp_train_step always), and nothing that it uses is closed over as a constant;
- outputs come back under the same names: "output", "loss", "grad/<parameter>", "params/<parameter>".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

# What each variant returns: the output; every gradient; the loss and every gradient; the new parameters after one step
# of SGD; the new parameters after one step of differentially private SGD.
VARIANTS = ("forward", "grad", "value_and_grad", "train_step", "dp_train_step")
PRNGS = ("threefry2x32", "rbg", "unsafe_rbg")


@dataclass(frozen=True)
class Settings:
    """How a model is to be compiled; the same for both frameworks.

    Attributes:
        variant: one of `VARIANTS`.
        jit: compile with the framework's own compiler entry (False: eager).
        xla: TensorFlow's graph goes through XLA (always so for JAX).
        vectorize: dp_train_step maps over its examples at once (False: a loop over them inside the program).
        learning_rate: of train_step and dp_train_step.
        l2_norm_clip: dp_train_step scales an example's gradients down to this norm, taken over all parameters.
        noise_multiplier: dp_train_step adds noise of this many times the clip norm to the sum of gradients; 0: none.
        seed: of the random key.
        options: the model's options that the user set.
    """

    variant: str = "grad"
    jit: bool = True
    xla: bool = True
    vectorize: bool = True
    learning_rate: float = 0.1
    l2_norm_clip: float = 1.0
    noise_multiplier: float = 1.1
    seed: int = 0
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

    def run_undumped(self) -> "dict[str, Any]":
        """Return one execution's outputs by name as numpy arrays, adding no module of this program to a dump.

        The program must have been built with the adapter's settings `UNDUMPED`.
        """


def function_name(model: str, settings: Settings) -> str:
    """Return the name of the compiled function, `<model>_<variant>`, by which its module is found in a dump.

    >>> function_name("my-model 2", Settings("grad"))
    'my_model_2_grad'
    >>> function_name("mlp", Settings("dp_train_step", vectorize=False))
    'mlp_dp_train_step_no_vectorize'
    """
    name = f"{model}_{settings.variant}"
    if settings.variant == "dp_train_step" and not settings.vectorize:
        name += "_no_vectorize"
    return "".join(character if character.isalnum() else "_" for character in name)


def variants_of(spec: Any) -> "tuple[str, ...]":
    """Return the variants that a model pair has: forward alone for one without a loss."""
    return VARIANTS if spec.loss else ("forward",)


def takes_key(spec: Any, variant: str) -> bool:
    """Say whether the compiled function's last argument is a random key."""
    return bool(spec.random) or variant == "dp_train_step"


def argument_names(spec: Any, variant: str, params: "dict[str, Any]") -> "list[str]":
    """Return the names of the compiled function's array arguments in the order in which both frameworks pass them."""
    names = [*sorted(params), "x"]
    if variant != "forward":
        names.append("y")
    if takes_key(spec, variant):
        names.append("key")
    return names
