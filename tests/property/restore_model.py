"""Random lives of a workspace against a model: agent, user, captures, restores, rewinds, undos, kills, restarts.

The runtime runs in this process. A kill is simulated at a point of the product (platform/faults.py): from there on
every point raises, so that nothing more reaches the disk, as of a dead process; then a new runtime starts.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstitch.artifacts.paths import path_from_wire, path_to_wire
from lockstitch.cli.local import Local
from lockstitch.errors import LockstitchError
from lockstitch.operations.runtime import Runtime
from lockstitch.platform import faults
from lockstitch.settings import RootChoice, Settings
from lockstitch_protocol.ids import new_id

CHECKPOINT = "agentSession/fileCheckpoint"
PATHS = ["a.txt", "d/b.txt", "d/e/c.bin", "公/é.txt", os.fsdecode(b"caf\xe9"), os.fsdecode(b"caf\xe8")]
"""The last two print alike."""
MODES = [0o644, 0o755, 0o600]


class DeadError(BaseException):
    """The process was killed."""


@dataclass
class Reaper:
    """Kills at the n-th point that is passed."""

    left: int = -1
    dead: bool = False

    def point(self, name: str, path: Any = "") -> None:
        if name == "answer":
            return  # whoever waits has to wake up, to find that everything else is over
        if self.dead:
            raise DeadError
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                self.dead = True
                raise DeadError


@dataclass(frozen=True)
class File:
    """What is, or was, at a path."""

    data: bytes
    mode: int | None

    def same(self, other: File | None) -> bool:
        if other is None or self.data != other.data:
            return False
        return self.mode is None or other.mode is None or self.mode == other.mode


State = File | None
UNKNOWN = "unknown"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_path(path: str) -> dict[str, str]:
    """Params of a list of one path's checkpoints."""
    told = path_to_wire(path)
    return {"pathBase64": told["pathBase64"]} if "pathBase64" in told else told


def path_of(told: dict[str, Any]) -> str:
    return path_from_wire(told["path"], told.get("pathBase64"))


@dataclass
class Life:
    """One sequence."""

    root: Path
    rng: random.Random
    counts: dict[str, int] = field(default_factory=dict)
    known: dict[str, State] = field(default_factory=dict)
    first: dict[str, State] = field(default_factory=dict)
    at_turn: dict[str, dict[str, State]] = field(default_factory=dict)
    checkpoints: list[tuple[str, str, State]] = field(default_factory=list)
    acts: list[tuple[str, dict[str, State]]] = field(default_factory=list)
    versions: dict[str, set[str]] = field(default_factory=dict)
    turn: str | None = None
    turns: int = 0
    visible: list[str] = field(default_factory=list)
    """The turns that are not rolled back."""
    log: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return self.root / "w"

    async def live(self, steps: int) -> None:
        self.reaper = Reaper()
        logging.disable(logging.CRITICAL)  # the dead complain
        faults.point = self.reaper.point
        try:
            self.workspace.mkdir()
            await self._start()
            opened = await self._ask("thread/start", cwd=str(self.workspace))
            self.thread = opened["thread"]["id"]
            await self._begin_turn()
            for _ in range(steps):
                await self._step()
            await self._restart()
            await self._judge()
        finally:
            faults.point = _no_point
            logging.disable(logging.NOTSET)
            await self._stop()

    async def _step(self) -> None:
        moves: list[tuple[int, Callable[[], Any]]] = [
            (6, self._agent_edit),
            (1, self._agent_delete),
            (4, self._user_edit),
            (1, self._user_delete),
            (2, self._capture),
            (2, self._next_turn),
            (4, self._restore),
            (4, self._rewind),
            (3, self._undo),
            (1, self._restart),
            (1, self._clean),
        ]
        move = self.rng.choices([move for _, move in moves], [weight for weight, _ in moves])[0]
        self.counts[move.__name__] = self.counts.get(move.__name__, 0) + 1
        await move()

    # -- the process ----------------------------------------------------------------------------------------------
    async def _start(self) -> None:
        settings = Settings(RootChoice(str(self.root / "home"), "argument", None))
        self.runtime = Runtime(settings, new_id("boot"))
        await self.runtime.start()
        self.local = Local(settings, self.runtime)

    async def _stop(self) -> None:
        await self.runtime.close()

    async def _restart(self) -> None:
        await self._stop()
        self.reaper.dead, self.reaper.left = False, -1
        await self._start()

    async def _ask(self, method: str, **params: Any) -> Any:
        return await self.local.ask(method, **params)

    # -- the disk -------------------------------------------------------------------------------------------------
    def disk(self, path: str) -> State:
        file = self.workspace / path
        if not file.is_file():
            return None
        return File(file.read_bytes(), file.stat().st_mode & 0o7777)

    def _put(self, path: str, data: bytes, mode: int) -> File:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        return File(data, mode)

    def _bytes(self) -> bytes:
        return self.rng.choice([b"", b"one\n", b"two\r\n", b"three", self.rng.randbytes(20), b"z" * 6000])

    # -- agent and user -------------------------------------------------------------------------------------------
    async def _begin_turn(self) -> None:
        self.turns += 1
        self.turn = f"turn{self.turns}"
        await self._append("turn.started", {})
        self.visible.append(self.turn)

    async def _next_turn(self) -> None:
        if self.turn is None:
            await self._begin_turn()
            return
        await self._append("turn.completed", {})
        self.at_turn[self.turn] = dict(self.known)
        self.turn = None

    async def _append(self, type_: str, payload: dict[str, Any]) -> None:
        events = [{"type": type_, "payload": payload}]
        await self._ask(
            "agentSession/runtimeEvents/append", sessionId=self.thread, turnId=self.turn, runtimeEvents=events
        )

    async def _agent_edit(self) -> None:
        if self.turn is None:
            return
        path = self.rng.choice(PATHS)
        before = self.disk(path)
        payload: dict[str, Any] = path_to_wire(path)
        told = before is None or path not in self.known or self.rng.random() < 0.5
        if before is None:
            payload["beforeAbsent"] = True
        elif told:
            payload["previousContentBase64"] = base64.b64encode(before.data).decode()
        after = self._put(path, self._bytes(), self.rng.choice(MODES))
        await self._append("artifact.snapshot", payload)
        if path not in self.known:
            self.first[path] = None if before is None else File(before.data, None)
        self.known[path] = after

    async def _agent_delete(self) -> None:
        path = self.rng.choice(PATHS)
        if self.turn is None or self.disk(path) is None or path not in self.known:
            return
        (self.workspace / path).unlink()
        await self._append("artifact.snapshot", {**path_to_wire(path), "op": "deleted"})
        self.known[path] = None

    async def _user_edit(self) -> None:
        self._put(self.rng.choice(PATHS), self._bytes(), self.rng.choice(MODES))

    async def _user_delete(self) -> None:
        (self.workspace / self.rng.choice(PATHS)).unlink(missing_ok=True)

    async def _clean(self) -> None:
        """`git clean -fdx`, as far as it is about us: what was recorded must not be lost."""
        shutil.rmtree(self.workspace / ".lockstitch", ignore_errors=True)

    async def _capture(self) -> None:
        paths = self.rng.sample(PATHS, self.rng.randint(1, len(PATHS)))
        await self._ask(f"{CHECKPOINT}/capture", sessionId=self.thread, **_by_name(paths))
        for path in paths:
            found = self.disk(path)
            if path not in self.known:
                self.first[path] = found
            if path not in self.known or not _same_bytes(found, self.known[path]):
                self.known[path] = found

    # -- acts -----------------------------------------------------------------------------------------------------
    async def _restore(self) -> None:
        listed = (await self._ask(f"{CHECKPOINT}/list", sessionId=self.thread))["checkpoints"]
        if not listed:
            return
        chosen = self.rng.choice(listed)
        side = self.rng.choice(["after", "after", "before"])
        reference = chosen.get(side)
        wanted: State | str = None
        if reference is not None:
            wanted = UNKNOWN
            if reference["contentStatus"] == "available":
                mode = reference.get("mode")
                data = await self._content(chosen["checkpointId"], side)
                assert sha(data) == reference["sha256"]
                wanted = File(data, None if mode is None else int(mode, 8))
        await self._act(
            "restore", {path_of(chosen): wanted}, checkpointId=chosen["checkpointId"], side=side, always=True
        )

    async def _content(self, checkpoint: str, side: str) -> bytes:
        got = await self._ask(
            f"{CHECKPOINT}/get", sessionId=self.thread, checkpointId=checkpoint, side=side, **{"as": "base64"}
        )
        return base64.b64decode(got["contentBase64"])

    async def _rewind(self) -> None:
        turns = [turn for turn in self.at_turn if turn in self.visible]
        if not turns:
            return
        turn = self.rng.choice(turns)
        then = self.at_turn[turn]
        wanted = {path: then.get(path, self.first.get(path)) for path in self.known}
        talk = {"conversation": True} if self.turn is None and self.rng.random() < 0.4 else {}
        if await self._act("rewind", dict(wanted), toTurnId=turn, touched_only=True, **talk) and talk:
            self.counts["conversation"] = self.counts.get("conversation", 0) + 1
            self.visible = self.visible[: self.visible.index(turn) + 1]
        await self._check_turns()

    async def _undo(self) -> None:
        if self.acts:
            act, before = self.rng.choice(self.acts)
            await self._act("undo", dict(before), rewindId=act)
            listed = await self._turns()
            # A conversation that went on is left alone; else turns come back, or go again by an undo of an undo.
            known = set(self.visible)
            assert set(listed) >= known or listed == self.visible[: len(listed)], (listed, self.visible, self.log)
            self.visible = listed

    async def _turns(self) -> list[str]:
        page = await self._ask("thread/turns/list", threadId=self.thread, limit=500, sortDirection="asc")
        return [turn["id"] for turn in page["data"]]

    async def _check_turns(self) -> None:
        """Both or neither: the conversation went back if and only if the files did."""
        assert await self._turns() == self.visible, self.log

    async def _act(
        self,
        kind: str,
        wanted: dict[str, Any],
        *,
        always: bool = False,
        touched_only: bool = False,
        **params: Any,
    ) -> bool:
        backup = self.rng.random() < 0.5
        params = {"sessionId": self.thread, "onConflict": "backup" if backup else "refuse", **params}
        plan = (await self._ask(f"{CHECKPOINT}/{kind}", dryRun=True, **params))["plan"]
        planned = {path_of(step) for step in plan}
        if touched_only:
            # What was not recorded since is left alone, whatever the disk holds.
            for path in set(wanted) - planned:
                known, want = self.known[path], wanted.pop(path)
                assert (known is None and want is None) or (want is not None and want.same(known)), path
        before = {path: self.disk(path) for path in PATHS}
        refusal = self._refusal(wanted, before, backup)
        self._check_foretold({step["action"] for step in plan}, refusal)
        self.log.append(f"{kind} {params} {sorted(wanted)}")
        killed = self.rng.random() < 0.4
        if killed:
            self.reaper.left = self.rng.randint(1, 120)
        done = False
        try:
            await self._ask(f"{CHECKPOINT}/{kind}", confirmRestore=True, **params)
            done = True
        except LockstitchError as error:
            assert error.kind == refusal or self.reaper.dead, (error.kind, refusal, self.log)
        except DeadError:
            pass
        self.reaper.left = -1
        if self.reaper.dead:
            self.counts["killed"] = self.counts.get("killed", 0) + 1
            await self._restart()
            if self.turn is not None:
                await self._append("host.note", {})  # the interrupted turn goes on
        events = (await self._ask("thread/events/list", threadId=self.thread, limit=5000))["data"]
        found = [event for event in events if event["type"] == "thread.rewound"]
        fresh = [event["eventId"] for event in found[self._acted :]]
        self._acted += len(fresh)
        assert len(fresh) <= 1 and (fresh or not done)
        if fresh:
            assert refusal is None, (refusal, self.log)
            self._check_done(wanted, before)
            changed = {path: before[path] for path in wanted if always or not _same(wanted[path], before[path])}
            self.acts.append((fresh[0], changed))
        else:
            assert {path: self.disk(path) for path in PATHS} == before, ("a refused or killed act", self.log)
        await self._nothing_lost(before)
        await self._learn(wanted, before, bool(fresh), backup)
        return bool(fresh)

    def _check_foretold(self, actions: set[str], refusal: str | None) -> None:
        """A dry run says whether the act would be refused, and why."""
        foretold = {"contentUnavailable": "unavailable", "conflict": "conflict"}.get(refusal or "")
        assert actions & {"unavailable", "conflict"} >= ({foretold} if foretold else set()), (
            actions,
            refusal,
            self.log,
        )
        assert foretold or not actions & {"unavailable", "conflict"}, (actions, refusal, self.log)

    _acted = 0

    def _refusal(self, wanted: dict[str, Any], before: dict[str, State], backup: bool) -> str | None:
        if any(want == UNKNOWN for want in wanted.values()):
            return "contentUnavailable"
        for path, want in wanted.items():
            live = before[path]
            if _same(want, live) or live is None or backup:
                continue
            if not _same_bytes(live, self.known.get(path)):
                return "conflict"
        return None

    def _check_done(self, wanted: dict[str, Any], before: dict[str, State]) -> None:
        for path in PATHS:
            want = wanted[path] if path in wanted else before[path]
            assert _same(want, self.disk(path)), (path, want, self.disk(path), self.log)

    async def _nothing_lost(self, before: dict[str, State]) -> None:
        """What was on the disk still is, or is in a version whose content can be had."""
        for path, was in before.items():
            now = self.disk(path)
            if was is None or (now is not None and now.data == was.data):
                continue
            listed = (await self._ask(f"{CHECKPOINT}/list", sessionId=self.thread, **of_path(path)))["checkpoints"]
            holding = [c for c in listed if (c.get("after") or {}).get("sha256") == sha(was.data)]
            assert holding, (path, was, self.log)
            assert await self._content(holding[0]["checkpointId"], "after") == was.data
        assert not list(self.workspace.rglob(".lockstitch-*")), "a staged file was left behind"
        assert not os.listdir(self.root / "home" / "journal")

    async def _learn(self, wanted: dict[str, Any], before: dict[str, State], done: bool, backup: bool) -> None:
        """What the timeline knows now, by its own words for what a kill may or may not have recorded."""
        for path in wanted:
            listed = (await self._ask(f"{CHECKPOINT}/list", sessionId=self.thread, **of_path(path)))["checkpoints"]
            newest = next((c for c in listed if c.get("versionNo") is not None), None)
            if newest is None:
                continue
            live = self.disk(path)
            recorded = (newest.get("after") or {}).get("sha256")
            if done:
                assert recorded == (None if live is None else sha(live.data)), (path, self.log)
            if newest["source"] in ("restore", "external") and recorded == (None if live is None else sha(live.data)):
                # A killed act may have recorded nothing: then the bits that the user set since are not known.
                mode = (newest.get("after") or {}).get("mode")
                self.known[path] = live and File(live.data, live.mode if mode is None else int(mode, 8))

    async def _judge(self) -> None:
        """Every version that the list shows can be had, byte for byte."""
        for found in (await self._ask(f"{CHECKPOINT}/list", sessionId=self.thread))["checkpoints"]:
            for side in ("before", "after"):
                reference = found.get(side)
                if reference is not None and reference["contentStatus"] == "available":
                    assert sha(await self._content(found["checkpointId"], side)) == reference["sha256"]


def _by_name(paths: list[str]) -> dict[str, list[str]]:
    """Params that name files: what is not Unicode by its bytes."""
    told = [path_to_wire(path) for path in paths]
    exact = [one["pathBase64"] for one in told if "pathBase64" in one]
    return {
        "paths": [one["path"] for one in told if "pathBase64" not in one],
        **({"pathsBase64": exact} if exact else {}),
    }


def _same(want: Any, live: State) -> bool:
    return live is None if want is None else want.same(live)


def _same_bytes(one: State, other: State) -> bool:
    return (one is None and other is None) or (one is not None and other is not None and one.data == other.data)


def _no_point(name: str, path: Any = "") -> None:
    """Pass."""
