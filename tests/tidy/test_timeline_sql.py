"""`schemas/timeline.sql` is what the code creates, and its columns are the rows' fields."""

from __future__ import annotations

import re
from pathlib import Path

from lockstitch.timeline.rows import ROW_TYPES, columns
from lockstitch.timeline.schema import MIGRATIONS, TABLES, script

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_script_is_generated() -> None:
    assert (ROOT / "schemas" / "timeline.sql").read_text(encoding="utf-8") == script()


def test_columns_stand_in_the_order_of_the_rows() -> None:
    for row_type in ROW_TYPES:
        body = re.search(rf"CREATE TABLE {row_type.table}\((.*?)\) STRICT", TABLES, re.DOTALL)
        assert body is not None, row_type.table
        named = re.findall(r"(?:^|,)\s*([a-z_0-9]+) (?:INTEGER|TEXT|REAL|BLOB)", body[1])
        for migration in MIGRATIONS:
            named += re.findall(rf"ALTER TABLE {row_type.table} ADD COLUMN ([a-z_0-9]+) ", migration)
        assert tuple(named) == columns(row_type)
