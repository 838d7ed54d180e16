"""The change of one file: hunks to show and a unified diff that `git apply` and `patch -p1` take.

Invariant: bytes in, and `unified` is exact: applied to `before` it gives `after`, and reversed the other way,
unless it is `truncated` (then it is a valid diff of the hunks that it holds) or binary.
Text in UTF-16 or UTF-32 has hunks to read, but no patch can be applied to its bytes line by line: its
`unified` says that the files differ, as git's does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lockstitch.artifacts.content import BINARY, as_text, describe
from lockstitch.diff.headers import Header, git_mode
from lockstitch.diff.hunks import Hunk, changes_between, hunks_of, split_lines
from lockstitch.diff.matching import Matching, match

_LINE_ENDS = frozenset({"lf", "crlf", "cr", "mixed"})
_LINES_OF_BYTES = frozenset({"utf-8", "utf-8-bom"})


class FileDiff(msgspec.Struct, frozen=True):
    """`additions` and `deletions` count all lines, also those of hunks that `max_bytes` left out."""

    unified: str
    hunks: list[Hunk]
    additions: int
    deletions: int
    binary: bool
    truncated: bool = False
    approximate: bool = False
    encoding_changed: bool = False
    eol_changed: bool = False
    mode_changed: bool = False
    renamed: bool = False
    before: dict[str, Any] | None = None
    """`{bytes, encoding, eol?, mode?}` of the side; None: no file there."""
    after: dict[str, Any] | None = None

    def as_wire(self) -> dict[str, Any]:
        """The contract's `diff`; flags that are optional there are left out when false."""
        wire: dict[str, Any] = {
            "format": "unified",
            "unified": self.unified,
            "hunks": [hunk.as_wire() for hunk in self.hunks],
            "additions": self.additions,
            "deletions": self.deletions,
            "binary": self.binary,
            "truncated": self.truncated,
        }
        for name, value in (
            ("approximate", self.approximate),
            ("encodingChanged", self.encoding_changed),
            ("eolChanged", self.eol_changed),
            ("modeChanged", self.mode_changed),
            ("renamed", self.renamed),
        ):
            if value:
                wire[name] = True
        if self.binary or self.encoding_changed or self.eol_changed or self.mode_changed:
            # What cannot be seen in lines is named.
            wire["before"], wire["after"] = self.before, self.after
        return wire


def diff_files(
    before: bytes | None,
    after: bytes | None,
    *,
    path: str,
    old_path: str | None = None,
    context: int = 3,
    max_bytes: int | None = None,
    before_mode: str | None = None,
    after_mode: str | None = None,
) -> FileDiff:
    """Compare two contents of a file; None is a side without a file.

    `old_path` is where a renamed file was; modes are four octal digits; `max_bytes` bounds `unified`.
    """
    both = before is not None and after is not None
    old_encoding, old_eol = _described(before)
    new_encoding, new_eol = _described(after)
    renamed = both and old_path is not None and old_path != path
    mode_changed = both and before_mode is not None and after_mode is not None and before_mode != after_mode
    changed = before != after
    binary = BINARY in (old_encoding, new_encoding)
    old = [] if binary else _lines(before, old_encoding)
    new = [] if binary else _lines(after, new_encoding)
    matching = match(old, new) if changed else Matching([(0, 0, len(old))] if old else [], approximate=False)
    changes = changes_between(matching.blocks, len(old), len(new))
    # A mode that is known on one side only is taken to be the other's too.
    old_mode = git_mode(before_mode or after_mode)
    new_mode = git_mode(after_mode or before_mode)
    header = Header(
        old_path=old_path if renamed and old_path is not None else path,
        new_path=path,
        old_mode=None if before is None else old_mode,
        new_mode=None if after is None else new_mode,
        similarity=_similarity(matching, len(old), len(new), changed) if renamed else None,
    )
    hunks: list[Hunk] = []
    unified = ""
    truncated = False
    if changed or renamed or (both and old_mode != new_mode):
        unified = header.git_lines()
        file_lines = header.file_lines()
        found = hunks_of(old, new, changes, context)
        hunks, text, truncated = _bounded(found, max_bytes, len(unified) + len(file_lines))
        if {old_encoding, new_encoding} - _LINES_OF_BYTES - {None}:
            unified += header.binary_line() if changed else ""
        elif hunks:
            unified += file_lines + text
        elif truncated:
            unified = ""  # a header alone would say that the content stays
    return FileDiff(
        unified=unified,
        hunks=hunks,
        additions=sum(new_high - new_low for _, _, new_low, new_high in changes),
        deletions=sum(old_high - old_low for old_low, old_high, _, _ in changes),
        binary=binary,
        truncated=truncated,
        approximate=matching.approximate,
        encoding_changed=both and old_encoding != new_encoding,
        eol_changed=old_eol != new_eol and {old_eol, new_eol} <= _LINE_ENDS,
        mode_changed=mode_changed,
        renamed=renamed,
        before=_side(before, old_encoding, old_eol, before_mode),
        after=_side(after, new_encoding, new_eol, after_mode),
    )


def _side(data: bytes | None, encoding: str | None, eol: str | None, mode: str | None) -> dict[str, Any] | None:
    if data is None:
        return None
    told = {"bytes": len(data), "encoding": encoding, "eol": eol, "mode": mode}
    return {name: value for name, value in told.items() if value is not None}


def _described(data: bytes | None) -> tuple[str | None, str | None]:
    return (None, None) if data is None else describe(data)


def _lines(data: bytes | None, encoding: str | None) -> list[bytes]:
    if data is None:
        return []
    if encoding not in _LINES_OF_BYTES:
        data = (as_text(data, encoding) or "").encode("utf-8")
    return split_lines(data)


def _bounded(found: Iterator[Hunk], max_bytes: int | None, size: int) -> tuple[list[Hunk], str, bool]:
    """As many whole hunks as fit, their text, and whether some are left out."""
    hunks: list[Hunk] = []
    parts: list[str] = []
    for hunk in found:
        text = hunk.unified()
        if max_bytes is not None:
            size += len(text.encode("utf-8"))
            if size > max_bytes:
                return hunks, "".join(parts), True
        hunks.append(hunk)
        parts.append(text)
    return hunks, "".join(parts), False


def _similarity(matching: Matching, old_count: int, new_count: int, changed: bool) -> int:
    if not changed:
        return 100
    kept = sum(length for _, _, length in matching.blocks)
    return min(99, 100 * kept // max(old_count, new_count, 1))
