"""The floors that are processes of their own: run as `python -I children.py NAME [ARGUMENT]`.

Each does the bare minimum of what the sidecar does with a line, in the same language.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading


def append(path: str) -> None:
    """Each line goes to a file, is synced, and comes back."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    rest = b""
    while got := os.read(0, 1 << 16):
        *lines, rest = (rest + got).split(b"\n")
        for line in lines:
            os.write(fd, line + b"\n")
            os.fdatasync(fd)
            os.write(1, line + b"\n")


def echo() -> None:
    """A thread reads, an event loop decodes each request and answers it."""
    import msgspec

    class Request(msgspec.Struct):
        id: int
        method: str

    decoder, encode = msgspec.json.Decoder(Request), msgspec.json.encode
    loop = asyncio.new_event_loop()

    def answer(lines: list[bytes]) -> None:
        os.write(1, b"".join([encode({"id": decoder.decode(line).id, "result": {}}) + b"\n" for line in lines]))

    def read() -> None:
        rest = b""
        while got := os.read(0, 1 << 16):
            *lines, rest = (rest + got).split(b"\n")
            if lines:
                loop.call_soon_threadsafe(answer, lines)
        loop.call_soon_threadsafe(loop.stop)

    threading.Thread(target=read, daemon=True).start()
    loop.run_forever()


def send() -> None:
    """Each line names a file, whose bytes come back as one line."""
    for line in sys.stdin.buffer:
        with open(line[:-1], "rb") as file:
            data = file.read()
        left = memoryview(data.replace(b"\n", b" ") + b"\n")
        while left:
            left = left[os.write(1, left[: 1 << 16]) :]


if __name__ == "__main__":
    {"append": append, "echo": echo, "send": send}[sys.argv[1]](*sys.argv[2:])
