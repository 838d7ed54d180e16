"""These tests need Chromium and chromedriver: `make browser` runs them."""

from __future__ import annotations

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "covers(*names): of the tests whose threads are used here")


if "LOCKSTITCH_BROWSER" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
