"""Who watches which thread, and what they are told: every event once, in order, after the reply that caused it.

Invariant: what is sent is made from the line of the event, whoever wrote it. A subscription that falls behind
by more than its bound gets one `agentSession/eventsDropped` and goes on from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.codec import encode
from lockstitch.rollout.line import Draft
from lockstitch.timeline.jobs import Committed, Happening, Job, Removed, Streamed

if TYPE_CHECKING:
    from lockstitch.operations.call import Connection
    from lockstitch.operations.notices import Announcer
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)

QUEUE_BYTES = 8 << 20
LOOK_SECONDS = 0.25
LOOKS_PER_BOOTS = 4


class Live(msgspec.Struct, frozen=True):
    """One event as it stands in the log."""

    sequence: int
    draft: Draft


class Delta(msgspec.Struct, frozen=True):
    """Streamed text that is accepted. `before`: characters of its segment that came before it."""

    event_id: str
    type: str
    turn_id: str
    item_id: str
    text: str
    before: int


class Gone(msgspec.Struct, frozen=True):
    """The thread was deleted: the last thing that is told."""


class Subscription(msgspec.Struct):
    """One connection watching one thread."""

    thread_id: str
    connection: Connection
    last_sequence: int
    queue: deque[Live | Delta | Gone] = msgspec.field(default_factory=deque[Live | Delta | Gone])
    size: int = 0
    dropped: bool = False
    behind: bool = False
    """The log has events that are not in the queue: read them from the file first."""
    gone: bool = False
    deaf: bool = False
    """The client takes none of the notifications that an event brings."""
    wake: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    awaits_start: bool = False
    """Its thread is being made: what happens before that is about a thread of the same id that was deleted."""
    leaving: bool = False
    """Its thread is deleted; that it is told of it may still have to wait for a reply."""


class _Batch(msgspec.Struct):
    happenings: list[Happening]
    ready: bool
    watchers: list[Subscription]
    """Who watched when it happened."""


class Feed:
    """The subscriptions of this process."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watching: dict[str, list[Subscription]] = {}
        self._held: dict[str, deque[_Batch]] = {}
        self._holders: dict[int, list[tuple[str, _Batch]]] = {}
        self._poll: asyncio.Task[None] | None = None
        self._pumps: set[asyncio.Task[None]] = set()
        self._ends: list[tuple[int, int]] | None = None
        self._expected: dict[int, str] = {}
        self._unreplied: dict[str, int] = {}
        """By thread: how many of its jobs wait for their reply to be written."""

    # -- watching ---------------------------------------------------------------------------------------------
    def subscribe(
        self, connection: Connection, thread_id: str, after: int, *, being_made: bool = False
    ) -> Callable[[], None]:
        """Watch a thread from the event after `after`; call what is returned once the reply is written.

        `being_made`: the thread is about to be created; one of the same id may be on its way out.
        """
        key = thread_id.lower()
        for known in self._watching.get(key, ()):
            if known.connection is connection and not known.leaving and not being_made:
                return lambda: None
        from lockstitch.operations.notices import OF_EVENTS

        deaf = not any(map(connection.wants, OF_EVENTS))
        new = Subscription(thread_id, connection, after, behind=True, deaf=deaf, awaits_start=being_made)
        self._watching.setdefault(key, []).append(new)

        def begin() -> None:
            task = asyncio.get_running_loop().create_task(self._pump(new))
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)
            new.wake.set()

        if self._poll is None:
            self._poll = asyncio.get_running_loop().create_task(self._look_for_others())
        return begin

    def unsubscribe(self, connection: Connection, thread_id: str) -> None:
        key = thread_id.lower()
        for known in self._watching.get(key, ()):
            if known.connection is connection:
                self._end(known)
                return

    def unsubscribe_new(self, connection: Connection, thread_id: str) -> None:
        """The thread that was being made came to nothing."""
        for known in list(self._watching.get(thread_id.lower(), ())):
            if known.connection is connection and known.awaits_start:
                self._end(known)

    def _end(self, subscription: Subscription) -> None:
        subscription.gone = True
        subscription.wake.set()
        self._let_go(subscription)

    def _let_go(self, subscription: Subscription) -> None:
        """Nothing more is offered to it."""
        key = subscription.thread_id.lower()
        rest = [known for known in self._watching.get(key, ()) if known is not subscription]
        if rest:
            self._watching[key] = rest
        else:
            self._watching.pop(key, None)
        if not self._watching and self._poll is not None:
            self._poll.cancel()
            self._poll = None

    def close(self) -> None:
        for task in [*self._pumps, *([self._poll] if self._poll else [])]:
            task.cancel()
        self._watching.clear()

    @property
    def open_threads(self) -> int:
        return len(self._watching)

    # -- what happens -----------------------------------------------------------------------------------------
    def take(self, happenings: list[Happening]) -> None:
        """What a group did. Those whose request is not answered yet wait for its reply, and so does what follows."""
        for happening in happenings:
            key = happening.thread_id.lower()
            watching = self._watching.get(key)
            if watching is None or (isinstance(happening, Streamed) and all(one.deaf for one in watching)):
                continue
            batch = _Batch([happening], happening.hold is None, self._watchers_of(key, happening))
            self._held.setdefault(key, deque()).append(batch)
            if happening.hold is not None:
                self._holders.setdefault(id(happening.hold), []).append((key, batch))
            self._release(key)

    def _watchers_of(self, key: str, happening: Happening) -> list[Subscription]:
        watching = self._watching[key]
        if isinstance(happening, Committed) and happening.first_sequence == 1:
            for subscription in watching:
                subscription.awaits_start = False
        found = [one for one in watching if not one.awaits_start and not one.leaving]
        if isinstance(happening, Removed):
            for subscription in found:
                subscription.leaving = True
        return found

    def expect(self, job: Job[Any]) -> None:
        """A request waits for that job: what it writes is not told before its reply, wherever it is read."""
        key = str(getattr(job, "thread_id", "")).lower()
        self._expected[id(job)] = key
        self._unreplied[key] = self._unreplied.get(key, 0) + 1

    def replied(self, job: Job[Any]) -> None:
        """The reply to that job's request is written."""
        key = self._expected.pop(id(job), None)
        if key is not None:
            self._unreplied[key] -= 1
            if not self._unreplied[key]:
                del self._unreplied[key]
                for subscription in self._watching.get(key, ()):
                    if subscription.behind:
                        subscription.wake.set()
        for key, batch in self._holders.pop(id(job), ()):
            batch.ready = True
            self._release(key)

    def _release(self, key: str) -> None:
        held = self._held.get(key)
        while held and held[0].ready:
            batch = held.popleft()
            for happening in batch.happenings:
                for subscription in batch.watchers:
                    if not subscription.gone:
                        self._offer(subscription, happening)
        if not held:
            self._held.pop(key, None)

    def _offer(self, subscription: Subscription, happening: Happening) -> None:
        if isinstance(happening, Removed):
            subscription.queue.append(Gone())
            self._let_go(subscription)  # a new thread of the same id is another one
        elif isinstance(happening, Committed):
            if subscription.deaf:
                subscription.last_sequence = happening.first_sequence + len(happening.drafts) - 1
                return
            for sequence, draft in enumerate(happening.drafts, happening.first_sequence):
                self._put(subscription, Live(sequence, draft), len(draft.payload))
        elif subscription.deaf:
            return
        else:
            for answer in happening.answers:
                segment = answer.segment
                if segment is not None:
                    delta = Delta(
                        segment.event_id, segment.type, segment.turn_id, segment.item_id, answer.delta, answer.before
                    )
                    self._put(subscription, delta, len(answer.delta))
        subscription.wake.set()

    def _put(self, subscription: Subscription, entry: Live | Delta, size: int) -> None:
        size += 256
        if subscription.dropped:
            return
        if subscription.size + size > QUEUE_BYTES and subscription.queue:
            subscription.dropped = True
            return
        subscription.queue.append(entry)
        subscription.size += size

    # -- sending ----------------------------------------------------------------------------------------------
    async def _pump(self, subscription: Subscription) -> None:
        from lockstitch.operations.notices import Announcer

        announcer = Announcer(self._runtime, subscription)
        try:
            while not subscription.gone:
                await subscription.wake.wait()
                subscription.wake.clear()
                if subscription.thread_id.lower() not in self._unreplied:
                    await self._catch_up(subscription, announcer)
                while subscription.queue and not subscription.gone:
                    entry = subscription.queue.popleft()
                    if isinstance(entry, Gone):
                        await self._tell_deleted(subscription)
                        return
                    if isinstance(entry, Delta):
                        subscription.size -= len(entry.text) + 256
                        await announcer.delta(entry)
                        continue
                    subscription.size -= len(entry.draft.payload) + 256
                    if entry.sequence > subscription.last_sequence + 1:
                        subscription.behind = True
                        await self._catch_up(subscription, announcer, entry.sequence)
                    if entry.sequence == subscription.last_sequence + 1:
                        await announcer.event(entry)
                        subscription.last_sequence = entry.sequence
                if subscription.dropped:
                    await self._tell_dropped(subscription)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("a subscription ended")
            self._end(subscription)

    async def _catch_up(self, subscription: Subscription, announcer: Announcer, until: int | None = None) -> None:
        """Send what stands in the log and was not in the queue: missed events, and those of other processes.

        `until`: only what stands before that event, whose reply is written.
        """
        while subscription.behind and not subscription.gone:
            subscription.behind = False
            lines = await self._runtime.read(announcer.lines_after(subscription.last_sequence))
            if lines is None:  # another process deleted it
                await self._tell_deleted(subscription)
                return
            for live in lines:
                if live.sequence <= subscription.last_sequence:
                    continue
                if until is None and subscription.thread_id.lower() in self._unreplied:
                    subscription.behind = True  # it may be what the reply to come is about
                    return
                if live.sequence >= (until or _first_queued(subscription) or live.sequence + 1):
                    return
                await announcer.event(live)
                subscription.last_sequence = live.sequence
            if lines:
                subscription.behind = True

    async def _tell_dropped(self, subscription: Subscription) -> None:
        """Begin anew from what is in the log now; the client reads what lies between."""
        params = {"threadId": subscription.thread_id, "afterSequence": subscription.last_sequence}
        subscription.queue.clear()
        subscription.size, subscription.dropped = 0, False
        row = await self._runtime.read(lambda view: view.rows.thread(subscription.thread_id))
        await subscription.connection.notify("agentSession/eventsDropped", encode(params))
        if row is not None:
            subscription.last_sequence = max(subscription.last_sequence, row.last_sequence)

    async def _tell_deleted(self, subscription: Subscription) -> None:
        self._end(subscription)
        await subscription.connection.notify("thread/deleted", encode({"threadId": subscription.thread_id}))

    # -- other processes --------------------------------------------------------------------------------------
    async def _look_for_others(self) -> None:
        """While somebody watches: the boots once a second, and the database's version while another boot lives."""
        runtime = self._runtime
        others, looks = False, 0
        while True:
            if looks % LOOKS_PER_BOOTS == 0:
                others = await runtime.slowly(self._others_live)
            looks += 1
            if others and await runtime.read(self._has_changed):
                await self._mark_behind()
            await asyncio.sleep(LOOK_SECONDS if others else LOOK_SECONDS * LOOKS_PER_BOOTS)
            if not others:
                looks, self._ends = 0, None

    def _others_live(self) -> bool:
        boots = self._runtime.boots
        found = boots.others()
        living = [boot_id for boot_id in found if boots.is_alive(boot_id)]
        if len(living) < len(found):
            self._runtime.loop.call_soon_threadsafe(self._see_to_the_dead)
        return bool(living)

    def _see_to_the_dead(self) -> None:
        self._runtime.keep_running(asyncio.get_running_loop().create_task(self._runtime.interrupt_dead_turns()))

    def _has_changed(self, view: Any) -> bool:
        # data_version is of one connection, so where the watched threads end is asked instead.
        keys = list(self._watching)
        marks = ",".join("?" * len(keys))
        found = view.connection.execute(
            f"SELECT thread_no, last_sequence FROM thread WHERE thread_id IN ({marks}) ORDER BY thread_no", keys
        ).fetchall()
        changed = found != self._ends
        self._ends = found
        return changed

    async def _mark_behind(self) -> None:
        for subscriptions in self._watching.values():
            for subscription in subscriptions:
                subscription.behind = True
                subscription.wake.set()


def _first_queued(subscription: Subscription) -> int | None:
    """The first event that the queue has: what stands before it there, streamed text of its own, is told before it."""
    return next((entry.sequence for entry in subscription.queue if isinstance(entry, Live)), None)
