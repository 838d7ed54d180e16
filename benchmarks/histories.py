"""Seeded histories: what a host would report of an agent's turns, and data roots that are full of it.

Invariant: the same seed gives the same events; ids are as long as real ones, texts as long as agents write.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.host import Host

_WORDS = [
    "agent",
    "reads",
    "parser",
    "module",
    "writes",
    "test",
    "fixes",
    "handler",
    "error",
    "while",
    "build",
    "runs",
    "output",
    "shows",
    "failing",
    "case",
    "stack",
    "trace",
    "before",
    "patch",
    "applies",
    "source",
    "tree",
    "near",
    "line",
    "number",
    "function",
    "returns",
    "value",
    "cache",
    "lock",
    "thread",
    "order",
]


class Story:
    """An endless supply of turns."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._texts = [" ".join(self._random.choices(_WORDS, k=200)) for _ in range(64)]

    def text(self, low: int, high: int) -> str:
        length = self._random.randint(low, high)
        start = self._random.randrange(200)
        return self._random.choice(self._texts)[start : start + length]

    def an_id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def item(self, kind: str) -> dict[str, Any]:
        """A whole item of that kind."""
        item: dict[str, Any] = {"type": kind, "id": self.an_id()}
        if kind == "userMessage":
            item["content"] = [{"type": "text", "text": self.text(60, 160)}]
        elif kind == "agentMessage":
            item["text"] = self.text(200, 600)
        elif kind == "reasoning":
            item |= {"summary": [self.text(60, 160)], "content": []}
        elif kind == "commandExecution":
            item |= {"command": f"make test-{self._random.randrange(1000)}", "cwd": "/workspace", "status": "completed"}
            item |= {"aggregatedOutput": self.text(300, 900), "exitCode": 0, "durationMs": 1005}
        elif kind == "mcpToolCall":
            item |= {"server": "files", "tool": "search", "status": "completed"}
            item |= {"arguments": {"query": self.text(20, 40)}, "result": {"content": self.text(60, 160)}}
        return item

    def turn(self, *kinds: str) -> list[dict[str, Any]]:
        """The events of a turn with items of these kinds."""
        turn_id = self.an_id()
        usage = {"inputTokens": 1200, "cachedInputTokens": 800, "outputTokens": 150, "reasoningOutputTokens": 40}
        events: list[dict[str, Any]] = [{"type": "turn.started", "payload": {"turnId": turn_id}}]
        events += [{"type": "item.completed", "payload": {"item": self.item(kind)}} for kind in kinds]
        events.append({"type": "provider.usage", "payload": usage})
        events.append({"type": "turn.completed", "payload": {}})
        return events

    def turns(self, count: int, *kinds: str) -> Iterator[list[dict[str, Any]]]:
        for _ in range(count):
            yield self.turn(*kinds)


SHORT = ("userMessage", "commandExecution", "agentMessage")
LONG = ("userMessage", "reasoning", "commandExecution", "mcpToolCall", "agentMessage")
EVENTS_OF_LONG = len(LONG) + 3
"""With its begin, its usage and its end."""


class Roots:
    """Data roots that several rows read, made when the first of them asks."""

    def __init__(self, place: Path, *, threads: int, turns: int) -> None:
        """`turns`: of the long thread."""
        self._place = place
        self.threads, self.turns = threads, turns

    @cache  # noqa: B019 - as long as the run
    def many(self) -> Path:
        """Many threads of 20 turns."""
        root = self._place / "many"
        story = Story(1)
        with Host(root) as host:

            def lines() -> Iterator[bytes]:
                for number in range(self.threads):
                    thread_id = f"thread-{number:06d}"
                    yield host.request("thread/start", {"threadId": thread_id, "cwd": f"/workspace{number % 10}"})
                    events = [event for turn in story.turns(20, *SHORT) for event in turn]
                    yield host.request(
                        "agentSession/runtimeEvents/append", {"sessionId": thread_id, "runtimeEvents": events}
                    )

            for line in lines():
                host.reply_to(line)
        return root

    def deep(self) -> Path:
        """One thread, `deep`, of many turns with five items each."""
        return self.of_turns(self.turns)

    @cache  # noqa: B019
    def of_turns(self, turns: int) -> Path:
        """The same of so many turns."""
        root = self._place / f"deep-{turns}"
        story = Story(2)
        with Host(root) as host:
            host.call("thread/start", threadId="deep")

            def lines() -> Iterator[bytes]:
                for _ in range(0, turns, 125):
                    events = [event for turn in story.turns(125, *LONG) for event in turn]
                    yield host.request(
                        "agentSession/runtimeEvents/append", {"sessionId": "deep", "runtimeEvents": events}
                    )

            host.pipeline(lines(), 4)
        return root


def rollouts(root: Path) -> list[Path]:
    """The rollout files of a data root."""
    return sorted((root / "sessions").rglob("rollout-*.jsonl"))


def database(root: Path) -> Path:
    """The projection of a data root."""
    (found,) = (root / "sqlite").glob("timeline-v*.sqlite")
    return found
