"""Writes with something slow before them and after them, in the thread that read the request.

What reads files, stores contents and writes documents would else change threads three times, for longer than it takes.
Invariant: the floor is given up for all of it; order in the thread, and what is announced after the reply, are as for
any other write.
"""

from __future__ import annotations

from collections.abc import Callable

from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.runtime import Runtime, outcome_of
from lockstitch.timeline.jobs import Appended, AppendJob, Happening

FEW = 16
"""So many files are seen to in that thread: nobody can cancel the request meanwhile."""


def write_prepared(
    runtime: Runtime, call: Call, job: AppendJob, prepare: Callable[[], bool], follow: Callable[[Appended], None]
) -> Appended:
    """Perform a lone job; NOT_NOW if it would have to wait for another request, or for who sees to its thread.

    `prepare` is called first, and says False if something has to be seen to before it; `follow` before the reply.
    """
    aside, writer = call.aside, runtime.writer
    end = None if aside is None or writer.pending else runtime.order.take(job.thread_id)
    if aside is None or end is None:
        return NOT_NOW
    outcome, told = outcome_of(job), list[Happening]()

    def work() -> Appended:
        if not prepare():
            return NOT_NOW
        writer.wait_turn()
        answers, happenings = writer.serve_here(job)
        told.extend(happenings)
        for answer in answers:
            answer()
        done = outcome()
        follow(done)
        return done

    def replied() -> None:
        runtime.feed.replied(job)

    call.commit_point()
    runtime.feed.expect(job)
    call.after_reply.append(replied)
    try:
        done = aside(work)
    finally:
        end()
        runtime.feed.take(told)
    if done is NOT_NOW:
        call.after_reply.remove(replied)
        call.uncancellable = False
        replied()
    return done
