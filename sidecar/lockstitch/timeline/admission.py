"""What may be appended to a thread now, and the exact events that it becomes.

Invariant: runs in the writer thread with the thread's state in hand; it reads that state and never changes it,
so that an append whose third event is refused leaves nothing behind. What is admitted always reduces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from lockstitch import codec
from lockstitch.errors import ConflictError, InvalidError, NotFoundError, RefusedError
from lockstitch.rollout.line import MAX_LINE_BYTES, Draft
from lockstitch.timeline import items, workers
from lockstitch.timeline.checkpoints import (
    ABSENT,
    UNCHANGED_TYPE,
    DiffOf,
    Known,
    Snapshot,
    assumed,
    decide,
    is_unchanged,
    known_from_row,
)
from lockstitch.timeline.incoming import Answer, Incoming
from lockstitch.timeline.payloads import RECEIVED_AT, ItemDraft
from lockstitch.timeline.plain_items import ITEM_AT, PlainItem, encode_plain, leaves_out, status_of
from lockstitch.timeline.reducer import DELTAS, ITEM_EVENTS, TURN_ENDS
from lockstitch.timeline.rows import TurnStatus
from lockstitch.timeline.segments import Segment, Segments
from lockstitch.timeline.state import ThreadState
from lockstitch_protocol.event_types import EVENT_TYPES
from lockstitch_protocol.ids import new_id, new_ids

MAX_PAYLOAD_BYTES = MAX_LINE_BYTES - (64 << 10)

JOINS_TURN = frozenset(name for name, type_ in EVENT_TYPES.items() if type_.joins_turn)
NEEDS_TURN = frozenset(name for name, type_ in EVENT_TYPES.items() if type_.needs_turn)


@dataclass(slots=True)
class Surroundings:
    """What admission may ask about: who we are, what time it is, and how to look things up."""

    boot_id: str
    is_alive: Callable[[str | None], bool]
    """Whether that boot still runs."""
    now: Callable[[], str]
    read_line: Callable[[int, int], bytes]
    """A line of this thread by its place, also one of this group that is not written yet."""
    diff_of: DiffOf
    artifact_of: Callable[[str], str]
    spill: Callable[[dict[str, Any]], dict[str, Any]]
    """Moves a large output of an item into the artifact store."""


@dataclass(slots=True)
class Admission:
    """One append on its way in: call `add` for each event, then take `drafts` and `answers`."""

    state: ThreadState
    around: Surroundings
    segments: Segments
    drafts: list[Draft] = field(default_factory=list[Draft])
    answers: list[int | Answer] = field(default_factory=list["int | Answer"])
    """For each incoming event what answers it: mostly the number of its draft."""
    flushed: list[Segment] = field(default_factory=list[Segment])
    workers: workers.WorkerAdmission = field(init=False)
    _new_ids: Iterator[str] = field(init=False)
    _took_deltas: bool = False
    _open: str | None = None
    _now: str | None = None
    _statuses: dict[str, TurnStatus] = field(default_factory=dict[str, TurnStatus])
    _items: dict[str, dict[str, Any] | bytes] = field(default_factory=dict[str, "dict[str, Any] | bytes"])
    """Each item as this append leaves it, or the payload that holds it."""
    _item_turns: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _streams: dict[str, list[Segment]] = field(default_factory=dict[str, "list[Segment]"])
    _event_ids: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    _known: dict[str, Known | None] = field(default_factory=dict[str, "Known | None"])
    _checkpoints: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._new_ids = new_ids("evt")
        turn = self.state.open_turn()
        self._open = None if turn is None else turn.turn_id
        self.workers = workers.WorkerAdmission(self.state, self.around.boot_id, self.around.is_alive)

    @property
    def thread_id(self) -> str:
        return self.state.thread.thread_id

    def now(self) -> str:
        """When this append came: the same moment for all of its events."""
        if self._now is None:
            self._now = self.around.now()
        return self._now

    @property
    def open_turn_id(self) -> str | None:
        """The turn that is open after what was added so far."""
        return self._open

    def add(self, event: Incoming) -> None:
        """Admit one event or refuse the whole append. Raises LockstitchError."""
        if event.digest is not None and self._is_repeated(event):
            return
        if event.plain is not None:  # nearly every event of a large append
            open_turn = event.turn_id is None and self._open
            self._add_plain(event, event.plain, open_turn or self._turn_for(event))
            return
        if event.snapshot is not None:
            turn_id = self._turn_for(event)
            self._add_snapshot(event, turn_id, event.snapshot)
        elif event.type == "turn.started":
            self._add_turn_start(event)
        elif event.type in workers.TYPES:
            turn_id = self._turn_for(event) if event.type == workers.STARTED else None
            payload = self.workers.admit(event.type, event.payload, turn_id, self.now())
            self._draft(event, payload, turn_id, None)
        else:
            turn_id = self._turn_for(event)
            if event.type in ITEM_EVENTS:
                self._add_item(event, turn_id)
            else:
                if event.settled is not None:
                    self._add_draft(event, event.settled, turn_id, None)
                else:
                    self._draft(event, event.payload, turn_id, event.item_id)
                if event.type in TURN_ENDS and turn_id is not None:
                    self._statuses[turn_id.lower()] = TURN_ENDS[event.type]
                    if self._open is not None and self._open.lower() == turn_id.lower():
                        self._open = None
                        self._items.clear()

    def reopen(self, turn_id: str, at: str) -> None:
        """Go on with a turn that we ended ourselves, as an import does whose source has grown. No-op if it is open.

        Raises NotFoundError, or ConflictError while another turn is open.
        """
        if self._status(turn_id) not in (None, TurnStatus.in_progress):
            self._resume(turn_id, at)

    def add_delta(self, event: Incoming) -> None:
        """Take streamed text into its segment; nothing is written yet."""
        turn_id = cast(str, self._turn_for(event))
        item_id, text = cast(str, event.item_id), cast(str, event.payload["delta"])
        self._check_item_turn(item_id.lower(), item_id, turn_id)
        segment, before = self.segments.add(event.type, turn_id, item_id, text, event.at or self.now())
        self._took_deltas = True
        self.answers.append(Answer(segment=segment, delta=text, before=before))

    def flush(self) -> None:
        """Write every open segment of the thread: what was streamed stands before what comes now."""
        for segment in self.segments.take_all():
            self.flushed.append(segment)
            payload = {"itemId": segment.item_id, "delta": segment.text}
            at = Draft(
                segment.type, codec.encode(payload), segment.event_id, segment.at, segment.turn_id, segment.item_id
            )
            self.drafts.append(at)
            self._streams.setdefault(segment.item_id.lower(), []).append(segment)

    def undo(self) -> None:
        """The append is refused: what was streamed before stays accepted, what it brought was never here."""
        self.segments.give_back(self.flushed)
        self.take_back()
        self.segments.drop_empty()

    def take_back(self) -> None:
        """What was streamed with this append was never here."""
        for answer in self.streamed():
            if answer.segment is not None:
                answer.segment.take_back(answer.delta)

    def streamed(self) -> list[Answer]:
        """The answers to streamed text."""
        if not self._took_deltas:
            return []
        return [answer for answer in self.answers if isinstance(answer, Answer) and answer.segment is not None]

    # -- repeats ----------------------------------------------------------------------------------------------
    def _is_repeated(self, event: Incoming) -> bool:
        event_id, digest = cast(str, event.event_id), cast(str, event.digest)
        here = self._event_ids.get(event_id.lower())
        if here is not None:
            self._same_content(event_id, here[0], digest)
            self.answers.append(here[1])
            return True
        row = self.state.client_event(event_id)
        if row is None:
            return False
        self._same_content(event_id, row.digest.hex(), digest)
        self.answers.append(Answer(repeated=row))
        return True

    def _same_content(self, event_id: str, stored: str, sent: str) -> None:
        if stored != sent:
            raise ConflictError(
                f"Thread {self.thread_id} has an event {event_id} with other content; give a new event its own id.",
                kind="eventConflict",
                threadId=self.thread_id,
                eventId=event_id,
            )

    # -- turns ------------------------------------------------------------------------------------------------
    def _status(self, turn_id: str) -> TurnStatus | None:
        here = self._statuses.get(turn_id.lower())
        if here is not None:
            return here
        row = self.state.turn(turn_id)
        return None if row is None else TurnStatus(row.status)

    def _turn_for(self, event: Incoming) -> str | None:
        """The turn that the event belongs to, reopened if recovery had interrupted it."""
        turn_id = event.turn_id
        if turn_id == self._open and turn_id is not None:
            return turn_id
        if turn_id is None:
            if event.outside or event.type not in JOINS_TURN:
                return None
            if self._open is None and event.type in NEEDS_TURN:
                raise RefusedError(
                    f"Thread {self.thread_id} has no open turn for an event of type {event.type}; start one first.",
                    kind="noActiveTurn",
                    threadId=self.thread_id,
                    type=event.type,
                )
            return self._open
        status = self._status(turn_id)
        if status is None:
            raise NotFoundError(
                f"Thread {self.thread_id} has no turn {turn_id}; start it with turn/start or turn.started.",
                kind="turnNotFound",
                threadId=self.thread_id,
                turnId=turn_id,
            )
        if status == TurnStatus.recovered and not event.own:
            self._resume(turn_id)
        elif status != TurnStatus.in_progress:
            self._refuse_terminal(event.type, turn_id)
        return self._spelling(turn_id)

    def _spelling(self, turn_id: str) -> str:
        row = self.state.turn(turn_id)
        return turn_id if row is None else row.turn_id

    def _refuse_terminal(self, type_: str, turn_id: str) -> None:
        kind = "turnNotActive" if type_ in TURN_ENDS else "turnTerminal"
        raise ConflictError(
            f"Turn {turn_id} of thread {self.thread_id} is over; start a new turn.",
            kind=kind,
            threadId=self.thread_id,
            turnId=turn_id,
        )

    def _resume(self, turn_id: str, at: str | None = None) -> None:
        if self._open is not None:
            self._refuse_second_turn()
        turn_id = self._spelling(turn_id)
        payload = codec.encode({"bootId": self.around.boot_id})
        self.drafts.append(Draft("turn.resumed", payload, new_id("evt"), at or self.now(), turn_id))
        self._statuses[turn_id.lower()] = TurnStatus.in_progress
        self._open = turn_id

    def _refuse_second_turn(self) -> None:
        raise ConflictError(
            f"Turn {self._open} of thread {self.thread_id} is still open; complete or interrupt it first.",
            kind="turnActive",
            threadId=self.thread_id,
            turnId=self._open,
        )

    def _add_turn_start(self, event: Incoming) -> None:
        turn_id = event.turn_id or new_id("turn")
        status = self._status(turn_id)
        if status is not None:
            if event.opens_turn:
                raise ConflictError(
                    f"Thread {self.thread_id} already has a turn {turn_id}; give a new turn its own id.",
                    kind="turnExists",
                    threadId=self.thread_id,
                    turnId=turn_id,
                )
            if status == TurnStatus.recovered:
                self._resume(turn_id)
            elif status != TurnStatus.in_progress:
                self._refuse_terminal(event.type, turn_id)
            self._draft(event, event.payload, self._spelling(turn_id), None)
            return
        if self._open is not None:
            self._refuse_second_turn()
        self._draft(event, {**event.payload, "bootId": self.around.boot_id}, turn_id, None)
        self._statuses[turn_id.lower()] = TurnStatus.in_progress
        self._open = turn_id

    # -- items ------------------------------------------------------------------------------------------------
    def _check_item_turn(self, key: str, item_id: str, turn_id: str | None) -> bool:
        """Whether the item is new, to this append and to the log. Raises InvalidError if another turn has it.

        `key`: the id in lower case.
        """
        if key in self._item_turns:
            owner = self._item_turns[key]
        else:
            row = self.state.item_of_key(key)
            if row is None:
                self._item_turns[key] = turn_id
                return True
            turn = None if row.outside else self.state.turn_by_number(row.turn_no)
            owner = self._item_turns[key] = None if turn is None else turn.turn_id
        if (owner or "").lower() != (turn_id or "").lower():
            raise InvalidError.at("itemId", f"item {item_id} belongs to another turn; ids are unique in their thread")
        return False

    def _add_plain(self, event: Incoming, item: PlainItem, turn_id: str | None) -> None:
        """An item that is whole as it came, unless what it leaves out came before."""
        item_id, digest = item.id, event.digest
        key = item_id.lower()
        if item.streamed and leaves_out(item):
            before = self._before(key, item_id)
            if before is not None:
                event.payload, event.plain = {"item": codec.decode(codec.encode(item))}, None
                self._add_item(event, turn_id)
                return
        over = event.type == "item.completed"
        new_key = key if self._check_item_turn(key, item_id, turn_id) and over else None
        payload = self._items[key] = encode_plain(item, over=over)
        if self._streams:
            self._streams.pop(key, None)
        length = len(payload) - ITEM_AT - 1
        at, event_id = event.at, event.event_id
        if at is None:
            at = self._now or self.now()
        elif not event.own:
            payload = b'{"%b":%b,%b' % (RECEIVED_AT.encode(), codec.encode(self.now()), payload[1:])
        number = len(self.drafts)
        if event_id is None:
            event_id = next(self._new_ids)
        elif digest is not None:
            self._event_ids[event_id.lower()] = (digest, number)
        self.answers.append(number)
        self.drafts.append(
            ItemDraft(
                event.type,
                payload,
                event_id,
                at,
                turn_id,
                item_id,
                digest,
                None,
                item.kind,
                status_of(item),
                length,
                new_key,
                event.own,
            )
        )

    def _add_item(self, event: Incoming, turn_id: str | None) -> None:
        given = event.payload.get("item")
        item_id = event.item_id or (cast(dict[str, Any], given)["id"] if given is not None else new_id("item"))
        key = item_id.lower()
        self._check_item_turn(key, item_id, turn_id)
        before = None
        if key in self._items or items.wants_before(event.type, given):
            before = self._before(key, item_id)
        if event.whole is not None and before is None:
            item = items.over(event.whole)
        else:
            item = items.item_of(event.type, event.payload, item_id, before)
        unspilled, item = item, self.around.spill(item)
        self._items[key] = item
        self._streams.pop(key, None)
        rest = {name: value for name, value in event.payload.items() if name != "item"}
        if item is not unspilled:  # what was too large for the item is too large beside it
            rest.update((name, item[name]) for name in rest.keys() & item.keys() if item[name] != unspilled[name])
        self._draft(event, {**rest, "item": item}, turn_id, item_id)

    def _before(self, key: str, item_id: str) -> dict[str, Any] | None:
        """The item as far as it came: in this append, in the log, and streamed."""
        item: dict[str, Any] | None = None
        encoded = self._items.get(key)
        if encoded is not None:
            item = encoded if isinstance(encoded, dict) else codec.decode(encoded)["item"]
        else:
            row = self.state.item(item_id)
            if row is not None:
                item = items.composed(row, self.around.read_line)
        segments = self._streams.get(key)
        if segments:
            texts = [segment.text for segment in segments]
            item = items.with_texts(item, item_id, DELTAS[segments[0].type], texts)
        return item

    # -- files ------------------------------------------------------------------------------------------------
    def _add_snapshot(self, event: Incoming, turn_id: str | None, snapshot: Snapshot) -> None:
        known = self._known_of(snapshot.key)
        old_key = snapshot.old_key
        if old_key is not None and snapshot.before is None:
            # What a renamed file was is what its old path was, not what the new path had been.
            snapshot.before = assumed(self._known_of(old_key))
        if is_unchanged(snapshot, known):
            payload: dict[str, Any] = {"path": snapshot.path}
            if "pathBase64" in snapshot.fields:
                payload["pathBase64"] = snapshot.fields["pathBase64"]
            if snapshot.after is not ABSENT:
                payload["sha256"] = snapshot.after["sha256"]
            self._draft(Incoming(UNCHANGED_TYPE, payload), payload, turn_id, None)
            return
        if snapshot.checkpoint_id is not None:
            self._check_checkpoint_id(snapshot.checkpoint_id)
        artifact = self.around.artifact_of(snapshot.key)
        given = event.event_id if event.own else None
        # An import gives the same ids whenever it is done; it knows no disk, so that one state at most is external.
        named = new_id("ckpt") if given is None else f"ckpt_{given.removeprefix('evt_')}"
        made = decide(snapshot, known, artifact, lambda: named if given else new_id("ckpt"), self.around.diff_of)
        for number, checkpoint in enumerate(made, 1):
            last = number == len(made)
            # What an import found out about a file it found out then, not now.
            sent = event
            if not last:
                sent = Incoming("artifact.snapshot", {}, own=True, at=event.at if event.own else None)
                sent.event_id = None if given is None else f"{given}.external"
            payload = {**sent.payload, "checkpoint": checkpoint.record, "item": checkpoint.item}
            self._draft(sent, payload, turn_id, checkpoint.record["checkpointId"], answers=last)
            self._known[snapshot.key] = checkpoint.known
            self._checkpoints.add(checkpoint.record["checkpointId"].lower())

    def _check_checkpoint_id(self, checkpoint_id: str) -> None:
        taken = checkpoint_id.lower() in self._checkpoints or self.state.item(checkpoint_id) is not None
        if taken or self.state.checkpoint(checkpoint_id) is not None:
            raise ConflictError(
                f"Thread {self.thread_id} already has a checkpoint {checkpoint_id}; give a new one its own id.",
                kind="checkpointExists",
                threadId=self.thread_id,
                checkpointId=checkpoint_id,
            )

    def _known_of(self, key: str) -> Known | None:
        if key not in self._known:
            fact, version = self.state.latest_fact(key), self.state.latest_version(key)
            stored = None
            if version is not None:
                number, stored = items.version_of(self.around.read_line(version.line_at, version.line_length))
                if (number, (stored or {}).get("sha256")) != (version.version_no, version.after_sha):
                    raise ValueError("a checkpoint's row does not say what its line says")
            self._known[key] = known_from_row(fact, version, stored)
        return self._known[key]

    # -- drafts -----------------------------------------------------------------------------------------------
    def _draft(
        self,
        event: Incoming,
        payload: dict[str, Any],
        turn_id: str | None,
        item_id: str | None,
        *,
        answers: bool = True,
    ) -> None:
        if RECEIVED_AT in payload and not event.own:
            payload = {name: value for name, value in payload.items() if name != RECEIVED_AT}
        if event.at is not None and not event.own:
            last = {"item": payload["item"]} if "item" in payload else {}
            rest = {name: value for name, value in payload.items() if name != "item"}
            payload = {**rest, RECEIVED_AT: self.now(), **last}
        self._add_draft(event, codec.encode(payload), turn_id, item_id, answers=answers)

    def _add_draft(
        self, event: Incoming, encoded: bytes, turn_id: str | None, item_id: str | None, *, answers: bool = True
    ) -> None:
        if len(encoded) > MAX_PAYLOAD_BYTES:
            raise RefusedError(
                f"An event of type {event.type} is {len(encoded)} bytes; at most {MAX_PAYLOAD_BYTES} can be stored.",
                kind="messageTooLarge",
                bytes=len(encoded),
                limit=MAX_PAYLOAD_BYTES,
            )
        number = len(self.drafts)
        event_id = event.event_id
        if event_id is None:
            event_id = next(self._new_ids)
        elif event.digest is not None:
            self._event_ids[event_id.lower()] = (event.digest, number)
        if answers:
            self.answers.append(number)
        self.drafts.append(Draft(event.type, encoded, event_id, event.at or self.now(), turn_id, item_id, event.digest))
