"""thread/export as html: what is in the page, and that no stored text can be anything but text."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host
from tests.wire.test_exports import AWS, PEM, lively

covers = pytest.mark.covers
EVIL = (
    '</pre></style></script><script>window.pwned=1;document.title="pwned"</script>'
    "<img src=https://example.invalid/x onerror=alert(1)><svg onload=alert(1)>"
    "\u202egnp.exe\u202c\u2066x\u2069 \x00\x1b[31mred\x1b[0m\x07\x85\u2028 javascript:alert(1) "
    "\"' onclick=alert(1) `</code>`"
)
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
TAGS = frozenset(
    (
        *("html", "head", "meta", "title", "style", "body", "script", "header", "main", "section", "article", "nav"),
        *(
            "footer",
            "form",
            "label",
            "input",
            "button",
            "div",
            "p",
            "h1",
            "h2",
            "h3",
            "dl",
            "dt",
            "dd",
            "ul",
            "ol",
            "li",
        ),
        *("a", "span", "b", "i", "strong", "code", "pre", "small", "time", "details", "summary", "blockquote", "br"),
        *("img", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect"),
    )
)
ATTRIBUTES = frozenset(
    (
        *(
            "lang",
            "charset",
            "http-equiv",
            "content",
            "name",
            "class",
            "id",
            "href",
            "tabindex",
            "role",
            "hidden",
            "for",
        ),
        *("type", "placeholder", "autocomplete", "spellcheck", "title", "datetime", "open", "start", "scope", "src"),
        *(
            "alt",
            "loading",
            "width",
            "height",
            "rx",
            "viewbox",
            "preserveaspectratio",
            "data-path",
            "data-print",
            "data-from",
        ),
    )
)


class Page(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.text = ""
        self._in: list[str] = []
        self.feed(text)
        self.close()
        assert self._in == ["html"] or not self._in, f"not closed: {self._in}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br", "img", "rect"):
            self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == "rect" or self._in.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] in ("style", "script"):
            self.raw[self._in[-1]] = self.raw.get(self._in[-1], "") + data
        else:
            self.text += data


def page_of(host: Host, thread: str, **params: Any) -> tuple[Page, str]:
    text = host.call("thread/export", threadId=thread, format="html", **params)["content"]
    return Page(text), text


def hostile(host: Host, thread: str) -> None:
    """A turn in which every stored text tries to be more than text."""
    turn = host.turn(thread, EVIL)
    call = {"server": EVIL, "tool": EVIL, "status": "completed", "arguments": {EVIL: EVIL, "n": [EVIL]}}
    host.append(
        thread,
        turn,
        ("message.created", {"role": "assistant", "content": f"# {EVIL}\n- {EVIL}\n> {EVIL}\n```{EVIL}\n{EVIL}"}),
        ("item.completed", {"item": {"type": "reasoning", "id": "r", "summary": [EVIL], "content": [EVIL]}}),
        ("item.completed", {"item": {"type": "plan", "id": "p", "text": EVIL}}),
        ("command.exited", {"itemId": "ce", "command": EVIL, "cwd": EVIL, "exitCode": 1, "aggregatedOutput": EVIL}),
        ("item.completed", {"item": {"type": "mcpToolCall", "id": "t", **call, "result": {"content": [EVIL]}}}),
        ("item.completed", {"item": {"type": "webSearch", "id": "ws", "query": EVIL}}),
        ("item.completed", {"item": {"type": "imageView", "id": "iv", "path": EVIL}}),
        ("artifact.snapshot", {"path": "a'<b>\".txt", "content": EVIL, "previousContent": f"{EVIL}\n{EVIL}"}),
        ("route.selected", {"provider": EVIL, "model": EVIL}),
        ("turn.failed", {"error": {"message": EVIL, "additionalDetails": EVIL}}),
    )


@covers("thread/export")
def test_no_stored_text_is_more_than_text(host: Host, workspace: Path) -> None:
    """thread/export html: no element, attribute or address comes out of a thread; what reorders text is named."""
    thread = host.thread(cwd=str(workspace), name=EVIL, gitInfo={"branch": EVIL, "sha": EVIL})
    content = [
        {"type": "image", "url": PIXEL},
        {"type": "image", "url": "https://example.invalid/a.png"},
        {"type": "image", "url": 'data:image/svg+xml;base64,AAAA"onload="x'},
        {"type": "localImage", "path": f"/{EVIL}"},
        {"type": "mention", "name": EVIL, "path": EVIL},
    ]
    host.call("turn/start", threadId=thread, input=content)
    host.append(thread, host.read(thread, turns=True)["turns"][0]["id"], ("turn.completed", {}))
    hostile(host, thread)
    page, text = page_of(host, thread)
    for tag, attributes in page.tags:
        assert tag in TAGS
        for name, value in attributes.items():
            assert name in ATTRIBUTES or name.startswith("aria-"), (tag, name)
            if name == "href":
                assert re.fullmatch(r"#[a-z0-9-]+", str(value)), value
            if name == "src":
                assert value == PIXEL
    assert sum(tag == "script" for tag, _ in page.tags) == 1 == sum(tag == "img" for tag, _ in page.tags)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)
    assert (
        "⟨U+202E⟩" in page.text
        and "^@" in page.text
        and "^G" in page.text
        and "</script><script>window.pwned=1" in page.text
    )
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none';") and "unsafe" not in policy
    for part in ("style", "script"):
        digest = b64encode(sha256(page.raw[part].encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in policy
    assert not re.search(r"url\(|@import|https?://(?!example\.invalid)", page.raw["style"] + page.raw["script"])


@covers("thread/export")
def test_the_page_holds_the_thread(host: Host, workspace: Path, tmp_path: Path) -> None:
    """thread/export html: conversation, commands, differences, usage, receipts; secrets left out and counted."""
    thread = lively(host, workspace)
    turn = host.read(thread, turns=True)["turns"][-1]["id"]
    host.append(thread, turn, ("command.exited", {"itemId": "k", "command": f"x {AWS}", "exitCode": 3}))
    host.append(thread, turn, ("artifact.snapshot", {"path": "key.pem", "content": PEM}), ("turn.completed", {}))
    written = host.call("thread/export", threadId=thread, format="html", path=str(tmp_path / "page.html"))
    assert written["redactions"] == {"cloudKey": 1, "privateKey": 1} and (tmp_path / "page.html").is_file()
    page, text = page_of(host, thread)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text, "the same thread gives the same page"
    for told in (
        "please change a.txt",
        "done ✓",
        "line\nline\n",
        "The whole output has 100,000 bytes",
        "Interrupted: no result was recorded.",
        "the model is gone",
        "exit 3",
        "Secrets were left out of this page: 1 × cloudKey, 1 × privateKey.",
        "3 in, 1 out",
        "+++ b/a.txt\n@@ -0,0 +1 @@\n+y",
        '"sequenceRange',
    ):
        assert told.strip('"') in page.text, told
    assert AWS not in text and "MIIEvQIBADANBgkq" not in text
    assert "Secrets were not looked for" in page_of(host, thread, redact=False)[0].text
    assert "Nothing was said yet." in page_of(host, host.thread())[0].text
