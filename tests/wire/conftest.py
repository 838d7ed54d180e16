"""One process a module, and claims that are checked: what a test says it covers must have happened in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wire.host import LEDGER, Host


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "covers(*names): methods, error kinds, event types, notifications it exercises")


@pytest.fixture(autouse=True)
def _claims(request: pytest.FixtureRequest) -> Iterator[None]:
    claimed = {name for mark in request.node.iter_markers("covers") for name in mark.args}
    if not claimed:
        yield
        return
    before = set(LEDGER)
    LEDGER.clear()
    yield
    missing = claimed - LEDGER
    LEDGER.update(before)
    assert not missing, f"the test claims to cover {sorted(missing)}, which did not happen in it"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a workspace in it; the module's data root is made beside it."""
    root = tmp_path_factory.mktemp("wire").resolve()
    (root / "workspace").mkdir()
    return root


@pytest.fixture(scope="module")
def host(place: Path) -> Iterator[Host]:
    """The module's process."""
    with Host(place) as found:
        yield found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of the test's own."""
    found = tmp_path.resolve() / "workspace"
    found.mkdir()
    return found
