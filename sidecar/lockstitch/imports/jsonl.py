"""What the readers of line-based session files share: walking the lines, and what is held back at an end.

Invariant: `closings` leaves the reading as it was, so that it can be asked for in the middle of a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from lockstitch.imports.chain import open_lines
from lockstitch.imports.composer import Composer
from lockstitch.imports.lines import DamagedLine, SourceLine, read_lines
from lockstitch.imports.source import Account, Mark, OpenTurn, SourceEvent, SourceThread


class JsonlReading(ABC):
    """One file being read; implements `SourceReading` but for what a line means."""

    def __init__(self, thread: SourceThread, client: str) -> None:
        self.thread = thread
        self.account = Account()
        self.title: str | None = thread.title
        self.found_cwd: str | None = None
        self.composer = Composer(client, self.account)
        self._held: list[SourceEvent] | None = None
        """What a document's last line told: read once."""

    @property
    def damaged(self) -> int:
        return self.account.damaged

    @property
    def skipped(self) -> int:
        return self.account.skipped.total()

    @property
    def open_turn(self) -> OpenTurn | None:
        return self.composer.open_turn()

    def events(self, *, final: bool = False, mark: Mark | None = None) -> Iterator[SourceEvent]:
        """Stream the events of the file."""
        end = self.thread.size if self.thread.settled is None else self.thread.settled
        with open_lines(self.thread) as file:
            # What is written to it while we read belongs to the next import: its beginning is remembered by digest.
            for line in read_lines(file, end=end, final=final):
                if mark is not None and line.offset + line.length > mark.at:
                    mark.reached()
                    mark = None
                if isinstance(line, DamagedLine):
                    self.account.add_damage(line.offset, line.length, line.reason)
                    continue
                self.read_line(line)
                yield from self.composer.take()
        if mark is not None:
            mark.reached()

    @abstractmethod
    def read_line(self, line: SourceLine) -> None:
        """Compose the events of one line."""

    def closings(self) -> list[SourceEvent]:
        """What was held back; see `SourceReading`. A document's last line is among it, and is read for good."""
        if self.thread.settled is None:
            return self._held_back()
        if self._held is None:
            self._held = self._last_line() + self._held_back()
        return self._held

    def _last_line(self) -> list[SourceEvent]:
        assert self.thread.settled is not None
        found: list[SourceEvent] = []
        with open_lines(self.thread) as file:
            file.seek(self.thread.settled)
            for line in read_lines(file, final=True, start=self.thread.settled):
                if isinstance(line, DamagedLine):
                    self.account.add_damage(line.offset, line.length, line.reason)
                else:
                    self.read_line(line)
                    found += self.composer.take()
        return found

    def _held_back(self) -> list[SourceEvent]:
        return self.composer.closings()
