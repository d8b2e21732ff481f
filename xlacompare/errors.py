"""Every error that xlacompare raises on purpose, one small tree.

A message is a fact, the value that was seen, and what to do. The command line prints the message alone and
ends with the class's `exit_code`; a traceback that reaches a user is a bug.
"""

from __future__ import annotations


class XlaCompareError(Exception):
    """The root: catch this to catch everything that xlacompare raises on purpose."""

    exit_code = 1


class UsageError(XlaCompareError, ValueError):
    """An argument, option, flag or name that the user gave cannot be used. Exit code 2."""

    exit_code = 2


class HloError(XlaCompareError, ValueError):
    """HLO text that cannot be read.

    Attributes:
        message: what was seen and what was expected, without the position.
        file: the file's path as given, or None for text from memory.
        line: 1-based line number, 0 where the whole file is meant.
        column: 1-based column, 0 where the whole line is meant.
        line_text: the line itself, for the caret; empty where there is none.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int = 0, column: int = 0, line_text: str = ""
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.line_text = line_text
        super().__init__(message)

    def __str__(self) -> str:
        where = self.file or "<text>"
        if self.line:
            where += f":{self.line}"
            if self.column:
                where += f":{self.column}"
        text = f"{where}: {self.message}"
        if not self.line_text:
            return text
        return f"{text}\n{caret_line(self.line_text, self.column)}"


class NotHloError(HloError):
    """The file is something else (StableHLO, LLVM IR, a protobuf, a picture, empty), named for what it is."""


class DumpError(XlaCompareError, RuntimeError):
    """A dump folder that cannot be used: empty, without the module meant, or already in use."""


class FrameworkMissing(XlaCompareError, ImportError):
    """A framework is not installed in the interpreter that was to run it; the message has the pip line."""


class ModelError(XlaCompareError, RuntimeError):
    """A model folder that cannot be used: a file missing, a name undefined, an exception inside it."""


class WorkerFailed(XlaCompareError, RuntimeError):
    """A child process crashed, was killed, hung past its limit or answered nonsense.

    Attributes:
        framework: "jax" or "tensorflow".
        stage: the last stage that the child reported ("import", "build", "compile", …).
        log_tail: the last lines of what it wrote to stdout and stderr.
    """

    def __init__(self, message: str, *, framework: str, stage: str, log_tail: str = "") -> None:
        self.framework = framework
        self.stage = stage
        self.log_tail = log_tail
        super().__init__(message)


class ParityError(XlaCompareError, ArithmeticError):
    """The two frameworks' outputs disagree, or hold NaN: nothing about them may be compared."""


class SchemaError(XlaCompareError, ValueError):
    """A JSON document of a kind or version that this xlacompare does not read."""


def caret_line(line_text: str, column: int, width: int = 100) -> str:
    """Return a line with a caret under 1-based `column`, cut to `width` around it.

    >>> print(caret_line("a = f32[] b", 5))
      a = f32[] b
          ^
    """
    column = max(column, 1)
    start = max(0, column - 1 - width // 2)
    shown = "".join(character if character.isprintable() else " " for character in line_text[start : start + width])
    return f"  {shown}\n  {' ' * (column - 1 - start)}^"
