"""What a diff says: counts, flags, bounds, and the worst cases within their budget."""

from __future__ import annotations

import time

import pytest

from lockstitch.diff import diff_files
from lockstitch.diff.headers import quoted


def test_as_wire_has_the_contracts_shape():
    """Line numbers on both sides, the value without the newline, the missing newline flagged."""
    wire = diff_files(b"a\nb\nc", b"a\nB\nc\n", path="x.txt").as_wire()
    assert wire == {
        "format": "unified",
        "unified": "diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n"
        "\\ No newline at end of file\n+B\n+c\n",
        "hunks": [
            {
                "oldStart": 1,
                "oldLines": 3,
                "newStart": 1,
                "newLines": 3,
                "lines": [
                    {"kind": "context", "value": "a", "oldNo": 1, "newNo": 1},
                    {"kind": "remove", "value": "b", "oldNo": 2},
                    {"kind": "remove", "value": "c", "oldNo": 3, "noNewline": True},
                    {"kind": "add", "value": "B", "newNo": 2},
                    {"kind": "add", "value": "c", "newNo": 3},
                ],
            }
        ],
        "additions": 2,
        "deletions": 2,
        "binary": False,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("before", "after", "unified"),
    [
        (None, None, ""),
        (b"x\n", b"x\n", ""),
        (None, b"", "diff --git a/p b/p\nnew file mode 100644\n"),
        (b"", None, "diff --git a/p b/p\ndeleted file mode 100644\n"),
        (
            None,
            b"x\n",
            "diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n",
        ),
        (
            b"x\ny\n",
            None,
            "diff --git a/p b/p\ndeleted file mode 100644\n--- a/p\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n",
        ),
        (b"\0", b"\0\1", "diff --git a/p b/p\nBinary files a/p and b/p differ\n"),
        (
            None,
            b"\xff\xfe\xfd",
            "diff --git a/p b/p\nnew file mode 100644\nBinary files /dev/null and b/p differ\n",
        ),
    ],
)
def test_files_that_come_go_or_have_no_lines(before: bytes | None, after: bytes | None, unified: str):
    """git's own words for creation, deletion and binary content."""
    assert diff_files(before, after, path="p").unified == unified


def test_changes_beside_the_lines_are_flagged():
    """Encoding, line ends, mode and name."""
    assert diff_files(b"a\n", b"a\r\n", path="p").eol_changed
    assert diff_files(b"a\n", b"\xef\xbb\xbfa\n", path="p").encoding_changed
    assert not diff_files(b"a", b"a\n", path="p").eol_changed
    diff = diff_files(b"a\n", b"a\n", path="p", before_mode="0644", after_mode="0600")
    assert diff.mode_changed
    assert diff.unified == ""  # git knows the executable bit only
    diff = diff_files(b"a\n", b"a\n", path="p", old_path="o")
    assert diff.renamed
    assert diff.as_wire()["renamed"] is True
    assert "similarity index 100%\nrename from o\nrename to p\n" in diff.unified


def test_text_of_two_byte_encodings_has_hunks_to_read():
    """UTF-16 cannot be patched by lines of bytes; its change can still be read."""
    before, after = ("\ufeffé\nb\n".encode("utf-16-le"), "\ufeffé\nc\n".encode("utf-16-le"))
    diff = diff_files(before, after, path="p")
    assert not diff.binary
    assert [(line.kind, line.value) for line in diff.hunks[0].lines][1:] == [("remove", "b"), ("add", "c")]
    assert diff.unified.endswith("Binary files a/p and b/p differ\n")


def test_a_bad_byte_makes_content_binary_and_loses_nothing():
    """cp1252 is not guessed at."""
    diff = diff_files(b"caf\x99\n", b"caf\x99s\n", path="p")
    assert (diff.binary, diff.hunks, diff.additions, diff.deletions) == (True, [], 0, 0)


def test_max_bytes_cuts_between_hunks():
    """What is left is a diff of whole hunks; counts are of everything."""
    before = b"".join(b"%d\n" % n for n in range(100))
    after = before.replace(b"10\n", b"ten\n", 1).replace(b"50\n", b"fifty\n").replace(b"90\n", b"ninety\n")
    whole = diff_files(before, after, path="p")
    size = len(whole.unified.encode())
    assert not diff_files(before, after, path="p", max_bytes=size).truncated
    cut = diff_files(before, after, path="p", max_bytes=size - 1)
    assert cut.truncated
    assert len(cut.hunks) == 2
    assert whole.unified.startswith(cut.unified)
    assert cut.unified.count("\n@@ ") == 2
    assert (cut.additions, cut.deletions) == (3, 3)
    none = diff_files(before, after, path="p", max_bytes=10)
    assert (none.unified, none.hunks, none.truncated) == ("", [], True)


def test_neighbours_that_touch_are_one_hunk():
    """Six lines between two changes are all context; seven leave one out."""
    for between, hunks in ((6, 1), (7, 2)):
        middle = b"".join(b"%d\n" % n for n in range(between))
        diff = diff_files(b"a\n" + middle + b"b\n", b"A\n" + middle + b"B\n", path="p")
        assert len(diff.hunks) == hunks


def test_the_result_is_minimal_where_difflib_alone_is_not():
    """One line put before 5,000 equal ones is one addition."""
    before = b"x\n" * 5000 + b"end\n"
    diff = diff_files(before, b"start\n" + before, path="p")
    assert (diff.additions, diff.deletions, diff.approximate) == (1, 0, False)


@pytest.mark.parametrize(
    ("before", "after", "approximate"),
    [
        (["a", *["x"] * 20000, "b"], ["c", *["x"] * 19000, "d"], True),
        ([f"a{n}" for n in range(20000)], [f"b{n}" for n in range(20000)], False),
        ([str(n) for n in range(20000)], [str(n) for n in range(20000, 0, -1)], False),
        (["a", "b"] * 10000, ["b", "a", "c"] * 6666, True),
    ],
    ids=["equal lines", "different lines", "reversed", "two lines"],
)
def test_the_worst_cases_are_bounded(before: list[str], after: list[str], approximate: bool):
    """The budget ends the search and the result says so. (The bound here is loose: the machine may be busy.)"""
    started = time.perf_counter()
    diff = diff_files("\n".join(before).encode(), "\n".join(after).encode(), path="p")
    assert time.perf_counter() - started < 3
    assert diff.approximate is approximate
    assert diff.additions - diff.deletions == len(after) - len(before)


def test_names_are_quoted_as_git_quotes_them():
    """Plain ASCII as it is, anything else in quotes with C escapes."""
    assert quoted("a b.txt") == "a b.txt"
    assert quoted('é\t"\\\x01') == '"\\303\\251\\t\\"\\\\\\001"'
    assert "--- a/a b\t\n" in diff_files(b"", b"x", path="a b").unified
