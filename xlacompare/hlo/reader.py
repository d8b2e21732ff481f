"""From a text to its modules: what stands at the outermost level, and which half of the reader takes it."""

from __future__ import annotations

import re
from pathlib import Path

from xlacompare.errors import NotHloError
from xlacompare.hlo import careful, fast
from xlacompare.hlo.attributes import value_end
from xlacompare.hlo.bare import implied_parameters
from xlacompare.hlo.collector import collector_paused
from xlacompare.hlo.computation import Body, Computation
from xlacompare.hlo.module import Module
from xlacompare.hlo.names import FreeNames
from xlacompare.hlo.sniff import decode, refuse_other_formats
from xlacompare.hlo.source import UNCLOSED, Source
from xlacompare.hlo.stack_frames import TABLE_NAMES

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_HEADER = re.compile(r"HloModule\s+([^\s,]+)[ \t]*([^\n]*)")
_TABLE = re.compile(
    r'(?:FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*\n(?:[ \t]*\d+[ \t]+["{][^\n]*(?:\n|\Z))*'
)
_SEPARATOR = re.compile(r"//\s*-{3,}\s*$", re.MULTILINE)
_STDOUT_MARK = re.compile(r"\*\*\* (?:Begin|End) [^\n]*")
_HEADER_ATTRIBUTE = re.compile(r",\s*([A-Za-z_][\w.-]*)\s*=\s*")
# A file that says it is HLO is taken for a module without computations where nothing can be read; any other is refused.
_HLO_SUFFIXES = (".hlo", ".hlo.gz", ".hlotxt")
# What loggers of absl, TSL and Python put in front of each line.
_LOG_PREFIX = re.compile(
    r"^(?:[IWEF]\d{4,8} \d\d:\d\d:\d+\.\d+\s[^\]\n]*\] "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] [^\]\n]*\] )",
    re.MULTILINE,
)


def read_file(path: str | Path, *, strict: bool = False) -> list[Module]:
    """Return the modules of an HLO text file, a `.gz` of one, or a protobuf of one (with TensorFlow
    installed).

    Args:
        path: the file.
        strict: raise on the first doubt instead of keeping a warning on the module.

    Raises:
        NotHloError: the file is something else, which the message names.
        HloError: no module could be read, or `strict` and there is a doubt.
        FrameworkMissing: a protobuf, and TensorFlow is not installed.
        OSError: the file cannot be opened.
    """
    path = Path(path)
    text = decode(path.read_bytes(), str(path))
    return read_text(text, file=str(path), strict=strict)


def read_text(text: str, *, file: str | None = None, strict: bool = False) -> list[Module]:
    """Return the modules of an HLO text, at least one.

    Args:
        text: one or several modules, with or without their HloModule lines.
        file: what errors and warnings call the text.
        strict: raise on the first doubt instead of keeping a warning on the module.

    Raises:
        NotHloError: the text is something else, which the message names.
        HloError: no module could be read, or `strict` and there is a doubt.
    """
    refuse_other_formats(text, file)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _LOG_PREFIX.search(text[:4096]) is not None:
        # Blanked rather than cut, so that columns stay those of the file.
        text = _LOG_PREFIX.sub(lambda found: " " * len(found.group()), text)
    source = Source(text, file, strict)
    with collector_paused():
        modules = _with_computations(_FileReader(source).read())
    if not modules:
        message = "no HLO in it: neither a HloModule line nor a computation"
        if strict or file is None or not file.endswith(_HLO_SUFFIXES):
            raise NotHloError(message, file=file)
        modules = [Module(source)]
        modules[0].doubt(0, message)
    for module in modules:
        module.finish()
        if strict:
            module.check()
    return modules


def _with_computations(modules: list[Module]) -> list[Module]:
    """Leave out modules of which only the header is there, unless there is nothing else."""
    whole = [module for module in modules if module.computations]
    for module in modules:
        if not module.computations:
            module.doubt(module.offset, f"module {module.name!r} has no computation")
            if whole:
                whole[0].adopt_warnings(module)
    return whole or modules[:1]


class _FileReader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.modules: list[Module] = []
        self.module: Module | None = None
        self.in_junk = False
        self.split_at = 0
        self.quick_from = 0
        # Names of the file's computations, for those that must be invented.
        self.names = FreeNames()

    def read(self) -> list[Module]:
        text, size = self.text, len(self.text)
        while True:
            blank = _BLANK.match(text, self.at)
            after = blank.end() if blank else self.at
            if self.module and "//" in text[self.at : after] and _SEPARATOR.search(text, self.at, after):
                self.split_at = len(self.module.computations)
            self.at = after
            if after >= size:
                break
            if self._item():
                self.in_junk = False
            else:
                self._skip_line()
        return self.modules

    def _item(self) -> bool:
        text, at = self.text, self.at
        if text.startswith("HloModule", at):
            return self._header()
        if self._quick_run():
            return True
        if text.startswith(TABLE_NAMES, at):
            table = _TABLE.match(text, at)
            if table is not None:
                self._current().add_table(table.group())
                self.at = table.end()
                return True
        if text.startswith("***", at):
            mark = _STDOUT_MARK.match(text, at)
            if mark is not None:
                self.module = None
                self.at = mark.end()
                return True
        # A quote in whatever stood before may have masked this; inside a masked string nothing can be read.
        if text[at : at + 5] == "ENTRY":
            self.source.remask(at)
        return self._computation() or self._bare_instructions()

    def _quick_run(self) -> bool:
        """Take as many computations in the printer's form as follow one another."""
        text, start = self.text, self.at
        while True:
            quick = fast.take_computation(text, self.at) if self.at >= self.quick_from else self.quick_from
            if isinstance(quick, int):
                self.quick_from = quick
                return self.at > start
            entry, name, signature, attributes, body_start, body_end, opcodes, self.at = quick
            computation = Computation(self._current(), name, opcodes, Body(body_start, body_end), signature, attributes)
            self._add(computation, bool(entry))

    def _current(self) -> Module:
        if self.module is None:
            self.module = Module(self.source)
            self.modules.append(self.module)
        return self.module

    def _header(self) -> bool:
        found = _HEADER.match(self.text, self.at)
        if found is None:
            return False
        self.split_at = 0
        line, end = found[2], found.end()
        plain = line.count('"') % 2 == 0 and "\\" not in line and line.count("{") == line.count("}")
        if line and (not plain or line[0] != "," or line.rstrip()[-1] in ",{"):
            self.source.remask(self.at)
            end = self._attributes_end(found.start(2))
        attributes = self.text[found.start(2) : end].strip()
        offset, self.at = self.at, end
        self.module = Module(self.source, found[1].removeprefix("%").removesuffix(":"), attributes, offset=offset)
        self.modules.append(self.module)
        return True

    def _computation(self) -> bool:
        header = careful.read_header(self.source, self.at)
        if header is None:
            return False
        close = self.source.brackets.close(header.brace)
        end = close if close != UNCLOSED else len(self.text)
        parsed = careful.read_body(self.source, header.brace + 1, end, self.names)
        if not parsed.rows and close == UNCLOSED:
            return False
        module = self._current()
        self._inline(parsed)
        stop = parsed.stop
        attribute_text = ""
        if stop < end or close == UNCLOSED:
            module.doubt(
                self.at,
                f"computation %{header.name} is never closed: the text breaks off or a brace is missing",
            )
            self.at = stop
        else:
            attributes_end = self._attributes_end(close + 1)
            attribute_text = self.text[close + 1 : attributes_end]
            self.at = attributes_end
        body = Body(header.brace + 1, stop, parsed.rows, parsed.offsets)
        computation = Computation(module, header.name, parsed.opcodes, body, header.signature, attribute_text)
        self._add(computation, header.is_entry)
        self._keep_doubts(parsed)
        return True

    def _attributes_end(self, at: int) -> int:
        while True:
            named = _HEADER_ATTRIBUTE.match(self.source.mask, at)
            stop = value_end(self.source.brackets, named.end()) if named else UNCLOSED
            if stop == UNCLOSED:
                return at
            at = stop

    def _bare_instructions(self) -> bool:
        """Instructions without a computation around them: XLA takes these too."""
        parsed = careful.read_body(self.source, self.at, len(self.text), self.names, is_bare=True)
        if not parsed.rows or parsed.offsets[0] != self.at:
            return False
        self._inline(parsed)
        parameters, rows = implied_parameters(parsed.rows, parsed.opcodes)
        body = Body(self.at, parsed.stop, parameters + rows, [self.at] * len(parameters) + parsed.offsets)
        opcodes = ["parameter"] * len(parameters) + parsed.opcodes
        computation = Computation(self._current(), "entry", opcodes, body)
        computation.is_bare = True
        computation.written_as = {row[1]: ("", "") for row in parameters}
        self._add(computation, False)
        self._keep_doubts(parsed)
        self.at = parsed.stop
        return True

    def _inline(self, parsed: careful.Parsed) -> None:
        """Read the computations that stood inside attributes, and those inside them."""
        waiting = list(parsed.inline)
        while waiting:
            inline = waiting.pop(0)
            inner = careful.read_body(self.source, inline.start, inline.end, self.names)
            waiting.extend(inner.inline)
            body = Body(inline.start, inline.end, inner.rows, inner.offsets)
            computation = Computation(self._current(), inline.name, inner.opcodes, body)
            computation.is_inline = True
            self._add(computation, False)
            self._keep_doubts(inner)

    def _keep_doubts(self, parsed: careful.Parsed) -> None:
        for offset, message in parsed.doubts:
            self._current().doubt(offset, message)

    def _add(self, computation: Computation, entry: bool) -> None:
        module = computation.module
        if computation.name in module.by_name:
            module.doubt(
                self.at,
                f"computation %{computation.name} is defined twice; the later one is meant by its name",
            )
        if entry and any(other.is_entry for other in module.computations):
            if any(other.is_entry for other in module.computations[: self.split_at]):
                module = self._split()
            else:
                module.doubt(self.at, "a second ENTRY computation; the first one is the module's entry")
        computation.module = module
        computation.is_entry = entry
        self.names.taken.add(computation.name)
        module.add(computation, entry=entry)

    def _split(self) -> Module:
        """Begin a module at the last `// -----` line: one without a HloModule line, as a second ENTRY shows."""
        before = self._current()
        self.module = Module(self.source)
        self.modules.append(self.module)
        for computation in before.take_from(self.split_at):
            computation.module = self.module
            self.module.add(computation, entry=computation.is_entry)
        self.split_at = 0
        return self.module

    def _skip_line(self) -> None:
        """Leave out a line that is no HLO; a warning for the first of several in a row."""
        if not self.in_junk and self.module is not None:
            self.module.doubt(self.at, "expected a computation; this is left out")
        self.in_junk = True
        line_end = self.text.find("\n", self.at)
        self.at = line_end + 1 if line_end >= 0 else len(self.text)
