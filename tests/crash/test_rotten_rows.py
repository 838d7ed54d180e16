"""A database whose pages are whole and whose rows are not: no start fails, no read does, the log is not misled."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.crash.host import TABLES, Host, database, lines, rollouts
from tests.crash.scene import Scene, a_snapshot, one_event, several_events
from tests.crash.test_read_only import everything

UNDECODABLE = "CAST(x'ff80' AS TEXT)"


class Rot:
    """A data root after a kill in a turn, put back for each row that is to rot."""

    def __init__(self, scene: Scene) -> None:
        self.home, self.count = scene.home, 0
        self.threads = [scene.thread(), scene.thread(), scene.thread()]
        for change in (one_event, several_events, a_snapshot):
            change(scene, self.threads[0])
        scene.append(self.threads[1], ("turn.completed", {}), turnId=f"turn-{self.threads[1][-8:]}")
        scene.host.call("thread/archive", threadId=self.threads[1])
        scene.host.kill()
        self.kept = scene.home.with_name("kept")
        shutil.copytree(scene.home, self.kept)
        with Host(scene.home).start() as host:
            self.sound = everything(host, self.threads)
        self.types = self._types()

    def _types(self) -> dict[str, list[str]]:
        return {name: [line["type"] for line in lines(path)] for name, path in rollouts(self.home).items()}

    def try_(self, table: str, column: str, value: str) -> bool:
        """Whether the row could be made to rot. Asserts what must hold."""
        shutil.rmtree(self.home)
        shutil.copytree(self.kept, self.home)
        connection = sqlite3.connect(database(self.home))
        try:
            changed = connection.execute(
                f"UPDATE {table} SET {column}={value} WHERE thread_no=1 AND {column} IS NOT {value}"
            ).rowcount
            connection.commit()
        except sqlite3.IntegrityError:
            return False
        finally:
            connection.close()
        if not changed:
            return False
        with Host(self.home).start() as host:
            found = everything(host, self.threads)
            assert self._types() == self.types, "the log was misled"
            self._compare(found, table, column)
            appended = host.append(self.threads[0], ("artifact.snapshot", {"path": "made.txt", "content": "x"}))
            assert appended[0]["sequence"] == len(self.types[self.threads[0]]) + 1
        for path in rollouts(self.home).values():
            lines(path)
        return True

    def _compare(self, found: dict[str, Any], table: str, column: str) -> None:
        """Events come from the log alone. Of items, what is given out is an item."""
        for thread in self.threads:
            assert told(found[thread][3]) == told(self.sound[thread][3]), (table, column)
        assert {one["id"] for one in found["list"]["data"]} == {one["id"] for one in self.sound["list"]["data"]}


def told(events: list[dict[str, Any]]) -> str:
    """Events without their ids: an interruption gets one when it is written."""
    return json.dumps([(event["sequence"], event["type"], event["payload"], event.get("turnId")) for event in events])


def cases(home: Path) -> Iterator[tuple[str, str, str]]:
    connection = sqlite3.connect(database(home))
    try:
        for table in TABLES:
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                values = {"TEXT": (UNDECODABLE, "''"), "INTEGER": ("-1", "77", str(1 << 62)), "BLOB": ("x'ff80ff'",)}
                for value in (*values.get(kind, ()), "NULL"):
                    yield table, column, value
    finally:
        connection.close()


def test_no_row_that_rots_fails_a_start_or_misleads_the_log(scene: Scene) -> None:
    """A few of the rows; `make soak` has them all."""
    rot = Rot(scene)
    for case in (
        ("thread", "thread_id", "'ghost'"),
        ("thread", "path", UNDECODABLE),
        ("thread", "archived", "1"),
        ("thread", "archived_at", "77"),
        ("thread", "open_turn_no", "NULL"),
        ("thread", "created_at", str(1 << 62)),
        ("thread", "damage", "'{'"),
        ("turn", "status", "1"),
        ("turn", "turn_id", "'another'"),
        ("item", "kind", "77"),
        ("item", "item_at", "-1"),
        ("file_checkpoint", "version_no", "7"),
    ):
        assert rot.try_(*case), case
