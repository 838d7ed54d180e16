"""Finds the id of a message that is not parsed, from its two ends.

Invariant: only an `id` of the message itself is taken, never one inside its params; where it cannot be told, None.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    rb'\s*(?:([{}\[\]:,])|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    rb"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[\s,}\]]))"
)
_ID = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*+"|-?(?:0|[1-9][0-9]*)')

# The id as one of the last members, behind params: only plain members stand between it and the one closing brace.
_PLAIN = rb'(?:"(?:[^"\\\x00-\x1f]|\\.)*+"|-?[0-9][0-9.eE+-]*|true|false|null)'
_LAST = re.compile(
    rb'[,{]\s*"id"\s*:\s*(' + _PLAIN + rb')(?:\s*,\s*"(?:[^"\\\x00-\x1f]|\\.){0,64}+"\s*:\s*' + _PLAIN + rb")*\s*}\s*\Z"
)


def peek_id(head: bytes, tail: bytes) -> bytes | None:
    """The id as JSON, a string or a whole number, of a message that begins with `head` and ends with `tail`."""
    found = _from_head(head) or _from_tail(tail)
    return found if found is not None and _ID.fullmatch(found) else None


def _from_head(head: bytes) -> bytes | None:
    depth = at = 0
    key: bytes | None = None
    expects_key = False
    while token := _TOKEN.match(head, at):
        at = token.end()
        mark, text, plain = token.groups()
        if mark is None:
            if depth == 1 and expects_key:
                key = text
                expects_key = False
            elif depth == 1 and key == b'"id"':
                return text or plain
        elif mark in b"{[":
            if depth == 0 and mark == b"[":
                return None  # a batch has no id of its own
            depth += 1
            expects_key = depth == 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return None
        elif mark == b",":
            expects_key = depth == 1
    return None


def _from_tail(tail: bytes) -> bytes | None:
    last = tail.rstrip()
    for at in _starts(last):
        if found := _LAST.match(last, at):
            return found[1]
    return None


def _starts(tail: bytes) -> list[int]:
    """Where an `"id"` member may begin: few places, so that the search is not quadratic."""
    return [place.start() for place in re.finditer(rb'[,{]\s*"id"\s*:', tail)][-8:]
