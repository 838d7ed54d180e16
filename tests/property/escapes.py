"""Escapes from a workspace, made from a seed: by a name in a request, by what is on the disk or in our stores.

Each has a place outside with secrets, which inotify watches: whoever opens, reads or writes anything there is seen,
whatever name it came by.
"""

from __future__ import annotations

import asyncio
import base64
import ctypes
import json
import os
import random
import shutil
import socket
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstitch.cli.local import Local
from lockstitch.errors import LockstitchError
from lockstitch.operations.runtime import Runtime
from lockstitch.settings import RootChoice, Settings
from lockstitch_protocol.ids import new_id

CHECKPOINT = "agentSession/fileCheckpoint"
SECRET = b"SECRET of somebody else \xff\n" * 3

_READS = 0x1 | 0x20  # IN_ACCESS, IN_OPEN
_WRITES = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800  # modify, attrib, moves, create, deletes
_DIRECTORY = 0x40000000


class Watch:
    """Counts what is done to a directory tree, and to files by whatever name."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._fd = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._fd >= 0, "inotify"

    def add(self, root: Path, mask: int = _READS | _WRITES) -> None:
        for path in [root, *root.rglob("*")]:
            if not path.is_symlink():
                assert self._library.inotify_add_watch(self._fd, os.fsencode(path), mask) >= 0

    def take(self) -> tuple[int, int]:
        """(reads, writes) since the last look."""
        reads = writes = 0
        try:
            data = os.read(self._fd, 1 << 20)
        except BlockingIOError:
            return 0, 0
        at = 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            at += 16 + length
            if not mask & _DIRECTORY or mask & _WRITES:  # a directory that is merely opened on the way gives nothing
                reads, writes = reads + bool(mask & _READS), writes + bool(mask & _WRITES)
        return reads, writes

    def close(self) -> None:
        os.close(self._fd)


# -- by name ------------------------------------------------------------------------------------------------------
def _spelling(rng: random.Random, name: str) -> str:
    """A name as some file system takes it for the same."""
    changed = "".join(rng.choice([c.upper(), c.lower(), c]) for c in name)
    at = rng.randrange(1, len(changed))
    return rng.choice(
        [
            changed,
            changed[:at] + rng.choice(["\u200c", "\u200d", "\ufeff", "\u2060", "\u00ad"]) + changed[at:],
            changed + rng.choice([".", " ", "...", " .", "::$INDEX_ALLOCATION", ":x"]),
        ]
    )


def evil_name(rng: random.Random, outside: Path) -> str:
    """A path that leads out, or to what is not the user's."""
    inner = rng.choice(["victim", "sub/victim", "config", "hooks/post-checkout"])
    dots = "/".join([".."] * rng.randint(1, 3))
    device = rng.choice(["con", "NUL", "Aux", "prn.txt", "COM1", "lpt9.log", "NUL .txt", "conin$", "com\u00b9"])
    return rng.choice(
        [
            str(outside / "victim"),
            f"{dots}/{outside.name}/victim",
            f"sub/{dots}/../{outside.name}/victim",
            f"./sub/../../{outside.name}/victim",
            f"..\\{outside.name}\\victim",
            f"sub\\..\\..\\{outside.name}\\victim",
            f"a\0{inner}",
            f"{rng.choice('cdz')}:{rng.choice(['/', chr(92), ''])}victim",
            f"//server/share/{inner}",
            f"\\\\server\\share\\{inner}",
            f"\\\\?\\C:\\{inner}",
            f"{rng.choice(['', 'sub/'])}{device}",
            f"a.txt:{rng.choice(['stream', '$DATA', 'x:$DATA'])}" if rng.random() < 0.3 else "a.txt::$DATA",
            f"{rng.choice(['', 'sub/'])}{_spelling(rng, '.git')}/{inner}",
            f"{rng.choice(['', 'sub/'])}{_spelling(rng, '.lockstitch')}/{inner}",
            f"git~1/{inner}",
            f"~/{inner}",
            f"~root/{inner}",
            f"/proc/self/root{outside}/victim",
            f"sub./{inner}",
            "trailing. ",
            "",
            ".",
            "..",
            "sub/",
        ]
    )


# -- by what is on the disk ---------------------------------------------------------------------------------------
def _target(rng: random.Random, outside: Path) -> str:
    """What a planted link says: absolute or relative, straight or through another link."""
    return rng.choice([str(outside / "victim"), os.path.join("..", "..", outside.name, "victim")])


def plant_on(rng: random.Random, workspace: Path, file: Path, outside: Path) -> str:
    """Put something else where the file is, or where one of its folders is."""
    kind = rng.choice(["link", "folder link", "dangling", "fifo", "socket", "device", "hard link", "chain", "proc"])
    folders = [folder for folder in file.parents if workspace in folder.parents]
    if kind == "folder link" and folders:
        at = rng.choice(folders)
        at.rename(at.with_name("was"))
        at.symlink_to(outside if rng.random() < 0.5 else os.path.relpath(outside, at.parent))
        return kind
    file.unlink(missing_ok=True)
    match kind:
        case "link":
            file.symlink_to(_target(rng, outside))
        case "dangling":
            file.symlink_to(outside / "new file")
        case "chain":
            file.with_name("hop").symlink_to(outside / "victim")
            file.symlink_to("hop")
        case "proc":
            file.symlink_to(f"/proc/self/root{outside}/victim")
        case "fifo":
            os.mkfifo(file)
        case "socket":
            here = os.getcwd()
            os.chdir(file.parent)
            try:
                with socket.socket(socket.AF_UNIX) as made:
                    made.bind(file.name)
            finally:
                os.chdir(here)
        case "device" if os.geteuid() == 0:
            os.mknod(file, 0o20666, os.makedev(1, 5))
        case "folder link":
            file.symlink_to(_target(rng, outside))
            return "link"
        case _:
            os.link(outside / "victim", file)
            return "hard link"
    return kind


# -- by what is in our stores -------------------------------------------------------------------------------------
def plant_in_store(rng: random.Random, workspace: Path, outside: Path) -> str:
    """Put a link, or somebody else's content, where our own files are."""
    ours = workspace / ".lockstitch"
    places = [path for path in [ours, *ours.rglob("*")] if not path.is_symlink()]
    at = rng.choice(places)
    directory = at.is_dir()
    if not directory and rng.random() < 0.4:
        at.write_bytes(rng.choice([b"", SECRET, json.dumps({"path": "../x", "artifactVersions": "v"}).encode()]))
        return "content"
    if directory:
        shutil.rmtree(at)
    else:
        at.unlink()
    kind = rng.choice(["link", "fifo", "file", "dangling"])
    if kind == "link":
        at.symlink_to(outside if directory else outside / "victim")
    elif kind == "dangling":
        at.symlink_to(outside / "new")
    elif kind == "fifo":
        os.mkfifo(at)
    else:
        at.write_bytes(SECRET)
    return f"{kind} for {'folder' if directory else 'file'}"


def plant_journal(rng: random.Random, home: Path, workspace: Path, outside: Path, sha256: str, thread: str) -> str:
    """A journal, as of a boot that died, that says that a file outside was being restored."""
    path = rng.choice(
        [f"../{outside.name}/victim", str(outside / "victim"), ".git/config", f"sub/../../{outside.name}/victim"]
    )
    link = workspace / "planted"
    if rng.random() < 0.4:
        link.symlink_to(outside)
        path = "planted/victim"
    state = {"sha256": sha256, "mode": 0o600}
    was, to = rng.choice([(state, {}), ({}, state), (state, {"sha256": "0" * 64})])
    entry: dict[str, Any] = {"path": path, "was": was, "to": to, "token": rng.choice(["ab12", "../x", "0"])}
    if rng.random() < 0.3:
        entry["pathBase64"] = base64.b64encode(path.encode()).decode()
    told = {
        "version": 1,
        "restoreId": new_id("rewind"),
        "threadId": rng.choice([thread, "nobody", "../../x"]),
        "workspace": {"path": str(workspace)},
        "entries": [entry],
        "folders": [{"path": rng.choice([f"../{outside.name}/sub", "planted/sub"])}],
        "emptied": [{"path": rng.choice([f"../{outside.name}/sub", "planted/sub"])}],
    }
    (home / "journal" / f"{new_id('boot')}.{told['restoreId']}.json").write_text(json.dumps(told))
    return "journal"


@dataclass
class Escapes:
    """A runtime that is attacked."""

    root: Path
    counts: Counter[str] = field(default_factory=Counter[str])

    async def play(self, seeds: range) -> Counter[str]:
        """Raises AssertionError, with the seed, at the first byte that is touched outside."""
        settings = Settings(RootChoice(str(self.root / "home"), "argument", None))
        self._runtime = Runtime(settings, new_id("boot"))
        await self._runtime.start()
        self._local = Local(settings, self._runtime)
        try:
            for seed in seeds:
                await self._escape(seed)
        finally:
            await self._runtime.close()
        return self.counts

    async def _ask(self, method: str, **params: Any) -> Any:
        """The answer, or None for a refusal. Any other error is a failure."""
        try:
            return await asyncio.wait_for(self._local.ask(method, **params), 20)
        except LockstitchError as error:
            self.counts[f"refused: {error.kind}"] += 1
            return None

    async def _escape(self, seed: int) -> None:
        rng = random.Random(seed)
        base = self.root / str(seed)
        workspace, outside = base / "w", base / "outside"
        (outside / "sub").mkdir(parents=True)
        for name in ("victim", "sub/victim", "a.txt", "sub/a.txt"):
            (outside / name).write_bytes(SECRET)
        (workspace / "sub" / "deep").mkdir(parents=True)
        (workspace / ".git" / "hooks").mkdir(parents=True)
        (workspace / ".git" / "config").write_bytes(SECRET)
        thread = (await self._ask("thread/start", cwd=str(workspace)))["thread"]["id"]
        files = ["a.txt", "sub/a.txt", "sub/deep/a.txt"]
        for turn, data in (("turn1", b"1\n"), ("turn2", b"2\n" * 3000)):
            await self._append(thread, turn, "turn.started", {})
            for name in files:
                (workspace / name).write_bytes(data)
                await self._append(thread, turn, "artifact.snapshot", {"path": name})
            await self._append(thread, turn, "turn.completed", {})
        listed = (await self._ask(f"{CHECKPOINT}/list", sessionId=thread))["checkpoints"]
        name = rng.choice(files)
        evil = [evil_name(rng, outside) for _ in range(3)]
        way = rng.choice(["name", "disk", "disk", "store", "journal"])
        if way == "disk":
            kind = plant_on(rng, workspace, workspace / name, outside)
        elif way == "store":
            kind = plant_in_store(rng, workspace, outside)
        elif way == "journal":
            kind = plant_journal(rng, self.root / "home", workspace, outside, listed[0]["after"]["sha256"], thread)
        else:
            kind = "name"
        self.counts[f"planted: {kind}"] += 1
        watch = Watch()
        # A file that has a name inside may be read by it; what must not be is that it is written through it.
        watch.add(outside, _WRITES if kind == "hard link" else _READS | _WRITES)
        watch.add(workspace / ".git")
        try:
            await self._attack(rng, thread, listed, name, evil)
            reads, writes = watch.take()
        finally:
            watch.close()
        assert (reads, writes) == (0, 0), (seed, kind, evil, reads, writes)
        for place in (outside, workspace / ".git"):
            for file in place.rglob("*"):
                assert file.is_dir() or file.read_bytes() == SECRET, (seed, kind, file)
        assert len(list(base.rglob("victim"))) >= 2 and not (base / "x").exists()
        shutil.rmtree(base)

    async def _attack(self, rng: random.Random, thread: str, listed: list[Any], name: str, evil: list[str]) -> None:
        await self._append(thread, "turn3", "turn.started", {})
        own = [checkpoint for checkpoint in listed if checkpoint["path"] == name]
        moves: list[Callable[[], Any]] = []
        for path in [*evil, name]:
            exact = {"pathBase64": base64.b64encode(path.encode("utf-8", "surrogatepass")).decode()}
            told = rng.choice([{"path": path}, exact])
            given = rng.choice([{}, {"content": "x"}, {"op": "deleted"}, {"oldPath": rng.choice(evil), "content": "x"}])
            moves += [
                lambda told=told, given=given: self._append(thread, "turn3", "artifact.snapshot", {**told, **given}),
                lambda path=path: self._ask(f"{CHECKPOINT}/capture", sessionId=thread, paths=[path]),
                lambda path=path: self._ask(f"{CHECKPOINT}/list", sessionId=thread, path=path),
                lambda path=path: self._act("rewind", thread, rng, toTurnId="turn1", paths=[path]),
            ]
        for checkpoint in own:
            key = checkpoint["checkpointId"]
            moves += [
                lambda key=key: self._act("restore", thread, rng, checkpointId=key),
                lambda key=key: self._act("restore", thread, rng, checkpointId=key, side="before"),
                lambda key=key: self._ask(f"{CHECKPOINT}/get", sessionId=thread, checkpointId=key),
                lambda key=key: self._ask(f"{CHECKPOINT}/diff", sessionId=thread, checkpointId=key, against="live"),
            ]
        moves.append(lambda: self._act("rewind", thread, rng, toTurnId="turn1", position="before"))
        moves.append(lambda: self._ask("evidence/export", sessionId=thread))
        rng.shuffle(moves)
        for move in moves[: rng.randint(8, 16)]:
            answer = await move()
            self.counts["moves"] += 1
            assert b"SECRET of" not in json.dumps(answer, default=str).encode(), answer
        rewinds = await self._ask("thread/events/list", threadId=thread, limit=5000)
        for event in rewinds["data"]:
            if event["type"] == "thread.rewound" and rng.random() < 0.5:
                await self._act("undo", thread, rng, rewindId=event["eventId"])

    async def _act(self, kind: str, thread: str, rng: random.Random, **params: Any) -> Any:
        backup = rng.choice(["refuse", "backup"])
        return await self._ask(
            f"{CHECKPOINT}/{kind}", sessionId=thread, confirmRestore=True, onConflict=backup, **params
        )

    async def _append(self, thread: str, turn: str, type_: str, payload: dict[str, Any]) -> Any:
        events = [{"type": type_, "payload": payload}]
        return await self._ask("agentSession/runtimeEvents/append", sessionId=thread, turnId=turn, runtimeEvents=events)
