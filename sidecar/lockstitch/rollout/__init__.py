"""The rollout: a thread's append-only file of events, one line each; the only truth there is.

Invariant: this package knows bytes and files. It knows no SQL, no method of the protocol and no event type.
"""
