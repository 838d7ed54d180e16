"""Session files cut and damaged anywhere: what was read stays, and nothing raises."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.import_pieces import Thread, difference

from lockstitch.errors import InvalidError
from lockstitch.imports.detect import open_source
from lockstitch.imports.source import SourceEvent

EXAMPLES = int(os.environ.get("LOCKSTITCH_TEST_CUTS", "15"))
FILES = sorted((Path(__file__).parent.parent / "fixtures" / "imports").glob("*.json*"))


def read(data: bytes, *, final: bool = False) -> list[SourceEvent] | None:
    """The events; None where no reader fits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.jsonl"
        path.write_bytes(data)
        try:
            reading = open_source(path)
        except InvalidError:
            return None
        events = list(reading.events(final=final))
        reading.closings()
        assert reading.damaged >= 0
        return events


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_a_file_cut_at_any_byte_and_then_whole_is_as_if_taken_at_once(path: Path, data: st.DataObject) -> None:
    """Facts, turns, items, usage and file versions are the same; what was read before a cut is not read again."""
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"source{path.suffix}")
        source.write_bytes(whole)
        wanted = Thread()
        wanted.take(source)
        assert wanted.take(source) == 0
        found = Thread()
        source.write_bytes(whole[:cut])
        try:
            found.take(source)
        except InvalidError:
            found = Thread()  # nothing tells the tool yet
        else:
            assert found.take(source) == 0
        source.write_bytes(whole)
        found.take(source)
        assert difference(found.told(), wanted.told()) is None
        assert found.take(source) == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_no_damage_raises(path: Path, data: st.DataObject) -> None:
    """Bytes overwritten, removed or doubled anywhere are damage, never an exception."""
    whole = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 200))
    whole[start : start + length] = data.draw(st.binary(max_size=40) | st.just(bytes(whole[start : start + 90])))
    read(bytes(whole), final=True)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".jsonl"], ids=lambda path: path.stem)
def test_lines_of_any_shape_are_read(path: Path) -> None:
    """Each value of a line replaced by another type reads without an exception."""
    lines = path.read_bytes().split(b"\n")
    values = (None, 1, "text", [], [1, "x", None], {}, {"type": 1, "content": 2}, True)
    for index in range(1, len(lines) - 1):
        record = json.loads(lines[index])
        changed: list[dict[str, Any]] = []
        for value in values:
            changed += [{**record, field: value} for field in record]
            for field, inner in record.items():
                if isinstance(inner, dict):
                    changed += [{**record, field: {**inner, name: value}} for name in inner]
        assert read(b"\n".join([*lines[:index], *(json.dumps(line).encode() for line in changed), *lines[index + 1 :]]))
