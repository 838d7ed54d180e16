"""Random sequences of operations compared with a simple model in memory: `python -m tests.soak --only sequences`."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.host import GoneError, Host, RefusedError, judge

STEPS = 60


@dataclass
class Thread:
    """What must be read of a thread."""

    notes: list[str] = field(default_factory=list)
    turns: list[list[str]] = field(default_factory=list)
    """[id, status], those that are rolled back left out."""
    name: str | None = None
    archived: bool = False

    @property
    def open(self) -> list[str] | None:
        return next((turn for turn in self.turns if turn[1] == "inProgress"), None)


class Life:
    """Two processes on one data root, killed and restarted, and what they must say."""

    def __init__(self, home: Path, chance: random.Random, counts: Counter[str]) -> None:
        self.home, self.chance, self.counts = home, chance, counts
        self.hosts = [Host(home).start(), Host(home).start()]
        self.threads: dict[str, Thread] = {}
        self.owners: dict[str, Host] = {}
        self.count = 0

    def step(self) -> None:
        host = self.chance.choice(self.hosts)
        acts = [self.start, self.turn, self.end, self.note, self.note, self.note, self.rename]
        acts += [self.archive, self.unarchive, self.rollback, self.fork, self.delete, self.restart, self.lose_database]
        weights = [3, 6, 5, 6, 6, 6, 2, 1, 2, 2, 1, 1, 1, 1]
        (act,) = self.chance.choices(acts, weights)
        self.counts["operations"] += 1
        if not self.threads:
            act = self.start
        if act in (self.start, self.restart, self.lose_database):
            act(host, "")
            return
        thread_id = self.chance.choice(list(self.threads))
        act(host, thread_id)
        if thread_id in self.threads:
            self.compare(self.chance.choice(self.hosts), thread_id)

    # -- operations -------------------------------------------------------------------------------------------
    def start(self, host: Host, _: str) -> None:
        self.count += 1
        name = f"name {self.count}" if self.chance.random() < 0.5 else None
        made = host.call("thread/start", **({"name": name} if name else {}))["thread"]["id"]
        self.threads[made] = Thread(name=name)

    def turn(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        self.count += 1
        turn_id = f"turn-{self.count}"
        kind = "threadArchived" if thread.archived else "turnActive" if thread.open else None
        if self.expect(kind, lambda: host.append(thread_id, ("turn.started", {}), turnId=turn_id)):
            thread.turns.append([turn_id, "inProgress"])
            self.owners[turn_id] = host

    def end(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        if thread.open is None or thread.archived:
            return
        type_, status = self.chance.choice(
            [("turn.completed", "completed"), ("turn.failed", "failed"), ("turn.canceled", "interrupted")]
        )
        host.append(thread_id, (type_, {}), turnId=thread.open[0])
        thread.open[1] = status

    def note(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        marks: list[str] = []
        for _ in range(self.chance.randint(1, 4)):
            self.count += 1
            marks.append(f"mark {self.count}")
        events = [("host.note", {"mark": mark, "pad": "é" * self.chance.choice((0, 10, 3000))}) for mark in marks]
        kind = "threadArchived" if thread.archived else None
        if self.expect(kind, lambda: host.append(thread_id, *events)):
            thread.notes += marks

    def rename(self, host: Host, thread_id: str) -> None:
        self.count += 1
        self.threads[thread_id].name = f"name {self.count}"
        kind = "threadArchived" if self.threads[thread_id].archived else None
        before = host.call("thread/read", threadId=thread_id)["thread"].get("name")
        try:
            host.call("thread/name/set", threadId=thread_id, name=f"name {self.count}")
        except RefusedError as error:
            assert error.kind == kind
            self.threads[thread_id].name = before

    def archive(self, host: Host, thread_id: str) -> None:
        host.call("thread/archive", threadId=thread_id)
        self.threads[thread_id].archived = True

    def unarchive(self, host: Host, thread_id: str) -> None:
        host.call("thread/unarchive", threadId=thread_id)
        self.threads[thread_id].archived = False

    def rollback(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        if not thread.turns or thread.archived:
            return
        count = self.chance.randint(1, len(thread.turns))
        kind = "turnActive" if thread.open else None
        if self.expect(kind, lambda: host.call("thread/rollback", threadId=thread_id, numTurns=count)):
            del thread.turns[-count:]

    def fork(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        if thread.archived:
            return
        made = host.call("thread/fork", threadId=thread_id)["thread"]["id"]
        turns = [[turn, "interrupted" if status == "inProgress" else status] for turn, status in thread.turns]
        name = host.call("thread/read", threadId=made)["thread"].get("name")
        assert name == thread.name
        self.threads[made] = Thread(list(thread.notes), turns, name)

    def delete(self, host: Host, thread_id: str) -> None:
        host.call("thread/delete", threadId=thread_id)
        del self.threads[thread_id]
        for one in self.hosts:
            with contextlib.suppress(RefusedError):
                one.call("thread/read", threadId=thread_id)
                raise AssertionError("a deleted thread is read")

    def restart(self, host: Host, _: str) -> None:
        number = self.hosts.index(host)
        if self.chance.random() < 0.6:
            host.kill()
            self.counts["kills"] += 1
        else:
            host.close()
        self.hosts[number] = Host(self.home).start()
        for thread in self.threads.values():
            turn = thread.open
            if turn is not None and self.owners.get(turn[0]) is host:
                turn[1] = "interrupted"

    def lose_database(self, host: Host, _: str) -> None:
        """Nothing runs; then it is as if nothing had happened, but that no turn is open."""
        for one in self.hosts:
            one.kill()
        for part in self.home.glob("sqlite/*"):
            part.unlink()
        self.counts["databases lost"] += 1
        self.hosts = [Host(self.home).start(), Host(self.home).start()]
        for thread in self.threads.values():
            if thread.open is not None:
                thread.open[1] = "interrupted"

    def expect(self, kind: str | None, run: Any) -> bool:
        """Run it; whether it was done. It must be refused if `kind` says so, and with that kind."""
        try:
            run()
        except RefusedError as error:
            assert error.kind == kind, f"{error} instead of {kind}"
            return False
        assert kind is None, f"it was to be refused: {kind}"
        return True

    # -- comparing --------------------------------------------------------------------------------------------
    def compare(self, host: Host, thread_id: str) -> None:
        thread = self.threads[thread_id]
        shown = host.call("thread/read", threadId=thread_id, includeTurns=True)["thread"]
        assert shown.get("name") == thread.name, (shown.get("name"), thread.name)
        assert shown["archived"] == thread.archived
        assert [[turn["id"], turn["status"]] for turn in shown["turns"]] == thread.turns
        assert shown["status"]["type"] == ("active" if thread.open else "idle")
        events = host.events(thread_id)
        assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
        marks = [event["payload"]["mark"] for event in events if event["type"] == "host.note"]
        assert marks == thread.notes
        assert shown["lastSequence"] == len(events)

    def compare_all(self) -> None:
        for host in self.hosts:
            for archived in (False, True):
                listed = {one["id"] for one in host.call("thread/list", limit=500, archived=archived)["data"]}
                assert listed == {name for name, one in self.threads.items() if one.archived is archived}
            for thread_id in self.threads:
                self.compare(host, thread_id)
            assert host.call("storage/verify")["ok"]

    def close(self) -> None:
        for host in self.hosts:
            host.kill()


def sequences(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Sixty random operations by two processes, each compared with the model; then everything, once more."""
    life = Life(home, chance, counts)
    try:
        for _ in range(STEPS):
            life.step()
        life.compare_all()
        counts["sequences"] += 1
    except GoneError as error:
        raise AssertionError(f"the process ended: {error}") from error
    finally:
        life.close()
    judge(home)
