"""From the arguments of `lockstitch` to its exit status.

Invariant: whoever stops reading the output ends the command quietly.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from lockstitch.cli import outcome, terminal
from lockstitch.cli.arguments import VERBS, parser
from lockstitch.cli.grammar import HelpWantedError, Verb


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit status."""
    if argv and argv[0] == "--complete":  # what the scripts of `lockstitch completion` ask
        from lockstitch.cli.completion import complete

        return complete(argv[1:], terminal.of_process())
    try:
        options = _options(argv)
    except outcome.BadArgumentsError as error:
        return outcome.report(error, as_json="--json" in argv)
    except SystemExit:  # the version was asked for, and said
        return outcome.OK
    logging.getLogger("lockstitch").addHandler(logging.NullHandler())
    verb = VERBS[options.verb]
    follows = getattr(options, "follow", False)
    shown = terminal.of_process(
        options.color, paged=verb.paged and not options.no_pager and not options.json and not follows
    )
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
    from lockstitch.cli.help import unheard

    words = [word for word in argv if not word.startswith("-")]
    try:
        if not argv:
            raise HelpWantedError(None)
        options = parser().parse_args(argv)
    except HelpWantedError as wanted:
        options = argparse.Namespace(verb="help", command=wanted.verb)
    except outcome.BadArgumentsError:
        if words and words[0] not in VERBS and argv[0] == words[0]:
            raise unheard(words[0]) from None
        raise
    for name, default in (("json", False), ("data_dir", None), ("color", "auto"), ("no_pager", False)):
        setattr(options, name, getattr(options, name, default))
    return options


def _end_quietly(shown: terminal.Terminal) -> None:
    try:
        shown.end()
    except OSError:
        terminal.let_go_of_stdout()


def _perform(verb: Verb, options: argparse.Namespace, shown: terminal.Terminal) -> int:
    if verb.name == "serve":
        raise outcome.BadArgumentsError("put `serve` first: lockstitch serve --data-dir DIR")
    module = import_module(f"lockstitch.cli.{verb.module or verb.name}")
    if verb.alone:
        return module.run(options, shown)
    return asyncio.run(_in_process(module.run, options, shown))


async def _in_process(run: Any, options: argparse.Namespace, shown: terminal.Terminal) -> int:
    from lockstitch.cli.local import opened

    async with opened(options.data_dir) as local:
        return await run(local, options, shown)
