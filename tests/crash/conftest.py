from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.crash.zygote import Process


@pytest.fixture(scope="session", autouse=True)
def _server_of_forks() -> Iterator[None]:
    yield
    Process.end_server()
