"""Which files changed, per turn and over the whole thread, each with one difference from its beginning to its end.

Invariant: a difference is made only from contents that are known and hold no secret; else the page says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lockstitch.codec import mapping
from lockstitch.diff import diff_files
from lockstitch.errors import UnavailableError
from lockstitch.exports.facts import GetContent
from lockstitch.exports.html_items import counts, diff_block, folded
from lockstitch.exports.html_text import escape

_MOST_BYTES = 1 << 20
_MOST_SHOWN = 256 << 10
_WORDS = {
    "created": "created",
    "modified": "changed",
    "deleted": "deleted",
    "renamed": "renamed",
    "external": "changed by the user",
    "restored": "restored",
}


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file from before its first checkpoint of a list to after its last."""

    path: str
    word: str
    checkpoints: list[dict[str, Any]]
    """Oldest first."""

    @property
    def first(self) -> dict[str, Any]:
        return self.checkpoints[0]

    @property
    def last(self) -> dict[str, Any]:
        return self.checkpoints[-1]


def changes_of(checkpoints: Iterable[dict[str, Any]]) -> list[FileChange]:
    """By path, in the order of their first change. `checkpoints`: oldest first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for checkpoint in checkpoints:
        if checkpoint.get("status") != "failed":
            found.setdefault(checkpoint["path"], []).append(checkpoint)
    return [FileChange(path, _word(known), known) for path, known in found.items()]


def _word(checkpoints: list[dict[str, Any]]) -> str:
    first, last = checkpoints[0], checkpoints[-1]
    if last.get("after") is None:
        return "deleted"
    if first.get("before") is None:
        return "created"
    return _WORDS.get(str(last.get("op")), "changed") if len(checkpoints) == 1 else "changed"


class Differences:
    """Makes what changed between two contents, and says why it cannot."""

    def __init__(self, get: GetContent, left_out: frozenset[str], pulse: Callable[[], None]) -> None:
        self._get, self._left_out, self._pulse = get, left_out, pulse

    def html(self, change: FileChange, anchor: Callable[[str], str | None]) -> str:
        """One file, which opens. `anchor` gives the element of a checkpoint's item on the page."""
        self._pulse()
        label = f'<span class="what">{change.word}</span> <code class="path">{escape(change.path)}</code>'
        links = [
            f'<a href="#{place}">{escape(_version(checkpoint))}</a>'
            for checkpoint in change.checkpoints
            if (place := anchor(checkpoint["checkpointId"])) is not None
        ]
        told = f'<p class="dim">Where it happened: {", ".join(links)}</p>' if links else ""
        if len(change.checkpoints) == 1:
            counted = counts(change.first.get("additions"), change.first.get("deletions"))
            # The difference is on the page already, with its item; the script shows it here too.
            place = anchor(change.first["checkpointId"])
            same = f'<div class="same" data-from="{place}"></div>' if place else ""
            body, lines = same + told or '<p class="dim">It is in no turn that is shown.</p>', 0
        else:
            body, counted, lines = self._difference(change)
            body += told
        head = f"{label} {counted}"
        opens = folded(head, body, kind="row edit", lines=lines)
        return f'<li class="file" data-path="{escape(change.path)}">{opens}</li>\n'

    def _difference(self, change: FileChange) -> tuple[str, str, int]:
        before, after = change.first.get("before"), change.last.get("after")
        why = None
        try:
            old, new = self._bytes(before), self._bytes(after)
        except UnavailableError as error:
            old = new = None
            why = f"One of the two contents cannot be had: {error.facts.get('contentStatus', 'missing')}."
        if why is None and len(old or b"") + len(new or b"") > _MOST_BYTES:
            why = "The file is too large to be shown here."
        if why is None and old == new:
            why = "In the end the file is what it was."
        if why is not None:
            return f'<p class="dim">{why}</p>', "", 0
        made = diff_files(old, new, path=change.path, max_bytes=_MOST_SHOWN)
        if made.binary:
            return '<p class="dim">The contents are no text.</p>', "", 0
        note = '<p class="dim">This is the beginning of the difference.</p>' if made.truncated else ""
        block = diff_block(made.unified, f"Changes of {change.path}, first to last")
        return block + note, counts(made.additions, made.deletions), made.unified.count("\n")

    def _bytes(self, side: Any) -> bytes | None:
        """The content of a side; None: no file. Raises UnavailableError."""
        if side is None:
            return None
        reference = mapping(side)
        sha256 = reference.get("sha256")
        if sha256 in self._left_out:
            raise UnavailableError("redacted", contentStatus="it holds a secret and is left out")
        if not sha256:
            raise UnavailableError("unknown", contentStatus=reference.get("contentStatus", "notCaptured"))
        return self._get(sha256)


def _version(checkpoint: dict[str, Any]) -> str:
    number = checkpoint.get("versionNo")
    return f"version {number}" if number else str(checkpoint.get("op"))
