"""What crash tests do to a data root, and what must hold of it afterwards: a model of all that was answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.host import Host, lines, rollouts

from lockstitch.codec import encode
from lockstitch.rollout.line import Draft, encode_append

AT = "2026-12-01T02:40:11.123456Z"
BIG = "x" * 100_000


@dataclass
class Scene:
    """One host after another on one data root, and what they have answered."""

    home: Path
    workspace: Path
    host: Host
    answered: dict[str, list[str]] = field(default_factory=dict)
    """Event ids by thread, in the order of their answers."""
    pending: dict[str, list[str]] = field(default_factory=dict)
    """Markers of events that were sent and not answered."""
    gone: set[str] = field(default_factory=set)
    workspaces: dict[str, Path] = field(default_factory=dict)
    count: int = 0

    def thread(self, *, turn: bool = True) -> str:
        self.count += 1
        workspace = self.workspace / f"w{self.count}"
        workspace.mkdir()
        thread = self.host.call("thread/start", cwd=str(workspace))["thread"]["id"]
        self.answered[thread] = []
        self.workspaces[thread] = workspace
        if turn:
            self.append(thread, ("turn.started", {}), turnId=f"turn-{thread[-8:]}")
        return thread

    def append(self, thread: str, *events: tuple[str, dict[str, Any]], **params: Any) -> None:
        marked: list[tuple[str, dict[str, Any]]] = []
        for type_, payload in events:
            self.count += 1
            marked.append((type_, {**payload, "marker": f"m{self.count}"}))
        self.pending[thread] = [payload["marker"] for _, payload in marked]
        found = self.host.append(thread, *marked, **params)
        del self.pending[thread]
        if params.get("durability", "sync") == "sync" and all(type_ != "message.delta" for type_, _ in events):
            self.answered[thread] += [event["eventId"] for event in found]

    def restart(self, *rules: str) -> None:
        self.host.kill()
        self.host = Host(self.home, *rules).start()

    def check(self) -> None:
        """After a restart: by the answers of the new process, and by the files."""
        listed = {
            entry["id"]
            for archived in (False, True)
            for entry in self.host.call("thread/list", limit=500, archived=archived)["data"]
        }
        for thread, answered in self.answered.items():
            if thread in self.gone:
                assert thread not in listed
                continue
            assert thread in listed
            events = self.host.events(thread)
            ids = [event["eventId"] for event in events]
            assert len(ids) == len(set(ids))
            assert [event for event in ids if event in answered] == answered, "an answered event is lost or moved"
            markers = [event["payload"].get("marker") for event in events]
            sent = self.pending.pop(thread, [])
            there = [marker for marker in sent if marker in markers]
            assert there in ([], sent), "an unanswered append is half there"
            self.answered[thread] = ids  # what survived is the past now
            self._check_turns(thread, events)
        assert listed == set(self.answered) - self.gone
        judged = {thread: lines(path) for thread, path in rollouts(self.home).items()}
        assert set(judged) == listed

    def _check_turns(self, thread: str, events: list[dict[str, Any]]) -> None:
        ends = {"turn.completed", "turn.failed", "turn.canceled", "turn.interrupted"}
        opened: str | None = None
        for event in events:
            if event["type"] in ("turn.started", "turn.resumed"):
                opened = event["turnId"]
            elif event["type"] in ends:
                assert event["turnId"] == opened, "a turn ended twice"
                opened = None
        assert opened is None, "a dead boot's turn was left open"
        for turn in self.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]["turns"]:
            assert turn["status"] != "inProgress"
            for item in turn["items"]:
                assert item.get("status") != "inProgress"
                assert "result" not in item or not item.get("interrupted"), "a result was made up"


Change = Callable[[Scene, str], None]


def one_event(scene: Scene, thread: str) -> None:
    scene.append(thread, ("host.note", {"text": "one"}), turnId=f"turn-{thread[-8:]}")


def several_events(scene: Scene, thread: str) -> None:
    item = {"type": "commandExecution", "id": "cmd", "command": "ls", "cwd": "/", "status": "inProgress"}
    scene.append(
        thread,
        ("item.started", {"item": item}),
        ("command.exited", {"itemId": "cmd", "exitCode": 0, "aggregatedOutput": "a"}),
        ("provider.usage", {"inputTokens": 1, "cachedInputTokens": 0, "outputTokens": 2, "reasoningOutputTokens": 0}),
        turnId=f"turn-{thread[-8:]}",
    )


def a_snapshot(scene: Scene, thread: str) -> None:
    scene.count += 1
    path = scene.workspaces[thread] / f"file-{scene.count}.txt"
    path.write_text(f"content {scene.count}\n")
    scene.append(
        thread,
        ("artifact.snapshot", {"path": path.name, "op": "created", "beforeAbsent": True}),
        turnId=f"turn-{thread[-8:]}",
    )


def a_spilled_output(scene: Scene, thread: str) -> None:
    scene.count += 1
    output = {"itemId": "big", "command": "cat", "exitCode": 0, "aggregatedOutput": f"{scene.count}{BIG}"}
    scene.append(thread, ("command.exited", output), turnId=f"turn-{thread[-8:]}")


def with_open_segments(scene: Scene, thread: str) -> None:
    turn = f"turn-{thread[-8:]}"
    scene.host.append(thread, ("message.delta", {"itemId": "said", "delta": "half a "}), turnId=turn)
    scene.append(thread, ("host.note", {"text": "after"}), turnId=turn)


def the_end_of_a_turn(scene: Scene, thread: str) -> None:
    scene.append(thread, ("turn.completed", {}), turnId=f"turn-{thread[-8:]}")


def a_new_thread(scene: Scene, thread: str) -> None:
    with_id = f"made-{scene.count}"
    scene.count += 1
    scene.pending["new"] = [with_id]
    scene.host.call("thread/start", threadId=with_id)
    scene.answered[with_id] = []
    del scene.pending["new"]


def archive(scene: Scene, thread: str) -> None:
    scene.host.call("thread/archive", threadId=thread)


def unarchive(scene: Scene, thread: str) -> None:
    scene.host.call("thread/unarchive", threadId=thread)


def delete(scene: Scene, thread: str) -> None:
    scene.pending["delete"] = [thread]
    scene.host.call("thread/delete", threadId=thread)
    scene.gone.add(thread)
    del scene.pending["delete"]


def fork(scene: Scene, thread: str) -> None:
    scene.pending["new"] = ["?"]
    made = scene.host.call("thread/fork", threadId=thread)["thread"]["id"]
    scene.answered[made] = []
    del scene.pending["new"]


def take_in(scene: Scene, thread: str) -> None:
    """Import a thread that somebody exported."""
    scene.count += 1
    made = f"handed-{scene.count}"
    started = Draft("thread.started", encode({"format": 1, "threadId": made}), f"{made}-1", AT)
    notes = [Draft("host.note", encode({"text": BIG}), f"{made}-{n}", AT) for n in range(2, 5)]
    path = scene.workspace / f"{made}.jsonl"
    path.write_bytes(b"".join(encode_append(1, [started, *notes], b"").lines))
    scene.pending["new"] = [made]
    assert scene.host.call("thread/import", path=str(path))["imported"] == 4
    scene.answered[made] = [f"{made}-{n}" for n in range(1, 5)]
    del scene.pending["new"]
    path.unlink()


def settle_unknown(scene: Scene) -> None:
    """A change of a whole thread that was not answered may have happened or not: look which."""
    there = set(rollouts(scene.home))
    if scene.pending.pop("new", None):
        for thread in there - set(scene.answered):
            scene.answered[thread] = []
    for thread in scene.pending.pop("delete", []):
        if thread not in there:
            scene.gone.add(thread)


CHANGES: list[Change] = [
    one_event,
    several_events,
    a_snapshot,
    a_spilled_output,
    with_open_segments,
    the_end_of_a_turn,
    a_new_thread,
    archive,
    unarchive,
    delete,
    fork,
    take_in,
]


def kinds(trace: list[str], home: Path) -> list[int]:
    """The first point of each kind, by its number: the name of the step, and where in the data root it is."""
    seen: set[tuple[str, ...]] = set()
    chosen: list[int] = []
    for number, entry in enumerate(trace, 1):
        name, _, path = entry.partition(" ")
        inside = path.startswith(str(home))
        parts = Path(path).relative_to(home).parts if inside else Path(path).parts
        kind = (name, parts[0] if inside and parts else "outside", Path(path).suffix)
        if kind not in seen:
            seen.add(kind)
            chosen.append(number)
    return chosen
