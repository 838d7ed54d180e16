"""From the arguments of `lockstitch` to its exit status.

Invariant: whoever stops reading the output ends the command quietly.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from lockstitch.cli import outcome, terminal
from lockstitch.cli.arguments import VERBS, parser
from lockstitch.cli.grammar import COMMON_NAMES, HelpWantedError, Verb, VersionWantedError


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit status."""
    if argv and argv[0] == "--complete":  # what the scripts of `lockstitch completion` ask
        from lockstitch.cli.completion import complete

        return complete(argv[1:], terminal.of_process())
    try:
        options = _options(argv)
    except outcome.BadArgumentsError as error:
        return outcome.report(error, as_json="--json" in argv)
    verb = VERBS[options.verb]
    paged = verb.paged(options) if callable(verb.paged) else verb.paged
    shown = terminal.of_process(options.color, paged=paged and not options.no_pager and not options.json)
    try:
        status = _perform(verb, options, shown)
        shown.end()
    except BrokenPipeError:
        _end_quietly(shown)
        return outcome.OK
    except BaseException as error:
        _end_quietly(shown)
        return outcome.report(error, as_json=options.json)
    return status


def _options(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments, with a value for every common one. Raises BadArgumentsError."""
    from lockstitch.cli.help import unheard, unwanted

    switches = {"json": "--json" in argv, "no_pager": "--no-pager" in argv}
    try:
        if not argv:
            raise HelpWantedError(None)
        options, rest = parser().parse_known_args(argv)
    except HelpWantedError as wanted:
        options, rest = argparse.Namespace(verb="help", command=wanted.verb, **switches), []
    except VersionWantedError:
        options, rest = argparse.Namespace(verb="help", command=None, version=True, **switches), []
    except outcome.BadArgumentsError:
        if not argv[0].startswith("-"):
            if argv[0] not in VERBS:
                raise unheard(argv[0]) from None
        elif argv[0].partition("=")[0] not in COMMON_NAMES:
            raise unwanted(None, argv[0]) from None
        raise
    if rest:
        raise unwanted(VERBS[options.verb], rest[0])
    for name, default in (("json", False), ("data_dir", None), ("color", "auto"), ("no_pager", False)):
        setattr(options, name, getattr(options, name, default))
    return options


def _end_quietly(shown: terminal.Terminal) -> None:
    try:
        shown.end()
    except (OSError, terminal.OutputError):
        terminal.let_go_of_stdout()


def _perform(verb: Verb, options: argparse.Namespace, shown: terminal.Terminal) -> int:
    if verb.name == "serve":
        raise outcome.BadArgumentsError("put `serve` first: lockstitch serve --data-dir DIR")
    module = import_module(f"lockstitch.cli.{verb.module or verb.name}")
    import logging  # with asyncio two thirds of what a start costs that needs neither

    logging.getLogger("lockstitch").addHandler(logging.NullHandler())
    if verb.alone:
        return module.run(options, shown)
    import asyncio

    return asyncio.run(_in_process(module.run, options, shown))


async def _in_process(run: Any, options: argparse.Namespace, shown: terminal.Terminal) -> int:
    from lockstitch.cli.local import opened

    async with opened(options.data_dir) as local:
        status = await run(local, options, shown)
        shown.settle()
        return status
