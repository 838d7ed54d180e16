"""What the readers of line-based session files share: walking the lines, and what is held back at an end.

Invariant: `closings` leaves the reading as it was, so that it can be asked for in the middle of a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from lockstitch.imports.chain import ChainedFile
from lockstitch.imports.composer import Composer
from lockstitch.imports.lines import DamagedLine, SourceLine, read_lines
from lockstitch.imports.source import Account, Mark, OpenTurn, SourceEvent, SourceThread


class JsonlReading(ABC):
    """One file being read; implements `SourceReading` but for what a line means."""

    def __init__(self, thread: SourceThread, client: str) -> None:
        self.thread = thread
        self.account = Account()
        self.title: str | None = thread.title
        self.composer = Composer(client, self.account)

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
        with ChainedFile(self.thread.files) as file:
            # What is written to it while we read belongs to the next import: its beginning is remembered by digest.
            for line in read_lines(file, end=self.thread.size, final=final):
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
        """What was held back; see `SourceReading`."""
        return self.composer.closings()
