"""From the arguments of `lockstitch` to its exit status.

Invariant: whoever stops reading the output ends the command quietly.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import Sequence

from lockstitch.cli import outcome, terminal
from lockstitch.cli.arguments import parser


def main(argv: Sequence[str]) -> int:
    """Run one command; its exit status."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:  # argparse has said what was wrong, or the help
        return end.code if isinstance(end.code, int) else outcome.USAGE
    options.json = getattr(options, "json", False)
    options.data_dir = getattr(options, "data_dir", None)
    logging.getLogger("lockstitch").addHandler(logging.NullHandler())
    shown = terminal.of_process()
    try:
        status = _perform(options, shown)
        shown.flush()
    except BrokenPipeError:
        terminal.let_go_of_stdout()
        return outcome.OK
    except BaseException as error:
        try:
            shown.flush()
        except OSError:
            terminal.let_go_of_stdout()
        return outcome.report(error, as_json=options.json)
    return status


def _perform(options: argparse.Namespace, shown: terminal.Terminal) -> int:
    if options.verb == "serve":
        raise outcome.BadArgumentsError("put `serve` first: lockstitch serve --data-dir DIR")
    if options.verb == "demo":
        from lockstitch.cli import demo

        return demo.run(options, shown)
    if options.verb == "self-test":
        from lockstitch.cli import self_test

        return self_test.run(options, shown)
    return asyncio.run(_in_process(options, shown))


async def _in_process(options: argparse.Namespace, shown: terminal.Terminal) -> int:
    from importlib import import_module

    from lockstitch.cli.local import opened

    modules = {"import": "imports"}
    verb = import_module(f"lockstitch.cli.{modules.get(options.verb, options.verb)}")
    async with opened(options.data_dir) as local:
        return await verb.run(local, options, shown)
