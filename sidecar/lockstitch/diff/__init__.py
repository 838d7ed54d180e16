"""What changed between two contents of a file: bytes → lines → hunks → a unified diff. Pure."""

from lockstitch.diff.file_diff import FileDiff, diff_files
from lockstitch.diff.hunks import Hunk, Line

__all__ = ["FileDiff", "Hunk", "Line", "diff_files"]
