"""From the events of a source to events that the append path takes, their contents stored and their diffs made.

Invariant: runs in a worker thread, in front of the writer's queue; memory is bounded by the batch.
Invariant: what an event of ours cannot hold is kept raw, never an abort.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lockstitch.artifacts.content import available, reference
from lockstitch.artifacts.store import Packed
from lockstitch.imports.source import Account, SourceEvent
from lockstitch.timeline.checkpoints import ABSENT, NOT_CAPTURED, DiffText, Snapshot
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.plain_items import plain_form
from lockstitch_protocol.event_checks import PayloadError, check_payload

BATCH_EVENTS = 500
BATCH_BYTES = 4 << 20
BATCH_EDITS = 100
"""The diffs of two batches are remembered until the writer asks for them."""

_REMEMBERED = 4096
_RECENT_BYTES = 16 << 20
_FROM_ITEM = frozenset({"item.started", "item.completed"})
_SURE = frozenset({"turn.started", "route.selected", "authority.set"})
"""The composer makes their payloads of texts alone."""


class ContentStore(Protocol):
    """Where file contents go: `artifacts.Sidecar`."""

    def put_packed(self, contents: Sequence[Packed]) -> object: ...
    def get(self, sha256: str) -> bytes: ...


class Preparation(Protocol):
    """What stands between an event and the queue."""

    def spill(self, item: dict[str, Any]) -> dict[str, Any]: ...
    def diff(
        self, sidecar: Any, key: str, old_key: str | None, before: dict[str, Any], after: dict[str, Any]
    ) -> DiffText: ...


class RecentContents:
    """The contents of a batch: diffs are made from memory, and what is new is stored at once, at the batch's end."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        self._stored: OrderedDict[str, None] = OrderedDict()
        self._recent: OrderedDict[str, bytes] = OrderedDict()
        self._new: dict[str, bytes] = {}
        self._size = 0

    def add(self, sha256: str, data: bytes) -> None:
        """Hold a content until `store` and, as far as there is room, longer."""
        if sha256 not in self._stored:
            self._new[sha256] = data
        if sha256 not in self._recent:
            self._recent[sha256] = data
            self._size += len(data)
            while self._size > _RECENT_BYTES and len(self._recent) > 2:
                self._size -= len(self._recent.popitem(last=False)[1])

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises UnavailableError."""
        found = self._recent.get(sha256) or self._new.get(sha256)
        return self._store.get(sha256) if found is None else found

    def store(self) -> None:
        """Make everything durable that was added."""
        if not self._new:
            return
        self._store.put_packed([Packed(data, sha256) for sha256, data in self._new.items()])
        self._stored.update(dict.fromkeys(self._new))
        self._new.clear()
        while len(self._stored) > _REMEMBERED:
            self._stored.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of whole lines; `read_bytes` is where the last of them ends."""

    events: list[Incoming]
    read_bytes: int


class Intake:
    """Makes the events of one thread ready."""

    def __init__(
        self,
        thread_id: str,
        client: str,
        started_at: str,
        account: Account,
        contents: RecentContents,
        prepare: Preparation,
    ) -> None:
        self._thread_id, self._client, self._at = thread_id, client, started_at
        self._account, self._prepare = account, prepare
        self._contents = contents
        self._named = hashlib.sha256(f"{client}\0{thread_id}\0".encode("utf-8", "surrogatepass"))
        self._last: OrderedDict[str, dict[str, Any]] = OrderedDict()
        """The newest known side of a path: what the writer will compare the next pre-image with."""

    @property
    def last_at(self) -> str:
        """The time of the last event that had one: what the import itself writes bears it too."""
        return self._at

    def batches(self, events: Iterable[SourceEvent]) -> Iterator[Batch]:
        """Ready events, cut between lines."""
        ready: list[Incoming] = []
        start, edits, line = 0, 0, (0, 0)
        for event in events:
            if not ready:
                start = event.line[0]
            elif event.line != line and (
                len(ready) >= BATCH_EVENTS or edits >= BATCH_EDITS or event.line[0] - start >= BATCH_BYTES
            ):
                self._contents.store()
                yield Batch(ready, sum(line))
                ready, edits, start = [], 0, event.line[0]
            line = event.line
            edits += event.type == "artifact.snapshot"
            ready.append(self.ready(event))
        if ready:
            self._contents.store()
            yield Batch(ready, sum(line))

    def ready(self, event: SourceEvent, *, suffix: str = "") -> Incoming:
        """One event as the append path takes it. `suffix` tells apart what is written again under the same key."""
        self._at = event.at or self._at
        made = Incoming(event.type, event.payload, event.turn_id, event.item_id, self._event_id(event.key + suffix))
        made.at, made.own = self._at, True
        try:
            if event.type == "artifact.snapshot":
                made.snapshot = self._snapshot(event.payload)
                made.payload = {name: event.payload[name] for name in ("path", "op")}
                return made
            if event.type in _FROM_ITEM:
                item = self._prepare.spill(event.payload["item"])
                made.plain = plain_form(item)
                if (
                    made.plain is not None and made.plain.id == event.item_id
                ):  # nearly all: the writer need not look at its fields again
                    made.payload = {}
                    return made
                made.payload = {"item": item}
            if event.type not in _SURE:
                check_payload(made.type, made.payload)
        except PayloadError as error:
            self._account.opaque[f"refused.{event.type}"] += 1
            made.type, made.item_id = f"import.source.{self._client}.refused", None
            made.payload = {"type": event.type, "reason": f"{error.path}: {error.message}", "raw": event.payload}
        return made

    def _event_id(self, key: str) -> str:
        named = self._named.copy()
        named.update(key.encode("utf-8", "surrogatepass"))
        return "evt_" + named.hexdigest()[:32]

    # ── file edits ──

    def _snapshot(self, payload: dict[str, Any]) -> Snapshot:
        after = NOT_CAPTURED
        if not payload.get("afterNotCaptured"):
            after = self._side(payload.get("content"))
        before = NOT_CAPTURED
        if not payload.get("beforeNotCaptured"):
            before = self._side(payload.get("previousContent"))
        path, old_path = payload["path"], payload.get("oldPath")
        snapshot = Snapshot(
            path,
            "import",
            after,
            before,
            None,
            payload["op"],
            old_path,
            payload["checkpointId"],
            diff=payload.get("diff"),
            fields={"metadata": payload["metadata"]},
        )
        self._make_diffs(snapshot, before)
        return snapshot

    def _side(self, text: str | None) -> dict[str, Any]:
        """The reference of a content, its bytes stored; no text is no file."""
        if text is None:
            return ABSENT
        data = text.encode("utf-8", "surrogatepass")
        content = available(data)
        self._contents.add(content.sha256 or "", data)
        return reference(content)

    def _make_diffs(self, snapshot: Snapshot, before: dict[str, Any]) -> None:
        """Make the diffs that the writer will ask for, so that it need not read contents."""
        path = snapshot.path
        last = self._last.get(path)
        if last is not None and before.get("sha256") not in (None, last.get("sha256")):
            assumed = last if last is ABSENT else {**last, "assumed": True}
            self._prepare.diff(self._contents, path, None, assumed, before)
        if snapshot.diff is None:
            self._prepare.diff(self._contents, path, snapshot.old_path, before, snapshot.after)
        self._last[path] = snapshot.after
        self._last.move_to_end(path)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)
