"""A round of `make soak`: source files cut at random bytes, several times over, then taken whole."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.property.import_pieces import Thread, difference

from lockstitch.errors import InvalidError

_FIXTURES = Path(__file__).parent / "fixtures" / "imports"
_SHARED = Path(__file__).parents[2] / "shared" / "data" / "sessions"
_CUTS = 12


def import_cuts(home: Path, chance: random.Random, counts: Counter[str]) -> None:
    """What grew in any pieces reads as what was taken at once. Real files too, where they lie beside the repository."""
    home.mkdir(parents=True)
    files = [
        *_FIXTURES.iterdir(),
        *(path for tool in ("codex", "claude", "gemini") for path in (_SHARED / tool).glob("*")),
    ]
    path = chance.choice(sorted(files))
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
