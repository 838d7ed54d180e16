"""Rounds of `make soak`: sources cut at random bytes and then taken whole, and sources with anything wrong in them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

from tests.crash.host import Host, RefusedError
from tests.property.import_mutations import Mutations, records_of
from tests.property.import_pieces import Thread, difference

from lockstitch.errors import InvalidError

_FIXTURES = Path(__file__).parent / "fixtures" / "imports"
_SHARED = Path(__file__).parents[2] / "shared" / "data" / "sessions"
_CUTS = 12
_MUTATED = 40


def _files() -> list[Path]:
    """Our own files, and real ones where they lie beside the repository."""
    tools = ("codex", "claude", "gemini")
    return sorted([*_FIXTURES.iterdir(), *(path for tool in tools for path in (_SHARED / tool).glob("*"))])


def import_cuts(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """What grew in any pieces reads as what was taken at once. Real files too, where they lie beside the repository."""
    home.mkdir(parents=True)
    path = chance.choice(_files())
    whole = path.read_bytes()
    source = home / path.name
    source.write_bytes(whole)
    wanted = Thread()
    wanted.take(source)
    for _ in range(_CUTS):
        counts["import cuts"] += 1
        ends = sorted(chance.randint(0, len(whole)) for _ in range(chance.choice((1, 1, 2, 5))))
        found = Thread()
        for end in [*ends, len(whole)]:
            source.write_bytes(whole[:end])
            try:
                found.take(source)
            except InvalidError:
                assert not found.events, f"{path.name} cut at {ends}: refused at {end}"
        told = difference(found.told(), wanted.told())
        assert told is None, f"{path.name} cut at {ends}: {told}"
        assert found.take(source) == 0


def import_mutations(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """Whatever is wrong with a file, the process imports or refuses it; again adds nothing; the data root is sound."""
    files = [path for path in _files() if path.stat().st_size < 100_000]
    mutations = Mutations(chance, records_of(files))
    host = Host(home).start()
    try:
        for number in range(_MUTATED):
            counts["mutated imports"] += 1
            path = chance.choice(files)
            source = home.parent / f"source-{number}{path.suffix}"
            source.write_bytes(mutations.of_file(path.read_bytes()))
            first = _imported(host, source, replaceExisting=True)
            if first is None:
                counts["refused imports"] += 1
                continue
            again = _imported(host, source)
            assert again is not None and not again["turns"] + again["items"] + again["checkpoints"], again
            host.call("thread/read", threadId=first["threadId"], includeTurns=True)
            source.unlink()
        found = host.call("storage/verify")
        assert found["ok"], found
    finally:
        host.close()


def _imported(host: Host, source: Path, **params: Any) -> dict[str, Any] | None:
    """The result of an import; None if the file is refused."""
    try:
        job = host.call("conversationImport/thread/commit", sourcePath=str(source), confirmed=True, **params)["job"]
    except RefusedError as error:
        assert error.kind in ("invalidParams", "threadExists"), error
        return None
    while job["status"] in ("queued", "running"):
        job = host.call("conversationImport/job/read", jobId=job["jobId"])["job"]
    if job["status"] == "failed":
        assert job["error"]["kind"] == "threadExists", job
        return None
    return job["result"]
