"""The arguments of every command: one parser, built from one table.

Invariant: building it imports nothing but argparse; what a command needs is imported when it runs.
"""

from __future__ import annotations

import argparse

from lockstitch import __version__

_EPILOG = """\
exit status: 0 done; 1 it did not come about (not found, refused, nothing to show); 2 the arguments or the
data root cannot be used; 70 an internal error.

A thread or checkpoint may be named by any beginning of its id that no other one shares.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="write JSON, for programs")
    common.add_argument(
        "--data-dir", metavar="DIR", default=argparse.SUPPRESS, help="the data root (else by the rule in README.md)"
    )
    whole = argparse.ArgumentParser(
        prog="lockstitch",
        description="Keeps what AI agents did: threads, turns, items and the files that they changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
    )
    whole.add_argument("--version", action="version", version=f"lockstitch {__version__}")
    verbs = whole.add_subparsers(dest="verb", metavar="COMMAND", required=True)

    def verb(name: str, summary: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", parents=[common])

    demo = verb("demo", "show what it does: record, import, kill without warning, find everything again")
    demo.add_argument("--keep", action="store_true", help="leave the demo's folder behind and say where it is")

    verb("serve", "serve a host on standard input and output; `lockstitch serve --help` lists its options")

    call = verb("call", "call a method of the protocol in this process and write its result as JSON")
    call.add_argument("method", metavar="METHOD", nargs="?", help="such as thread/list")
    call.add_argument(
        "params", metavar="JSON", nargs="?", default="{}", help="its params, or - to read them (default {})"
    )
    call.add_argument("--list", action="store_true", help="list the methods instead")

    threads = verb("threads", "list the threads, the last used first")
    threads.add_argument("--limit", type=_count, default=25, metavar="N", help="at most so many (default 25)")
    threads.add_argument("--all", action="store_true", help="all of them")
    threads.add_argument("--archived", action="store_true", help="the archived ones")
    threads.add_argument("--cwd", metavar="DIR", help="only those of this workspace")
    threads.add_argument("--search", metavar="TEXT", help="only those whose name or first message contains it")

    show = verb("show", "show what happened in a thread")
    show.add_argument("thread", metavar="THREAD")
    show.add_argument("--turn", metavar="N", help="only this turn, by its number or the beginning of its id")
    show.add_argument("--full", action="store_true", help="long outputs and diffs too")

    checkpoints = verb("checkpoints", "list the file checkpoints of a thread, the newest first")
    checkpoints.add_argument("thread", metavar="THREAD")
    checkpoints.add_argument("--path", metavar="FILE", help="only those of this file")

    diff = verb("diff", "show what a file checkpoint changed; into a pipe, as a patch that applies")
    diff.add_argument("thread", metavar="THREAD")
    diff.add_argument("checkpoint", metavar="CHECKPOINT", help="its id, or a file's path for its newest one")
    diff.add_argument("--live", action="store_true", help="how the file on the disk differs from it now")
    diff.add_argument("--context", type=_number, default=3, metavar="N", help="lines around a change (default 3)")

    imports = verb("import", "take over sessions that other tools wrote (Codex, Claude Code)")
    imports.add_argument("paths", metavar="PATH", nargs="+", help="a session file, or a folder with sessions in it")

    verb("doctor", "say where everything is, whether it is sound, and what to do if not")

    verb("self-test", "try out whether this installation works on this machine")
    return whole


def _number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise argparse.ArgumentTypeError(f"a whole number, not {text!r}")


def _count(text: str) -> int:
    number = _number(text)
    if number == 0:
        raise argparse.ArgumentTypeError("at least 1")
    return number
