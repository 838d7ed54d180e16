from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.host import Host
from tests.crash.scene import Scene
from tests.crash.zygote import Process


@pytest.fixture(scope="session", autouse=True)
def _server_of_forks() -> Iterator[None]:
    yield
    Process.end_server()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A host on a new data root."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    made = Scene(tmp_path / "home", workspace, Host(tmp_path / "home").start())
    yield made
    made.host.kill()
