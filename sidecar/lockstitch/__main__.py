"""The two commands: `lockstitch-sidecar` is the process that a host spawns, `lockstitch` is for people.

Invariant: nothing heavy is imported before the first reply.
"""

from __future__ import annotations

import os
import sys

from lockstitch import __version__
from lockstitch.settings import USAGE, UsageError, parse_arguments, settings_of_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from lockstitch.rpc.application import Application


def sidecar(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the sidecar on stdin and stdout; never returns."""
    try:
        arguments = parse_arguments(sys.argv[1:] if argv is None else argv)
        if arguments.wants is not None:
            _say(1, USAGE if arguments.wants == "help" else f"lockstitch {__version__}\n")
            os._exit(0)
        settings = settings_of_process(arguments)
    except UsageError as error:
        _say(2, f"lockstitch-sidecar: {error}\n")
        os._exit(2)
    from lockstitch.rpc.serve import serve

    os._exit(serve(settings, _load))


def _load() -> Application:
    from lockstitch.operations.plain_params import read_plain
    from lockstitch.operations.runtime import Runtime
    from lockstitch.operations.table import AT_ONCE, OPERATIONS, PLAIN_FORMS
    from lockstitch.rpc.application import ENDED_EARLY, Application
    from lockstitch_protocol.methods import METHODS

    return Application(METHODS, OPERATIONS, Runtime, ENDED_EARLY, AT_ONCE, PLAIN_FORMS, read_plain)


def _say(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return  # nobody listens


def main() -> int:
    """Run the `lockstitch` command; its exit status."""
    if sys.argv[1:2] == ["serve"]:
        sidecar(sys.argv[2:])
    if sys.argv[1:2] == ["read-rollouts"]:
        from lockstitch.timeline.index_worker import run as read_rollouts

        return read_rollouts(sys.argv[2:])
    from lockstitch.cli.main import main as run
    from lockstitch.cli.outcome import INTERRUPTED

    status = run(sys.argv[1:])
    if status == INTERRUPTED:
        from lockstitch.platform.interrupted import end_as_interrupted

        end_as_interrupted()
    return status


if __name__ == "__main__":
    sys.exit(main())
