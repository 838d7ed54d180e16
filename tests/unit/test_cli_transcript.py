"""Turns and items as a person reads them: nothing in a transcript can fail or drive the terminal."""

from __future__ import annotations

import io
import re
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from lockstitch.cli.patch import patch_lines
from lockstitch.cli.terminal import Terminal
from lockstitch.cli.text import cells
from lockstitch.cli.transcript import WHOLE_OUTPUT, Transcript

OURS = re.compile(r"\x1b\[[0-9;]*m")


def terminal(*, coloured: bool = False, width: int = 80) -> Terminal:
    return Terminal(io.StringIO(), coloured=coloured, width=width, is_terminal=True)


def shown(item: dict[str, Any], *, full: bool = False) -> list[str]:
    return list(Transcript(terminal(), full=full).item(item))


def test_a_command_with_its_output_and_outcome() -> None:
    lines = shown(
        {
            "type": "commandExecution",
            "command": "make\nall",
            "exitCode": 2,
            "durationMs": 1500,
            "status": "failed",
            "aggregatedOutput": "one\ntwo\n",
        }
    )
    assert lines[0].startswith("  $ make all  ")
    assert lines[0].endswith("failed · exit 2 · 1.5 s")
    assert cells(lines[0]) == 80
    assert lines[1:] == ["    one", "    two"]


def test_a_long_output_shows_its_two_ends() -> None:
    item = {"type": "commandExecution", "command": "x", "aggregatedOutput": "\n".join(map(str, range(100)))}
    lines = shown(item)
    assert lines[1:3] == ["    0", "    1"]
    assert "    … 88 more lines" in lines
    assert lines[-1] == "    99"
    assert len(shown(item, full=True)) == 101


def test_messages_are_whole_and_wrapped() -> None:
    text = "word " * 200
    lines = shown({"type": "agentMessage", "text": text})
    assert " ".join(" ".join(lines).split()) == text.strip()
    assert max(map(cells, lines)) <= 80
    assert shown({"type": "userMessage", "content": [{"type": "text", "text": "a\nb"}]}) == ["› a", "  b"]


def test_a_file_change_shows_its_diff() -> None:
    change = {
        "path": "a.py",
        "kind": {"type": "update", "move_path": "b.py"},
        "diff": "--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n",
    }
    assert shown({"type": "fileChange", "changes": [change]}) == [
        "  ± a.py → b.py",
        "    @@ -1 +1 @@",
        "    -x",
        "    +y",
    ]


def test_a_line_that_looks_like_a_header_inside_a_hunk_is_kept() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- not a header\n+++ nor this\n"
    assert list(patch_lines(patch, terminal(), headers=False)) == ["@@ -1 +1 @@", "--- not a header", "+++ nor this"]


def test_an_unknown_item_is_named_and_an_interrupted_one_says_so() -> None:
    assert shown({"type": "holo\x1bgram"}) == ["  ? holo␛gram"]
    assert shown({"type": "mcpToolCall", "server": "s", "tool": "t", "interrupted": True, "status": "failed"})[
        0
    ].endswith("interrupted")


def test_an_output_that_is_kept_apart_is_shown_whole_or_its_size() -> None:
    item = {
        "type": "mcpToolCall",
        "server": "s",
        "tool": "t",
        "result": {"content": [{"type": "text", "text": "begins"}]},
        "outputRef": {"artifactRef": "sha256:ab", "bytes": 160_000},
    }
    assert shown(item)[1:] == ["    begins", "    … 160.0 kB in all; --full shows the whole of it"]
    assert shown({**item, WHOLE_OUTPUT: "begins and ends"}, full=True)[1:] == ["    begins and ends"]


def test_what_a_failed_tool_said_is_text() -> None:
    item = {"type": "mcpToolCall", "server": "s", "tool": "t", "status": "failed", "error": {"message": "no\nway"}}
    assert shown(item)[1:] == ["    no", "    way"]


def test_a_rename_needs_no_header_of_git() -> None:
    patch = "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from a\nrename to b\n"
    assert list(patch_lines(patch, terminal(), headers=False)) == ["old mode 100644", "new mode 100755"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "path", "kind", "type", "diff", "message", "bytes"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
FIELDS = [
    "id", "content", "text", "summary", "command", "aggregatedOutput", "exitCode", "durationMs", "changes",
    "status", "server", "tool", "arguments", "result", "error", "contentItems", "query", "action", "path",
    "outputRef", "interrupted",
]  # fmt: skip
KINDS = ["userMessage", "agentMessage", "plan", "reasoning", "commandExecution", "fileChange", "mcpToolCall",
         "dynamicToolCall", "webSearch", "imageView", "contextCompaction", "other"]  # fmt: skip


@example("other", {"status": "\x0b\x1b[31m\x9b2J"}, False, False)
@example("other", {"status": "\x1b[31m", "error": {"message": "\x07"}}, True, True)
@given(
    st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), values, max_size=6), st.booleans(), st.booleans()
)
def test_whatever_an_item_holds_it_is_shown_and_harmless(
    kind: str, fields: dict[str, Any], full: bool, coloured: bool
) -> None:
    output = io.StringIO()
    shown = Terminal(output, coloured=coloured, width=80, is_terminal=True)
    transcript = Transcript(shown, full=full)
    turn = {"id": "t", "status": "completed", "items": [{"type": kind, **fields}], **fields}
    shown.lines(*transcript.item({"type": kind, **fields}), *transcript.turn(1, turn))
    plain = OURS.sub("", output.getvalue())
    assert coloured or plain == output.getvalue()
    assert not [c for c in plain if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F]
