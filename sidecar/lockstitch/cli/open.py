"""`lockstitch open`: a thread as a page for a browser."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from lockstitch.cli.export import new_path
from lockstitch.cli.local import Local
from lockstitch.cli.outcome import OK
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import harmless
from lockstitch.codec import encode


async def run(local: Local, options: argparse.Namespace, terminal: Terminal) -> int:
    """Write the page, and say where; the folder of its own is this user's alone."""
    thread_id = await local.known_thread_id(options.thread)
    if options.to is None:
        path = Path(tempfile.mkdtemp(prefix="lockstitch-")) / f"{thread_id}.html"
    else:
        path = Path(new_path(options.to))
    redact = not options.with_secrets
    found = await local.ask("thread/export", threadId=thread_id, format="html", path=str(path), redact=redact)
    if options.json:
        terminal.json(encode(found))
    else:
        terminal.line(harmless(found["path"]))
    if options.browser:
        import webbrowser

        webbrowser.open(path.as_uri())
    return OK
