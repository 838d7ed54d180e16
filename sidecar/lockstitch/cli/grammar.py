"""What a command is made of: its arguments, its examples and what it says of itself, as plain tables.

Invariant: the parser, the help, the completion and `docs/cli.md` are all made from these tables, so that none of them
can know of something that another does not.
Invariant: importing this imports no more than argparse does; what a command needs is imported when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from lockstitch.cli.outcome import BadArgumentsError

Kind = Literal["", "threads", "turns", "checkpoints", "methods", "commands", "files", "folders"]
"""What may be completed: nothing, or values of this kind."""


@dataclass(frozen=True, slots=True)
class Value:
    """What an argument takes: how it is called in the help, and how its text is read."""

    name: str
    completes: Kind = ""
    read: Callable[[str], Any] = str
    """Text to value. Raises argparse.ArgumentTypeError with what it has to be."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `--name` is an option, `name` stands by its place. Without a value, an option is a switch."""

    name: str
    summary: str
    value: Value | None = None
    default: Any = None
    short: str = ""
    """A one-letter form, such as `-y`."""
    count: Literal["one", "optional", "many", "any"] = "one"

    @property
    def is_option(self) -> bool:
        """Whether it is given by name."""
        return self.name.startswith("--")

    @property
    def shown(self) -> str:
        """As it stands in the help: `--turn N`, `THREAD`, `PATH...`."""
        taken = "" if self.value is None else self.value.name
        if not self.is_option:
            return {"one": taken, "optional": f"[{taken}]", "many": f"{taken}...", "any": f"[{taken}...]"}[self.count]
        names = f"{self.short}, {self.name}" if self.short else self.name
        return f"{names} {taken}".rstrip()


@dataclass(frozen=True, slots=True)
class Example:
    """A command line that works, and what it is for. A test runs it, pipes too."""

    command: str
    what: str


@dataclass(frozen=True, slots=True)
class Verb:
    """One command."""

    name: str
    summary: str
    """What it does, as the end of the sentence `It can …`."""
    arguments: tuple[Argument, ...] = ()
    examples: tuple[Example, ...] = ()
    notes: tuple[str, ...] = ()
    """Paragraphs for whoever wants to know more."""
    module: str = ""
    """The module in this package whose `run` does it, if it is not called as the command is."""
    alone: bool = False
    """It opens no data root: `run(options, terminal)`, not `async run(local, options, terminal)`."""
    paged: bool | Callable[[argparse.Namespace], bool] = False
    """On a terminal, what does not fit on it goes through a pager; always, or with these options."""

    @property
    def usage(self) -> str:
        """`lockstitch show [OPTION]... THREAD`."""
        words = ["lockstitch", self.name, "[OPTION]..."]
        words += [argument.shown for argument in self.arguments if not argument.is_option]
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Group:
    """Commands that belong together."""

    title: str
    verbs: tuple[Verb, ...]


def _number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"a whole number, not {text!r}")


def _count(text: str) -> int:
    number = _number(text)
    if number == 0:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _something(text: str) -> str:
    if not text:  # what a shell makes of a variable that is not set; a path would mean the current directory
        raise argparse.ArgumentTypeError("it is empty")
    return text


THREAD = Value("THREAD", "threads", read=_something)
TURN = Value("TURN", "turns", read=_something)
CHECKPOINT = Value("CHECKPOINT", "checkpoints", read=_something)
METHOD = Value("METHOD", "methods")
COMMAND = Value("COMMAND", "commands")
PATH = Value("PATH", "files", read=_something)
FILE = Value("FILE", "files", read=_something)
FOLDER = Value("DIR", "folders", read=_something)
DATA_DIR = Value("DIR", "folders")
"""As with the environment, an empty one counts as not given."""
TEXT = Value("TEXT")
WORD = Value("WORD")
NAME = Value("NAME")
JSON = Value("JSON")
DAY = Value("DATE")
NUMBER = Value("N", read=_number)
COUNT = Value("N", read=_count)


def one_of(name: str, *choices: str) -> Value:
    """A value that is one of these words."""
    return Value(name, choices=choices)


COMMON: tuple[Argument, ...] = (
    Argument("--json", "write JSON, for programs; errors too, on standard error"),
    Argument("--data-dir", "the data root (else LOCKSTITCH_DATA_DIR, else the platform's own place)", DATA_DIR),
    Argument("--color", "colours: auto, always or never (auto)", one_of("WHEN", "auto", "always", "never")),
    Argument("--no-pager", "let a long output run through, instead of showing it page by page"),
    Argument("--help", "this", short="-h"),
)
"""What every command takes, before or behind its name."""

VERSION = Argument("--version", "the version")
COMMON_NAMES = frozenset(name for one in (*COMMON, VERSION) for name in (one.name, one.short) if name)


class Parser(argparse.ArgumentParser):
    """argparse's, but a mistake is an error like any other, and help is asked for by an exception."""

    def error(self, message: str) -> NoReturn:
        """Raise BadArgumentsError: what is wrong and where to read on."""
        about = self.prog.removeprefix("lockstitch").strip()
        raise BadArgumentsError(
            f"{about + ': ' if about else ''}{message}; `lockstitch help{' ' + about if about else ''}` says more"
        )


class HelpWantedError(Exception):
    """The arguments ask for help about this command, or about all (None)."""

    def __init__(self, verb: str | None) -> None:
        super().__init__(verb)
        self.verb = verb


class _Help(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> NoReturn:
        del namespace, values, option_string
        raise HelpWantedError(parser.prog.removeprefix("lockstitch").strip() or None)


class VersionWantedError(Exception):
    """The arguments ask for the version."""


class _Version(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> NoReturn:
        del parser, namespace, values, option_string
        raise VersionWantedError


def parser_of(groups: Sequence[Group]) -> Parser:
    """The parser of the whole command line. Its errors are BadArgumentsError and HelpWantedError."""
    common = Parser(add_help=False, allow_abbrev=False)
    for argument in COMMON[:-1]:
        _add(common, argument, default=argparse.SUPPRESS)
    whole = Parser(prog="lockstitch", add_help=False, allow_abbrev=False, parents=[common])
    whole.add_argument("-h", "--help", nargs=0, action=_Help)
    whole.add_argument("--version", nargs=0, action=_Version)
    verbs = whole.add_subparsers(dest="verb", metavar="COMMAND", required=True)
    for group in groups:
        for verb in group.verbs:
            one = verbs.add_parser(verb.name, add_help=False, allow_abbrev=False, parents=[common])
            one.add_argument("-h", "--help", nargs=0, action=_Help)
            for argument in verb.arguments:
                _add(one, argument, default=argument.default)
    return whole


def _add(parser: argparse.ArgumentParser, argument: Argument, default: Any) -> None:
    names = [argument.short, argument.name] if argument.short else [argument.name]
    if argument.value is None:
        given = False if default is None else default
        parser.add_argument(*names, action="store_true", default=given)
        return
    settings: dict[str, Any] = {
        "metavar": argument.value.name,
        "type": argument.value.read,
        "choices": argument.value.choices or None,
        "default": default,
    }
    if argument.count != "one":
        settings["nargs"] = {"optional": "?", "many": "+", "any": "*"}[argument.count]
    if argument.is_option and argument.count == "many":
        settings["nargs"], settings["action"] = None, "append"
    parser.add_argument(*names, **settings)
