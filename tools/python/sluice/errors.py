"""Problems, and the exceptions that carry them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

from .keywords import in_python, keywords_of


@dataclass(frozen=True)
class Node:
    """A node of the ONNX graph. `index` is its position in the graph."""
    index: int
    name: str
    op: str
    source: Optional[str] = None

    def __str__(self) -> str:
        return f'node {self.index} "{self.name}" ({self.op})'


@dataclass(frozen=True)
class ChainStep:
    """One step of the reasoning that leads to a conflict of data dimensions."""
    node: Node
    tensor: str
    shape: Tuple[int, ...]
    data_dim: Optional[int]
    why: str


@dataclass(frozen=True)
class Fix:
    """A way to solve a problem. `flag` is the command line option that does it, if there is one. `cycles` are those of
    one inference of the program with this fix, `extra_cycles` how many more than with the problem's cheapest fix."""
    text: str
    flag: Optional[str]
    verified: bool
    cycles: Optional[int]
    extra_cycles: Optional[int]

    @property
    def keywords(self) -> Dict[str, Any]:
        """The fix as keywords of `compile`; empty if none does it."""
        return keywords_of(self.flag or "")


@dataclass(frozen=True)
class Problem:
    """One problem. `sluice.explain(problem.code)` returns the page of its code. `kind` is "model", "program", "argument" or
    "run"."""
    code: str
    message: str
    rule: Optional[str] = None
    node: Optional[Node] = None
    notes: Tuple[str, ...] = ()
    chain: Tuple[ChainStep, ...] = ()
    fixes: Tuple[Fix, ...] = ()
    kind: str = "run"

    def __str__(self) -> str:
        where = f", at {self.node}" if self.node else ""
        return f"{self.code}: {self.message}{where}"

    def _repr_html_(self) -> str:
        from .display import problem_html
        return problem_html(self)


class Error(Exception):
    """The base class of all errors. `code` is the code of the first problem."""

    def __init__(self, text: str, problems: Sequence[Problem]) -> None:
        super().__init__(text)
        self.problems = tuple(problems)

    @property
    def code(self) -> str:
        return self.problems[0].code if self.problems else ""

    def _repr_html_(self) -> str:
        return "".join(problem._repr_html_() for problem in self.problems)


class CompileError(Error):
    """The model is malformed, not supported, rejected by a layout rule, or does not fit the target."""


class ProgramError(Error):
    """The program file is unreadable or not valid."""


class ArgumentError(Error, ValueError):
    """An argument is not valid."""


class KeywordError(ArgumentError, TypeError):
    """A call has an argument too many, one that is missing, or one with an unknown name."""


class RunError(Error):
    """The engine stalled, the program broke a rule of the machine, or the job was cancelled."""


# By the kind of the first problem.
_KINDS: Dict[str, Type[Error]] = {"model": CompileError, "program": ProgramError, "argument": ArgumentError, "run": RunError}

# The kinds of some sluice_rt_status.
_STATUS_KINDS = {2: "argument", 3: "program"}


def of_status(status: int, code: str, message: str) -> Error:
    """Returns the exception for a status of the C API."""
    kind = _STATUS_KINDS.get(status, "run")
    message = in_python(message)
    return _KINDS[kind](f"{code}: {message}" if code else message, [Problem(code, message, kind=kind)])


def printable(text: str) -> str:
    """Returns the text on one line, with control characters as the command writes them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() if ord(c) > 0xff else f"\\x{ord(c):02x}"
                   for c in text)


def argument(code: str, message: str, kind: "Type[ArgumentError]" = ArgumentError) -> ArgumentError:
    message = printable(message)
    return kind(f"{code}: {message}", [Problem(code, message, kind="argument")])


def of_problems(problems: Sequence[Problem], text: str) -> Error:
    """Returns the exception for the problems that a command reported."""
    kind: Type[Error] = _KINDS[problems[0].kind] if problems else CompileError
    return kind(text.rstrip() or "; ".join(map(str, problems)), problems)


def _node(entry: Dict[str, Any]) -> Node:
    return Node(entry["index"], entry["name"], entry["op"], entry.get("source"))


def flags_of(entries: List[Dict[str, Any]]) -> List[str]:
    """Returns the flags that the fixes of these problems name."""
    return [fix["flag"] for one in entries for fix in one.get("fixes", ()) if fix.get("flag")]


def problems_of(entries: List[Dict[str, Any]]) -> Tuple[Problem, ...]:
    """Returns the problems in the member "errors" of a command's JSON."""
    flags = flags_of(entries)

    def spoken(text: str) -> str:
        return in_python(text, flags)

    return tuple(
        Problem(
            code=one["code"], message=spoken(one["message"]), rule=one.get("rule"),
            node=_node(one["node"]) if one.get("node") else None, notes=tuple(map(spoken, one.get("notes", ()))),
            chain=tuple(ChainStep(_node(step["node"]), step["tensor"], tuple(step["shape"]), step["data_dim"],
                                  spoken(step["why"])) for step in one.get("chain", ())),
            fixes=tuple(Fix(spoken(fix["text"]), fix.get("flag"), fix["verified"], fix.get("cycles"),
                            fix.get("extra_cycles"))
                        for fix in one.get("fixes", ())),
            kind=one["kind"])
        for one in entries)
