"""Random changes of an exported folder, of any byte of any file and of the files: `verify` has to find each."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

Change = Callable[[bytes, int, random.Random], bytes]


def _flip(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _delete(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at] + data[at + chance.choice((1, 1, 2, 17, 40)) :]


def _insert(data: bytes, at: int, chance: random.Random) -> bytes:
    return data[:at] + chance.choice((b"\n", b"\0", b"{", b'"', b" ", b"0", b"}\n", b"x" * 30)) + data[at:]


def _swap(data: bytes, at: int, chance: random.Random) -> bytes:
    """Two bytes of the file change places."""
    other = chance.randrange(len(data))
    changed = bytearray(data)
    changed[at], changed[other] = changed[other], changed[at]
    return bytes(changed)


def _turn(data: bytes, at: int, chance: random.Random) -> bytes:
    """The end comes first."""
    del chance
    return data[at:] + data[:at]


def _cut(data: bytes, at: int, chance: random.Random) -> bytes:
    del chance
    return data[:at]


def _repeat(data: bytes, at: int, chance: random.Random) -> bytes:
    """A part is there twice, whole lines among them."""
    end = data.find(b"\n", at) + 1 or len(data)
    start = data.rfind(b"\n", 0, at) + 1
    return data[:end] + data[start:end] + data[end:] if chance.random() < 0.5 else data[:at] + data[start:]


BYTES: dict[str, Change] = {
    "flip": _flip,
    "delete": _delete,
    "insert": _insert,
    "swap": _swap,
    "turn": _turn,
    "cut": _cut,
    "repeat": _repeat,
}


class Folder:
    """An exported folder that is changed and put back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = {
            found.relative_to(path).as_posix(): found.read_bytes() for found in path.rglob("*") if found.is_file()
        }
        self._names = sorted(self.files)

    def change(self, chance: random.Random) -> str:
        """One random change; what it was, or "" if it changed nothing."""
        if chance.random() < 0.12:
            return self._change_files(chance)
        name = chance.choice(self._names)
        data = self.files[name]
        kind, at = chance.choice(list(BYTES)), chance.randrange(len(data))
        changed = BYTES[kind](data, at, chance)
        if changed == data:
            return ""
        (self.path / name).write_bytes(changed)
        return f"{kind} of {name} at {at}"

    def _change_files(self, chance: random.Random) -> str:
        name, kind = (
            chance.choice(self._names),
            chance.choice(("remove", "add", "rename", "exchange", "link", "folder")),
        )
        path = self.path / name
        if kind == "remove":
            path.unlink()
        elif kind == "add":
            added = chance.choice(("extra.json", "files/" + "0" * 64, "files/x", ".hidden", "events.jsonl~"))
            (self.path / added).parent.mkdir(exist_ok=True)
            (self.path / added).write_bytes(self.files[name])
        elif kind == "rename":
            path.rename(path.with_name("renamed"))
        elif kind == "exchange":
            other = chance.choice(self._names)
            if self.files[other] == self.files[name]:
                return ""
            path.write_bytes(self.files[other])
        elif kind == "link":
            path.unlink()
            kept = self.path.parent / "kept"
            kept.write_bytes(self.files[name])
            os.symlink(kept, path)
        else:
            (self.path / chance.choice(("more", "files/more"))).mkdir(parents=True)
        return f"{kind} {name}"

    def restore(self) -> None:
        """As it was."""
        shutil.rmtree(self.path)
        for name, data in self.files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(data)
