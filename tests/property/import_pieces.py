"""What a thread holds after imports of a source, without a process: the steps as the import makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from lockstitch import codec
from lockstitch.artifacts.store import Packed
from lockstitch.imports.growth import Held, Told
from lockstitch.imports.intake import Preparation
from lockstitch.imports.steps import Steps, Stored
from lockstitch.timeline.admission import Incoming
from lockstitch.timeline.checkpoints import DiffText
from lockstitch.timeline.plain_items import encode_plain
from lockstitch.timeline.rows import ThreadRow

_TOKENS = ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")
_ENDS = ("turn.completed", "turn.failed", "turn.canceled", "turn.interrupted")


class Contents:
    """A store that keeps contents in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put_packed(self, contents: Sequence[Packed]) -> None:
        self.kept.update((packed.sha256, packed.data) for packed in contents)

    def get(self, sha256: str) -> bytes:
        return self.kept[sha256]

    def spill(self, item: dict[str, Any]) -> dict[str, Any]:
        return item

    def diff(self, *_: Any) -> DiffText:
        return cast("DiffText", None)


@dataclass
class Thread:
    """The events that imports appended, and what they come to."""

    events: list[Incoming] = field(default_factory=list[Incoming])
    contents: Contents = field(default_factory=Contents)
    stored: Stored | None = None
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    damaged: int = 0

    def take(self, path: Path) -> int:
        """Import the source; returns how many events came in."""
        before = len(self.events)
        steps = Steps(path, self.stored, self.contents, cast("Preparation", self.contents))
        try:
            if steps.open():
                for step in steps:
                    assert step.follows == (self.stored.held.read_bytes if self.stored else 0)
                    if not self.facts:
                        self._begin(steps)
                    self.events += step.events[:-1]
                    for event in step.events:
                        if event.type == "thread.updated":
                            self._update(event.payload)
                    self._remember(step.events[-1].payload)
                self.damaged = steps.damaged
        finally:
            steps.close()
        names = [event.event_id for event in self.events if event.event_id is not None]
        assert len(set(names)) == len(names), "an event came twice"
        return len(self.events) - before

    def _begin(self, steps: Steps) -> None:
        thread = steps.thread
        facts = {"cwd": thread.cwd, "gitInfo": thread.git or None, "name": thread.title, "model": thread.model}
        self.facts = {**facts, "modelProvider": thread.model_provider, "createdAt": steps.started_at}

    def _update(self, told: dict[str, Any]) -> None:
        self.facts.update({name: value for name, value in told.items() if name != "workspace"})
        if "workspace" in told:
            self.facts["cwd"] = told["workspace"]["cwd"]

    def _remember(self, told: dict[str, Any]) -> None:
        closings, document = told.get("closings"), told.get("document")
        last = None if document is None else {key: Told.from_stored(kept) for key, kept in document["told"].items()}
        held = Held(told["readBytes"], told["readSha256"], told["events"], frozenset(closings or ()), last)
        facts, git = self.facts, self.facts["gitInfo"] or {}
        row = SimpleNamespace(
            name=facts["name"],
            cwd=facts["cwd"],
            model=facts["model"],
            provider=facts["modelProvider"],
            git_sha=git.get("sha"),
            git_branch=git.get("branch"),
            git_origin=git.get("originUrl"),
            last_at=None,
        )
        parts = {part["bytes"]: part["sha256"] for part in told.get("parts") or ()}
        self.stored = Stored(held, closings is not None, told.get("name"), cast("ThreadRow", row), parts, document)

    def told(self) -> dict[str, Any]:
        """What a reader of the thread sees: turns with their ends, items in order, usage, file versions."""
        turns: dict[str, str] = {}
        items: dict[str, Any] = {}
        usage: Counter[tuple[str | None, str]] = Counter()
        files: list[Any] = []
        rest: set[str] = set()
        for event in self.events:
            if event.type == "turn.started":
                turns[event.turn_id or ""] = "open"
            elif event.type in _ENDS:
                turns[event.turn_id or ""] = f"{event.type} {event.at} {event.payload}"
            elif event.type.startswith("item."):
                if event.type == "item.completed" or event.item_id not in items:
                    items[event.item_id or ""] = (event.turn_id, _item_of(event))
            elif event.type == "provider.usage":
                for name in _TOKENS:
                    usage[event.turn_id, name] += event.payload[name]
            elif event.snapshot is not None:
                items[event.item_id or ""] = (event.turn_id, event.payload)
                files.append((event.payload, event.snapshot.before, event.snapshot.after))
            elif event.type == "thread.rolledBack":
                for turn_id in event.payload["turnIds"]:
                    turns[turn_id] = "taken back"
            elif event.type != "thread.updated":
                rest.add(f"{event.type} {event.payload}")
        return {
            "facts": self.facts,
            "turns": turns,
            "items": list(items.items()),
            "usage": usage,
            "files": files,
            "rest": rest,
        }


def _item_of(event: Incoming) -> Any:
    if event.plain is None:
        return event.payload["item"]
    return codec.decode(encode_plain(event.plain, over=event.type == "item.completed"))["item"]


def difference(found: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    """Where two threads differ; None if nowhere."""
    for name, value in wanted.items():
        if found[name] == value:
            continue
        if isinstance(value, list):
            pairs = list(zip(found[name], cast("list[Any]", value), strict=False))
            place = next((f"{index}: {a!r}\n{b!r}" for index, (a, b) in enumerate(pairs) if a != b), None)
            return f"{name}: {place or 'not as many'}"
        return f"{name}: {found[name]!r}\n{value!r}"
    return None
