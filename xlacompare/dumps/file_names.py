"""What the name of a file that XLA dumped says, in every era from 2020 to 2026.

    [timestamp.]module_NNNN[.module name][.cl_N].suffix

The module name may hold dots itself (TensorFlow ends it in a number), is missing in 2020 and wherever the whole name
would have passed 255 characters, and the platform stands inside the suffix: `cpu_after_optimizations`,
`sm_8.9_gpu_after_optimizations`, `gfx942_gpu_after_optimizations`. A glob such as `*after_optimizations*.txt` takes
the reports as well; only the pattern below decides what is HLO text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMPRESSED = (".gz",)

_TARGET = r"(?:sm_\d+(?:\.\d+)?[a-z]?|gfx\w+)"
# A platform takes no dot: `….8.cpu_after_optimizations` has the module name's own number in front of it.
_AFTER = rf"(?:(?:(?P<target>{_TARGET})_)?(?P<platform>[a-z]+)_)?after_optimizations"
_HEAD = re.compile(r"(?:(?P<timestamp>\d{10,})\.)?module_(?P<id>\d+)(?=\.|$)")
_STAGE = re.compile(rf"(?:^|\.)(?:before_optimizations|{_AFTER})(?P<rest>[-_][A-Za-z_-]+)?(?P<end>\.(?:top_level\.)?[a-z]+(?:\.[a-z]+)?)?$")
_PASS = re.compile(r"(?:^|\.)(?P<step>\d{4})\.(?P<pipeline>[^.]+)\.(?P<passes>(?:after|before)_.+)\.(?P<end>txt|hlo\.pb|dot|html)$")
_CHANGELIST = re.compile(r"(?:^|\.)cl_\d+$")

# The suffix of a file that belongs to a module and is no stage's text, and what it is.
_OTHER = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(?:^|\.)debug_options$", "debug_options"),
        (r"(?:^|\.)thunk_schedule$", "thunks"),
        (r"(?:^|\.)thunk_sequence(?:_\w+)?\.txt$", "thunks"),
        (r"(?:^|\.)[A-Za-z_][\w-]*(?:\.\d+)*_kernel_module\.ir-(?:no|with)-opt[\w-]*\.ll$", "llvm_ir"),
        (r"(?:^|\.)[A-Za-z_][\w-]*(?:\.\d+)*_kernel_module-[\w-]+\.mlir$", "mlir"),
        (r"(?:^|\.)(?:__compute_module[\w.-]*\.)?ir-(?:no|with)-opt[\w-]*\.ll$|(?:^|\.)ll$", "llvm_ir"),
        (r"(?:^|\.)obj-file\..+\.o$", "object"),
        (r"(?:^|\.)(?:ptx|cubin|hsaco)$", "device_code"),
        (r"(?:^|\.)snapshot\.\w+\.pb$|hlo_(?:unoptimized_)?snapshot\.pb(?:txt)?$", "snapshot"),
        (r"(?:^|\.)(?:hlo\.pb|pb)$", "proto"),
        (r"(?:^|\.)metadata\.textproto$|(?:^|\.)config\.pbtxt$", "metadata"),
        (r"(?:^|\.)(?:top_level\.|_fusion\.)?html$", "html"),
        (r"(?:^|\.)dot$", "dot"),
        (r"(?:^|\.)url$", "url"),
        (r"(?:^|\.)(?:[a-z-]*\.)?mlir(?:-passes\.log)?$", "mlir"),
        (r"(?:^|\.)fdo_profile$", "profile"),
    )
)
_REPORTS = {
    "-buffer-assignment": "buffer_assignment",
    "-buffer-assignment-values": "buffer_values",
    "-live-range": "live_range",
    "-memory-usage-report": "memory_usage",
}
_ENDS = {".hlo.pb": "proto", ".pb": "proto", ".dot": "dot", ".html": "html", ".top_level.html": "html", ".url": "url"}


@dataclass(frozen=True, slots=True)
class FileName:
    """A dumped file's name, taken apart.

    Attributes:
        module_id: the number after `module_`; a module's two texts may have different ones.
        module_name: None where the name of the file has lost it.
        kind: "hlo" for a text that is a module before or after all optimizations, "pass" for a text between two
            passes, "stage" for another whole-module text that is not to be counted; else what it is: "memory_usage",
            "buffer_assignment", "buffer_values", "live_range", "debug_options", "thunks", "llvm_ir", "object", "device_code",
            "proto", "snapshot", "metadata", "dot", "html", "url", "mlir", "profile", "other".
        stage: "before", "after", or None where the file belongs to neither.
        platform: "cpu", "gpu", …, None where the name does not say.
        target: the device's architecture, "sm_8.0" or "gfx942", None where the name does not say.
        timestamp: microseconds since 1970 in front of the name, None without.
    """

    module_id: int
    module_name: str | None
    kind: str
    stage: str | None = None
    platform: str | None = None
    target: str | None = None
    timestamp: int | None = None

    @property
    def is_module_text(self) -> bool:
        """Whether the file is HLO text of one of the two stages that are compared."""
        return self.kind == "hlo"


def parse_file_name(name: str) -> FileName | None:
    """Return what the name of a dumped file says, or None if XLA does not name files so.

    >>> parse_file_name("module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt")
    FileName(module_id=1, module_name='jit_f', kind='hlo', stage='after', platform='gpu', target='sm_8.0', timestamp=None)
    >>> parse_file_name("module_0004.before_optimizations.txt").module_name is None
    True
    """
    head = _HEAD.match(name)
    if head is None:
        return None
    module_id = int(head["id"])
    timestamp = int(head["timestamp"]) if head["timestamp"] else None
    rest = name[head.end() + 1 :]
    for end in COMPRESSED:
        rest = rest.removesuffix(end)

    def made(prefix: str, kind: str, **more: str | None) -> FileName:
        module_name = _CHANGELIST.sub("", prefix) or None
        return FileName(module_id, module_name, kind, timestamp=timestamp, **more)

    if match := _PASS.search(rest):
        return made(rest[: match.start()], "pass" if match["end"] == "txt" else "other")
    if match := _STAGE.search(rest):
        stage = "before" if "before_optimizations" in match[0].split("after_optimizations")[0] else "after"
        kind = _stage_kind(match["rest"] or "", match["end"] or "")
        return made(
            rest[: match.start()],
            kind,
            stage=stage if kind == "hlo" or kind in _ENDS.values() else None,
            platform=match["platform"],
            target=match["target"],
        )
    for pattern, kind in _OTHER:
        if match := pattern.search(rest):
            return made(rest[: match.start()], kind)
    return made(rest, "other")


def _stage_kind(rest: str, end: str) -> str:
    if rest in _REPORTS:
        return _REPORTS[rest]
    if end == ".txt":
        return "hlo" if not rest else "stage"
    return _ENDS.get(end, "other")
