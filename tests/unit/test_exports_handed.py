"""Files that claim to be a thread: what is not sound to the last byte is refused, with a reason, before it is used."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from lockstitch.codec import encode
from lockstitch.errors import InvalidError
from lockstitch.exports import unzip
from lockstitch.exports.bundle import SCHEMA
from lockstitch.exports.handed import open_handed
from lockstitch.exports.seal import FileSeal, seal
from lockstitch.rollout.line import Draft, encode_append, encode_line

AT = "2026-12-01T02:40:11.123456Z"
CONTENT = b"print(1)\n" * 200
SHA = sha256(CONTENT).hexdigest()


def rollout(*, started: dict[str, object] | None = None, extra: list[Draft] | None = None) -> bytes:
    """Five lines: the start, an append of three, and one that names a content."""
    begun = {"format": 1, "threadId": "thread_a", "cwd": "/w", "workspaceLinked": True, **(started or {})}
    drafts = [Draft("thread.started", encode(begun), "e1", AT)]
    first = encode_line(1, drafts[0], b"")
    three = [Draft("acme.note", encode({"n": n}), f"n{n}", AT) for n in range(3)]
    made = encode_append(2, three, first.sum)
    lines, previous = [first.data, *made.lines], made.sum
    last = [Draft("acme.names", encode({"sha256": SHA}), "e5", AT), *(extra or [])]
    for number, draft in enumerate(last, 5):
        encoded = encode_line(number, draft, previous)
        lines.append(encoded.data)
        previous = encoded.sum
    return b"".join(lines)


def bundle(
    lines: bytes | None = None,
    *,
    fields: dict[str, object] | None = None,
    files: dict[str, bytes] | None = None,
    more: Callable[[zipfile.ZipFile], None] | None = None,
) -> bytes:
    """A bundle as it is written, but for what a test changes."""
    lines = rollout() if lines is None else lines
    held = {"rollout.jsonl": lines, f"files/{SHA}": CONTENT} if files is None else files
    manifest = {
        "schemaVersion": SCHEMA,
        "threadId": "thread_a",
        "redacted": False,
        "rollout": {"lastSum": lines[-19:-3].decode(), "lastSequence": 5},
        **(fields or {}),
    }
    sealed = seal(manifest, [FileSeal.of(name, data) for name, data in held.items()])
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in held.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", sealed)
        if more is not None:
            more(archive)
    return out.getvalue()


def reason(tmp_path: Path, data: bytes, name: str = "file") -> str:
    """Why the file is refused."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InvalidError) as caught, open_handed(path) as handed:
        list(handed.rollout())
    assert caught.value.facts["errors"][0]["path"] == "path"
    return caught.value.message


def test_a_sound_bundle_and_sound_lines_are_taken(tmp_path: Path) -> None:
    for data, contents in ((bundle(), [SHA]), (rollout(), [])):
        path = tmp_path / "sound"
        path.write_bytes(data)
        with open_handed(path) as handed:
            told = handed.told
            assert (handed.thread_id, told.events, told.last_sequence, told.created_at) == ("thread_a", 5, 5, AT)
            assert told.workspace == ("/w", None) and told.linked_by is None
            assert b"".join(handed.rollout()) == rollout() and handed.contents == contents
            assert [handed.content(found) for found in contents] == [CONTENT] * len(contents)


def entry(name: str, data: bytes = b"x", mode: int = 0o100600) -> Callable[[zipfile.ZipFile], None]:
    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, data)

    return add


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "files/../x",
        "files/",
        "files/AA",
        "C:\\x",
        "files/" + "0" * 63,
        "ü",
    ],
)
def test_names_are_of_a_whitelist(tmp_path: Path, name: str) -> None:
    assert "which no bundle has" in reason(tmp_path, bundle(more=entry(name)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_links_second_entries_and_what_the_manifest_does_not_name(tmp_path: Path) -> None:
    other = f"files/{sha256(b'x').hexdigest()}"
    assert "not a regular file" in reason(tmp_path, bundle(more=entry(other, b"/etc/passwd", 0o120777)))
    assert "two entries" in reason(tmp_path, bundle(more=entry("rollout.jsonl", rollout())))
    assert "files that its manifest names" in reason(tmp_path, bundle(more=entry(other)))
    assert "no line of its rollout names" in reason(
        tmp_path, bundle(files={"rollout.jsonl": rollout(), f"files/{SHA}": CONTENT, other: b"x"})
    )
    assert "by another sha256" in reason(tmp_path, bundle(files={"rollout.jsonl": rollout(), other: CONTENT}))


def test_bombs_are_refused_before_they_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(30 << 20)
    name = f"files/{sha256(zeros).hexdigest()}"
    packed = bundle(files={"rollout.jsonl": rollout(), name: zeros})
    assert len(packed) < 100_000
    assert "would grow to 31457280 bytes" in reason(tmp_path, packed)
    # A header that lies about the size is found while reading, at that size.
    lied = packed.replace(struct.pack("<I", len(zeros)), struct.pack("<I", 1000))
    assert "cannot be imported" in reason(tmp_path, lied)
    monkeypatch.setattr(unzip, "MOST_ENTRIES", 2)
    assert "more than 2 entries" in reason(tmp_path, bundle())
    monkeypatch.undo()
    monkeypatch.setattr(unzip, "MOST_BYTES", 1000)
    assert "grow beyond" in reason(tmp_path, bundle())


def test_every_cut_and_every_changed_byte_is_found(tmp_path: Path) -> None:
    """Cuts of a bundle; cuts and flipped bits of lines."""
    whole = bundle()
    for cut in range(0, len(whole), 37):
        reason(tmp_path, whole[:cut])
    lines = rollout()
    for cut in [*range(1, 40), *range(40, len(lines), 29)]:
        if lines[: cut - 1].endswith(b"\n") and b'"more"' not in lines[:cut].split(b"\n")[-2]:
            continue  # a thread as it was before
        reason(tmp_path, lines[:cut])
    for at in range(0, len(lines), 7):
        reason(tmp_path, lines[:at] + bytes([lines[at] ^ 1]) + lines[at + 1 :])


def test_what_was_redacted_or_is_newer_or_another_thread_is_told_apart(tmp_path: Path) -> None:
    assert "redact false" in reason(tmp_path, bundle(fields={"redacted": True}))
    marked = encode_line(6, Draft("a.b", b"{}", "e6", AT, original_sum="0" * 16), rollout()[-19:-3]).data
    assert "redact false" in reason(tmp_path, rollout() + marked)
    assert "format 2" in reason(tmp_path, rollout(started={"format": 2}))
    assert "thread-bundle.v9" in reason(tmp_path, bundle(fields={"schemaVersion": "thread-bundle.v9"}))
    assert "names another one" in reason(tmp_path, bundle(fields={"threadId": "thread_b"}))
    assert "does not say whose" in reason(tmp_path, rollout(started={"threadId": "../../evil"}))
    named = "rollout-2026-12-01T02-40-11-thread_c.jsonl"
    path = tmp_path / named
    path.write_bytes(rollout(started={"threadId": None}))
    with open_handed(path) as handed:
        assert handed.thread_id == "thread_c"
    ends = {"rollout": {"lastSum": "0" * 16, "lastSequence": 5}}
    assert "does not end as" in reason(tmp_path, bundle(fields=ends))


def test_damage_that_the_lines_tell_of_is_no_reason(tmp_path: Path) -> None:
    """A thread that lost events says so itself: what is left of it can be handed on."""
    lines = rollout()
    start = lines.index(b'{"sequence":3')
    end = lines.index(b'{"sequence":4')
    rotten = lines[:start] + b"?" * (end - start - 1) + b"\n" + lines[end:]
    assert "is damaged" in reason(tmp_path, rotten)
    told = encode({"partial": True, "damage": [{"fromOffset": start, "toOffset": end, "reason": "notJson"}]})
    recovered = encode_line(6, Draft("thread.recovered", told, "e6", AT), lines[-19:-3]).data
    path = tmp_path / "told"
    path.write_bytes(rotten + recovered)
    with open_handed(path) as handed:
        assert handed.told.events == 5 and b"".join(handed.rollout()) == rotten + recovered
