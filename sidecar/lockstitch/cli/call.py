"""`lockstitch call`: any method of the protocol, with params from the command line or standard input."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK, BadArgumentsError
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cut, escaped
from lockstitch.codec import ParseError, TooDeepError, decode, encode
from lockstitch.operations.table import OPERATIONS
from lockstitch_protocol.methods import METHODS


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Call the method; its result on standard output."""
    if options.list or options.method is None:
        _list_methods(options, terminal)
        return OK
    result = await local.call(options.method, _params(options.params))
    if terminal.is_terminal and not options.json:
        _show(result, terminal)
    else:
        terminal.json(result)
    return OK


def _list_methods(options: argparse.Namespace, terminal: Terminal) -> None:
    methods = [(name, METHODS[name].summary) for name in OPERATIONS]
    if options.json:
        terminal.json(encode({"methods": [{"method": name, "summary": summary} for name, summary in methods]}))
        return
    widest = max(len(name) for name, _ in methods)
    for name, summary in methods:
        terminal.line(f"{terminal.paint(name.ljust(widest), 'cyan')}  {cut(summary, terminal.width - widest - 2)}")


def _params(text: str) -> dict[str, Any]:
    content = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogatepass")
    try:
        value = decode(content)
    except (ParseError, TooDeepError) as error:
        raise BadArgumentsError(f"the params are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadArgumentsError('the params have to be a JSON object, such as \'{"threadId": "…"}\'')
    return value  # pyright: ignore[reportUnknownVariableType] - checked by the method's model


def _show(result: bytes, terminal: Terminal) -> None:
    """Indented, for people."""
    import msgspec

    terminal.line(escaped(msgspec.json.format(result, indent=2).decode("utf-8", "replace")))
