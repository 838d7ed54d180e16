"""docs/format.md tells the truth: its example, its reader and its words are checked against the code."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstitch.rollout.line import MAX_LINE_BYTES, parse_line, payload_span, previous_sum_at, sum_of
from lockstitch.rollout.scan import HARMLESS, Record, scan

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found[1]


EXAMPLE = block("rollout").encode()


def test_the_example_is_a_sound_rollout() -> None:
    found = list(scan(io.BytesIO(EXAMPLE), 0, len(EXAMPLE), previous_sum=b"", next_sequence=1))
    records = [record for record in found if isinstance(record, Record)]
    assert records == found
    assert [record.line.sequence for record in records] == [1, 2, 3, 4]
    assert [record.line.more for record in records] == [0, 2, 1, 0]
    for record in records:
        offset, length = payload_span(record.data)
        assert record.data[offset : offset + length] == bytes(record.line.payload)


def test_the_numbers_in_the_example_are_right() -> None:
    one, two = EXAMPLE.split(b"\n")[:2]
    told = re.search(
        r"Line 1 is (\d+) bytes long.*first (\d+) bytes.*: `(\w+)`\..*sixteen bytes `(\w+)`.*: `(\w+)`\.", DOCUMENT
    )
    assert told is not None
    assert int(told[1]) == len(one)
    assert int(told[2]) == len(one) - 26
    assert told[3].encode() == told[4].encode() == sum_of(one, b"") == previous_sum_at(one + b"\n")
    assert told[5].encode() == sum_of(two, told[3].encode())
    assert two[:-26].endswith(b'"more":2')


def test_the_reader_in_the_document_reads() -> None:
    names: dict[str, Any] = {}
    exec(block("python"), names)
    events: Iterator[dict[str, Any]] = names["read"](EXAMPLE)
    assert list(events) == [json.loads(line) for line in EXAMPLE.split(b"\n")[:-1]]
    rotten = EXAMPLE.replace(b"agentMessage", b"agentMassage")
    with pytest.raises(ValueError, match='"sequence":4'):
        list(names["read"](rotten))


def test_every_key_and_every_reason_is_documented() -> None:
    assert f"{MAX_LINE_BYTES >> 20} MiB" in DOCUMENT
    for key in parse_line(EXAMPLE.split(b"\n")[0]).__struct_fields__:
        assert re.search(rf"^\| .*`{key}`", DOCUMENT, re.MULTILINE), key
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sidecar/lockstitch/rollout").glob("*.py"))
    reasons = set(
        re.findall(r'(?:return|else) "(\w+)"(?: if|$)', sources.partition("def reason_of")[2][:700], re.MULTILINE)
    )
    reasons |= set(re.findall(r'(?:_lose|Damage)\(.*?, "(\w+)"\)', sources)) | {"rotten", "notJson"}
    assert reasons >= HARMLESS | {"torn", "nul", "tornAppend", "missing", "notUtf8"}
    table = DOCUMENT[DOCUMENT.index("| reason |") :]
    for reason in reasons:
        row = re.search(rf"^\| [^|]*`{reason}`[^|]*\|[^|]*\| (.*?) \|$", table, re.MULTILINE)
        assert row is not None, reason
        assert (row[1] == "no") == (reason in HARMLESS), reason
