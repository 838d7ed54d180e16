"""git and patch are the judges: what `unified` says can be applied and reversed, byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstitch.diff import diff_files
from lockstitch.diff.hunks import split_lines
from lockstitch.diff.matching import match

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="patch is the judge")

WORDS = [
    "",
    "a",
    "b",
    "c",
    "}",
    "-- x",
    "++ y",
    "@@ -1 +1 @@",
    "\\ No newline",
    "é\u2028x",
    "tab\tend",
    "cr\rin",
    "diff --git a/x b/x",
]
LINES = st.lists(st.sampled_from(WORDS), max_size=25)
NAMES = [
    "a.txt",
    "dir/sub/a.txt",
    "with space.txt",
    "sp ace/ü ber.txt",
    'quo"te.txt',
    "back\\slash.txt",
    "tab\there.txt",
    "new\nline.txt",
    "公共 函数 é.txt",
    "-dash.txt",
    "e\u0301.txt",
    "trailing.b/x",
    os.fsdecode(b"latin\xe9.txt"),
]


@st.composite
def text(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from(["\n", "\r\n"]))
    data = end.join(draw(LINES)).encode()
    mark = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]))
    return mark + data + draw(st.sampled_from([b"", end.encode()]))


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text and an edit of it."""
    before = draw(text())
    lines = before.split(b"\n")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 3))] = [
            w.encode() for w in draw(st.lists(st.sampled_from(WORDS), max_size=3))
        ]
    return before, b"\n".join(lines)


def put(root: Path, name: str, data: bytes | None, executable: bool = False) -> None:
    if data is not None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if executable else 0o644)


def tree(root: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(p.relative_to(root)): (p.read_bytes(), bool(p.stat().st_mode & 0o100))
        for p in root.rglob("*")
        if p.is_file()
    }


def run(root: Path, *command: str, diff: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(root.parent), "HOME": str(root)}
    done = subprocess.run(command, cwd=root, input=diff.encode(), capture_output=True, env=environment, check=False)
    assert done.returncode == 0, (done.stderr, diff)


def judge(
    before: bytes | None,
    after: bytes | None,
    name: str,
    *,
    tool: str,
    old_name: str | None = None,
    modes=(None, None),
    context: int = 3,
):
    diff = diff_files(
        before, after, path=name, old_path=old_name, context=context, before_mode=modes[0], after_mode=modes[1]
    )
    if not diff.unified:
        assert before == after
        return diff
    forward, backward = {
        "git": (("git", "apply", "--whitespace=nowarn", "-"), ("git", "apply", "--whitespace=nowarn", "-R", "-")),
        "patch": (("patch", "-p1", "-s"), ("patch", "-p1", "-s", "-R")),
    }[tool]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        a, b = Path(one), Path(two)
        put(a, old_name or name, before, modes[0] == "0755")
        put(b, name, after, modes[1] == "0755")
        old_tree, new_tree = tree(a), tree(b)
        run(a, *forward, diff=diff.unified)
        assert tree(a) == new_tree, diff.unified
        run(a, *backward, diff=diff.unified)
        assert tree(a) == old_tree, diff.unified
    return diff


@needs_git
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited(), st.sampled_from(NAMES), st.integers(1, 4))
def test_git_applies_and_reverses_an_edit(pair: tuple[bytes, bytes], name: str, context: int):
    """Any edit of any text, under any name."""
    judge(*pair, name, tool="git", context=context)


@needs_patch
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited(), st.sampled_from([n for n in NAMES if "\n" not in n]))
def test_patch_applies_and_reverses_an_edit(pair: tuple[bytes, bytes], name: str):
    """The same by patch -p1, which refuses names that hold a line feed."""
    judge(*pair, name, tool="patch")


@needs_git
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text(), st.sampled_from(NAMES), st.sampled_from(["0644", "0755"]))
def test_git_applies_creation_and_deletion(data: bytes, name: str, mode: str):
    """A file that comes or goes, empty ones too."""
    judge(None, data, name, tool="git", modes=(None, mode))
    judge(data, None, name, tool="git", modes=(mode, None))


@needs_patch
@pytest.mark.parametrize("data", [b"x\n", b"x", b"a\r\nb\r\n"])
def test_patch_applies_creation_and_deletion(data: bytes):
    """The same by patch -p1."""
    judge(None, data, "d/new file.txt", tool="patch")
    judge(data, None, "d/new file.txt", tool="patch")


@needs_git
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("before", "after"), [(b"a\nb\nc\n", b"a\nb\nc\n"), (b"a\nb\nc\nd\n", b"a\nB\nc\nd\n"), (b"\0\1", b"\0\1")]
)
def test_git_applies_renames_and_modes(name: str, before: bytes, after: bytes):
    """Old name, new name and the executable bit, with and without a change of content."""
    judge(before, after, name, tool="git", old_name="old dir/ö.txt")
    judge(before, after, name, tool="git", modes=("0644", "0755"))
    judge(before, after, name, tool="git", old_name="o", modes=("0755", "0644"))


@settings(max_examples=300, deadline=None)
@given(edited(), st.integers(0, 400))
def test_blocks_rebuild_both_sides(pair: tuple[bytes, bytes], work: int):
    """Shared blocks are equal, in order and disjoint, however small the budget."""
    old, new = split_lines(pair[0]), split_lines(pair[1])
    i = j = 0
    for at_old, at_new, length in match(old, new, work=work).blocks:
        assert length > 0
        assert at_old >= i
        assert at_new >= j
        assert old[at_old : at_old + length] == new[at_new : at_new + length]
        i, j = at_old + length, at_new + length
    assert i <= len(old)
    assert j <= len(new)


@settings(max_examples=200, deadline=None)
@given(edited(), st.integers(0, 3))
def test_hunks_say_what_unified_says(pair: tuple[bytes, bytes], context: int):
    """Applying the hunks' lines to `before` gives `after`; the counts are those of the lines."""
    before, after = pair
    diff = diff_files(before, after, path="a", context=context)
    old, new = split_lines(before), split_lines(after)
    rebuilt: list[bytes] = []
    at = 0
    for hunk in diff.hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        rebuilt += old[at:start]
        at = start + hunk.old_lines
        for line in hunk.lines:
            data = line.value.encode() + (b"\n" if line.no_newline else b"")
            if line.old_no is not None:
                assert old[line.old_no - 1] == data
            if line.new_no is not None:
                assert new[line.new_no - 1] == data
                rebuilt.append(data)
    assert rebuilt + old[at:] == new
    lines = [line.kind for hunk in diff.hunks for line in hunk.lines]
    assert (lines.count("add"), lines.count("remove")) == (diff.additions, diff.deletions)
