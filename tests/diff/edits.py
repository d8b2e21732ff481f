"""Edits of HLO text whose effect on a diff is known beforehand."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace

_LINE = re.compile(r"\s+(ROOT )?%([\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\((.*)$")
_METADATA = re.compile(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\}')
_NAME = re.compile(r"%[\w.-]+")
SWAPPED_OPCODES = {
    "add": "subtract",
    "subtract": "add",
    "multiply": "divide",
    "maximum": "minimum",
    "divide": "multiply",
}


@dataclass(frozen=True)
class Line:
    """One instruction; `rest` is everything after the closing parenthesis of its operands."""

    name: str
    shape: str
    opcode: str
    operands: tuple[str, ...]
    inside: str
    rest: str
    root: bool

    def text(self) -> str:
        inside = ", ".join(f"%{name}" for name in self.operands) if self.operands else self.inside
        return f"  {'ROOT ' if self.root else ''}%{self.name} = {self.shape} {self.opcode}({inside}){self.rest}"


@dataclass
class Body:
    """One computation."""

    name: str
    entry: bool
    lines: list[Line] = field(default_factory=list)

    def line(self, name: str) -> Line:
        return next(line for line in self.lines if line.name == name)

    def users(self, name: str) -> list[Line]:
        return [line for line in self.lines if name in line.operands]

    def put(self, old: str, new: Line) -> None:
        self.lines[next(at for at, line in enumerate(self.lines) if line.name == old)] = new

    def reroute(self, old: str, new: str, users: list[str]) -> None:
        """Let `users` read `new` where they read `old`."""
        for at, line in enumerate(self.lines):
            if line.name in users:
                operands = tuple(new if operand == old else operand for operand in line.operands)
                self.lines[at] = replace(line, operands=operands)


@dataclass
class Program:
    """A module's text, taken apart as far as edits need it. Metadata is left out."""

    header: str
    bodies: list[Body]

    @property
    def entry(self) -> Body:
        return next(body for body in self.bodies if body.entry)

    def body(self, name: str) -> Body:
        return next(body for body in self.bodies if body.name == name)

    def text(self) -> str:
        parts = [self.header, ""]
        for body in self.bodies:
            parts.append(f"{'ENTRY ' if body.entry else ''}%{body.name} {{")
            parts += [line.text() for line in body.lines]
            parts += ["}", ""]
        return "\n".join(parts)

    def fusions(self) -> list[tuple[Line, Body]]:
        """Return the fusions of ENTRY, each with its computation."""
        found = []
        for line in self.entry.lines:
            called = re.search(r"calls=%([\w.-]+)", line.rest)
            if line.opcode == "fusion" and called:
                found.append((line, self.body(called[1])))
        return found


def take_apart(text: str) -> Program:
    """Return the program of a text as XLA prints it."""
    lines = text.splitlines()
    bodies: list[Body] = []
    for raw in lines[1:]:
        plain = re.sub(r"/\*index=\d+\*/", "", _METADATA.sub("", raw))
        head = re.match(r"(ENTRY )?%([\w.-]+) .*\{$", plain)
        if head:
            bodies.append(Body(head[2], bool(head[1])))
            continue
        match = _LINE.match(plain)
        if match and bodies:
            inside, _, rest = _split(match[5])
            operands = () if match[4] in ("parameter", "constant") else tuple(n[1:] for n in _NAME.findall(inside))
            bodies[-1].lines.append(Line(match[2], match[3], match[4], operands, inside, rest, bool(match[1])))
    name = re.match(r"HloModule ([^,]+)", lines[0])
    return Program(f"HloModule {name[1] if name else 'm'}, is_scheduled=true", bodies)


def _split(text: str) -> tuple[str, str, str]:
    depth = 0
    for at, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            if depth == 0:
                return text[:at], ")", text[at + 1 :]
            depth -= 1
    return text, "", ""


def renamed(program: Program, rng: random.Random) -> None:
    """Give every instruction and computation another name."""
    names: dict[str, str] = {}

    def fresh(match: re.Match[str]) -> str:
        return f"%{names.setdefault(match[0], f'n{rng.randrange(10**6)}.{len(names)}')}"

    for body in program.bodies:
        body.name = fresh(re.match(".*", f"%{body.name}"))[1:]  # type: ignore[arg-type]
        for at, line in enumerate(body.lines):
            operands = tuple(fresh(re.match(".*", f"%{one}"))[1:] for one in line.operands)  # type: ignore[arg-type]
            own = fresh(re.match(".*", f"%{line.name}"))[1:]  # type: ignore[arg-type]
            body.lines[at] = replace(line, name=own, operands=operands, rest=_NAME.sub(fresh, line.rest))


def reordered(program: Program, rng: random.Random) -> None:
    """Put instructions into another order that still defines them before use."""
    for body in program.bodies:
        waiting = list(body.lines)
        rng.shuffle(waiting)
        done: list[Line] = []
        names: set[str] = set()
        while waiting:
            ready = next(line for line in waiting if all(one in names for one in line.operands))
            waiting.remove(ready)
            done.append(ready)
            names.add(ready.name)
        body.lines = done


def reparametered(program: Program, rng: random.Random) -> None:
    """Number ENTRY's parameters anew."""
    at = [index for index, line in enumerate(program.entry.lines) if line.opcode == "parameter"]
    numbers = [program.entry.lines[index].inside for index in at]
    rng.shuffle(numbers)
    for index, number in zip(at, numbers, strict=True):
        program.entry.lines[index] = replace(program.entry.lines[index], inside=number)


def altered(program: Program, body: Body, name: str) -> None:
    """Exchange an operation's opcode for another of the same shape."""
    line = body.line(name)
    body.put(name, replace(line, opcode=SWAPPED_OPCODES[line.opcode]))


def revalued(program: Program, body: Body, name: str) -> None:
    """Give a constant another value."""
    line = body.line(name)
    body.put(name, replace(line, inside="0.734375" if line.shape.startswith("f32") else "3"))


def removed(program: Program, body: Body, name: str, operand: str) -> None:
    """Let everything that reads an operation read one of its operands instead."""
    body.reroute(name, operand, [line.name for line in body.users(name)])
    body.lines = [line for line in body.lines if line.name != name]


def duplicated(program: Program, body: Body, name: str, user: str) -> None:
    """Compute an operation twice, the second time for one of its users."""
    line = body.line(name)
    body.lines.insert(body.lines.index(line) + 1, replace(line, name=f"{name}.again", root=False))
    body.reroute(name, f"{name}.again", [user])


def split(program: Program, fusion: Line, body: Body, cut: str) -> tuple[str, str]:
    """Split a fusion in two: one that computes up to `cut`, one that goes on from there. Return their names."""
    first = Body(f"{body.name}.first", False, _needed(body, cut))
    first.lines = [replace(line, root=line.name == cut) for line in first.lines]
    at_cut = body.line(cut)
    root = next(line for line in body.lines if line.root)
    second = Body(f"{body.name}.second", False, list(body.lines))
    second.put(cut, replace(at_cut, opcode="parameter", operands=(), inside="99", rest=""))
    second.lines = _needed(second, root.name)
    entry = program.entry
    names = f"{fusion.name}.first", f"{fusion.name}.second"
    lines = []
    for half, name, shape in ((first, names[0], at_cut.shape), (second, names[1], fusion.shape)):
        operands = []
        for number, line in enumerate([one for one in half.lines if one.opcode == "parameter"]):
            operands.append(names[0] if line.inside == "99" else fusion.operands[int(line.inside)])
            half.put(line.name, replace(line, inside=str(number)))
        rest = f", kind=kLoop, calls=%{half.name}"
        lines.append(Line(name, shape, "fusion", tuple(operands), "", rest, fusion.root and half is second))
    position = entry.lines.index(fusion)
    entry.lines[position : position + 1] = lines
    entry.reroute(fusion.name, names[1], [line.name for line in entry.users(fusion.name)])
    program.bodies[:0] = [first, second]
    program.bodies.remove(body)
    return names


def _needed(body: Body, name: str) -> list[Line]:
    wanted = {name}
    for line in reversed(body.lines):
        if line.name in wanted:
            wanted.update(line.operands)
    return [line for line in body.lines if line.name in wanted]
