"""Session files with anything wrong in them: imported or refused by a sentence, never an abort, and nothing twice."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.import_mutations import Mutations, records_of
from tests.property.import_pieces import Thread

from lockstitch import codec
from lockstitch.errors import ConflictError, InvalidError
from lockstitch.imports.detect import open_source
from lockstitch.imports.lines import DamagedLine, read_lines
from lockstitch.imports.preview import preview
from lockstitch.imports.scan import scan_sources
from lockstitch_protocol.ids import is_id

EXAMPLES = int(os.environ.get("LOCKSTITCH_TEST_MUTATIONS", "4"))
FILES = sorted((Path(__file__).parent.parent / "fixtures" / "imports").glob("*.json*"))
RECORDS = records_of(FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_is_wrong_with_a_file(tmp_path_factory: pytest.TempPathFactory, path: Path, seed: int) -> None:
    """It is read to its end; what cannot be read is counted; what is made of it is sound; again it adds nothing."""
    mutations = Mutations(random.Random(seed), RECORDS)
    source = tmp_path_factory.mktemp("mutated") / path.name
    source.write_bytes(mutations.of_file(path.read_bytes()))
    list(scan_sources(None, source))
    try:
        reading = open_source(source)
    except InvalidError as error:
        assert source.name in error.message and "can be imported" in error.message
        return
    if reading.thread.document is None and not reading.thread.earlier:
        list(reading.events(final=True))
        with source.open("rb") as file:
            damaged = sum(isinstance(line, DamagedLine) for line in read_lines(file, final=True))
        assert reading.damaged == damaged
    preview(source)
    thread = Thread()
    thread.take(source)
    for event in thread.events:
        json.loads(codec.encode(event.payload))
        assert all(given is None or is_id(given) for given in (event.turn_id, event.item_id, event.event_id))
    thread.told()
    assert thread.take(source) == 0
    with source.open("ab") as file:
        file.write(b"\n" + mutations.line())
    try:
        thread.take(source)
    except (ConflictError, InvalidError) as error:
        # A document that goes on behind its end is none; a file without an id has that of its first whole line.
        assert path.suffix == ".json" or "has changed" in error.message, error.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_text_in_other_encodings_is_refused_by_name(tmp_path: Path, encoding: str) -> None:
    """With a byte-order mark or without: the message says what to do."""
    source = tmp_path / "session.jsonl"
    source.write_bytes(FILES[0].read_bytes().decode().encode(encoding))
    with pytest.raises(InvalidError, match="save it as UTF-8"):
        open_source(source)


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need a privilege there")
def test_links_are_what_they_lead_to(tmp_path: Path) -> None:
    """A link to a session is read; one to nothing, to itself or to a folder is refused, and a scan passes them over."""
    for name, target in (
        ("good", FILES[0]),
        ("gone", tmp_path / "no"),
        ("loop", tmp_path / "loop.jsonl"),
        ("up", tmp_path),
    ):
        (tmp_path / f"{name}.jsonl").symlink_to(target)
    thread = Thread()
    assert thread.take(tmp_path / "good.jsonl") > 0
    for name in ("gone", "loop", "up"):
        with pytest.raises(InvalidError):
            open_source(tmp_path / f"{name}.jsonl")
    assert [found.path.name for found in scan_sources(None, tmp_path)] == ["good.jsonl"]
