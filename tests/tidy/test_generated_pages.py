"""`docs/protocol.md` and `docs/cli.md` are what the registry, the tables and the examples give; no link is broken."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from docs import generate, protocol_page
from tests.unit.protocol_error_examples import ERROR_EXAMPLES
from tests.unit.protocol_examples import METHOD_EXAMPLES, NOTIFICATION_EXAMPLES, PAYLOADS

from lockstitch.cli.arguments import VERBS
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.events import EVENT_TYPES
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.notifications import NOTIFICATIONS
from lockstitch_protocol.schema_documents import Documents

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


@cache
def bundle() -> tuple[Documents, dict[str, Any]]:
    documents = Documents()
    return documents, documents.bundle()["$defs"]


def faults(name: str, value: Any) -> list[str]:
    """Where the schema of a type says that the value is wrong."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": bundle()[1]}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(value)]


def headings(page: str) -> set[str]:
    found = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"<[^>]*>", "", one) for one in found}


def test_the_pages_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("page", [PROTOCOL, CLI], ids=["protocol", "cli"])
def test_every_link_leads_somewhere(page: str) -> None:
    known = {protocol_page.slug(one) for one in headings(page)} | set(re.findall(r'<a id="([^"]+)">', page))
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= known


def test_everything_has_a_section() -> None:
    assert {*METHODS, *NOTIFICATIONS, *ERROR_CODES} <= headings(PROTOCOL)
    assert {name for name in EVENT_TYPES if f"| `{name}` |" not in PROTOCOL} == set()
    assert set(VERBS) <= headings(CLI)


@pytest.mark.parametrize("name", METHODS)
def test_examples_of_methods_fit_the_schemas(name: str) -> None:
    params, result = METHOD_EXAMPLES[name]
    assert faults(bundle()[0].incoming(METHODS[name].params), params) == []
    assert faults(METHODS[name].result.__name__, result) == []


def test_examples_of_notifications_and_events_fit_the_schemas() -> None:
    for name, model in NOTIFICATIONS.items():
        assert faults(model.__name__, NOTIFICATION_EXAMPLES[name]) == [], name
    for name, event in EVENT_TYPES.items():
        for payload in PAYLOADS[name]:
            assert faults(bundle()[0].incoming(event.payload), payload) == [], name


def test_every_error_has_an_example_that_fits_the_schemas() -> None:
    assert list(ERROR_EXAMPLES) == list(ERROR_CODES)
    for kind in ERROR_CODES:
        reply = protocol_page.error_reply(kind)
        assert faults("Failure", reply) == [], kind
        assert faults("ErrorData", reply["error"]["data"]) == [], kind


def test_a_wrong_example_would_be_found() -> None:
    assert faults("ErrorData", {"kind": "unheardOf"})
    assert faults("ThreadReadParams", {"threadId": 7})
