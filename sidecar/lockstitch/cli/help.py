"""`lockstitch help`, and `--help` of each command: made from the tables, as wide as the terminal.

Invariant: the same words stand in `docs/cli.md`, which `reference.py` makes from the same tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from lockstitch.cli.grammar import COMMON, VERSION, Argument, Verb
from lockstitch.cli.outcome import OK, STATUSES, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import wrapped

SYNOPSIS = "Keeps what AI agents did: threads, turns, items and the files that they changed."
ABOUT_NAMES = (
    "A thread, turn or checkpoint may be named by any beginning of its id that no other one shares; a turn by its "
    "number, a checkpoint by the path of its file too."
)
_WIDEST = 100
_COLUMN = 24


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Say how a command is used, or which there are."""
    from lockstitch.cli.arguments import VERBS

    if getattr(options, "version", False):
        _version(options, terminal)
        return OK
    if options.json:
        _for_programs(options.command, terminal)
        return OK
    if options.command is None:
        terminal.lines(*overview(terminal))
        return OK
    verb = VERBS.get(options.command)
    if verb is None:
        raise unheard(options.command)
    terminal.lines(*manual(verb, terminal))
    return OK


def _version(options: argparse.Namespace, terminal: Terminal) -> None:
    from lockstitch import __version__

    if options.json:
        from lockstitch.codec import encode

        terminal.json(encode({"version": __version__}))
    else:
        terminal.line(f"lockstitch {__version__}")


def _for_programs(name: str | None, terminal: Terminal) -> None:
    from lockstitch.cli.arguments import VERBS
    from lockstitch.codec import encode

    if name is not None and name not in VERBS:
        raise unheard(name)
    described = [
        {
            "command": verb.name,
            "summary": verb.summary,
            "usage": verb.usage,
            "arguments": [{"argument": one.shown, "summary": one.summary} for one in (*verb.arguments, *COMMON)],
            "examples": [{"command": one.command, "what": one.what} for one in verb.examples],
        }
        for verb in VERBS.values()
        if name in (None, verb.name)
    ]
    terminal.json(encode({"commands": described, "exitStatus": {str(one): said for one, said in STATUSES.items()}}))


def unheard(name: str) -> BadArgumentsError:
    """There is no such command; which one may have been meant."""
    from difflib import get_close_matches

    from lockstitch.cli.arguments import VERBS

    near = get_close_matches(name, VERBS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`lockstitch help` lists them"
    return BadArgumentsError(f"there is no command {name!r}; {hint}")


def unwanted(verb: Verb | None, word: str) -> BadArgumentsError:
    """The command (or, None, the command line before one) takes no such argument; which one may have been meant."""
    from difflib import get_close_matches

    about = "" if verb is None else f" {verb.name}"
    said = f"{verb.name}: " if verb is not None else ""
    if not word.startswith("-") or word == "-":
        return BadArgumentsError(f"{said}{word!r} is one argument too many; `lockstitch help{about}` says more")
    name = word.partition("=")[0]
    options = [one.name for one in (*(verb.arguments if verb else ()), *COMMON) if one.is_option]
    near = get_close_matches(name, options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"`lockstitch help{about}` lists them"
    return BadArgumentsError(f"{said}there is no option {name}; {hint}")


def overview(terminal: Terminal) -> Iterator[str]:
    """All commands, a line each."""
    from lockstitch.cli.arguments import GROUPS

    yield "usage: lockstitch [OPTION]... COMMAND [ARGUMENT]..."
    yield ""
    yield from _paragraph(SYNOPSIS, terminal, 0)
    for group in GROUPS:
        if group.verbs:
            yield from _section(group.title, terminal)
            yield from _table([(verb.name, verb.summary) for verb in group.verbs], terminal, 15)
    yield from _section("Options", terminal)
    yield from _arguments((*COMMON, VERSION), terminal)
    yield ""
    yield from _paragraph(f"{ABOUT_NAMES} `lockstitch help COMMAND` has examples.", terminal, 0)


def manual(verb: Verb, terminal: Terminal) -> Iterator[str]:
    """All about one command."""
    yield f"usage: {verb.usage}"
    yield ""
    yield from _paragraph(f"{verb.summary[0].upper()}{verb.summary[1:]}.", terminal, 0)
    for note in verb.notes:
        yield ""
        yield from _paragraph(note, terminal, 0)
    placed = [argument for argument in verb.arguments if not argument.is_option]
    options = [argument for argument in verb.arguments if argument.is_option]
    for title, arguments in (("Arguments", placed), ("Options", options), ("Options of every command", COMMON)):
        if arguments:
            yield from _section(title, terminal)
            yield from _arguments(arguments, terminal)
    if verb.examples:
        yield from _section("Examples", terminal)
        for example in verb.examples:
            yield "  " + terminal.paint(example.command, "cyan")
            yield from _paragraph(example.what, terminal, 6)
    yield from _section("Exit status", terminal)
    yield from _table([(str(status), meaning) for status, meaning in STATUSES.items()], terminal, 8)


def _section(title: str, terminal: Terminal) -> Iterator[str]:
    yield ""
    yield terminal.paint(title, "bold")


def _arguments(arguments: Sequence[Argument], terminal: Terminal) -> Iterator[str]:
    yield from _table([(argument.shown, argument.summary) for argument in arguments], terminal, _COLUMN)


def _table(rows: Sequence[tuple[str, str]], terminal: Terminal, column: int) -> Iterator[str]:
    """Two columns; a left side that is too long gets a line of its own."""
    for left, right in rows:
        lines = list(wrapped(right, min(terminal.width, _WIDEST) - column))
        begin = "  " + terminal.paint(left, "cyan")
        if len(left) + 3 > column:
            yield begin
        else:
            yield begin + " " * (column - len(left) - 2) + lines.pop(0)
        for line in lines:
            yield " " * column + line


def _paragraph(text: str, terminal: Terminal, indent: int) -> Iterator[str]:
    for line in wrapped(text, min(terminal.width, _WIDEST) - indent):
        yield " " * indent + line
