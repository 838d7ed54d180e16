"""What can come of a request of the Python client."""

from __future__ import annotations

from typing import Any


class SidecarError(Exception):
    """An error reply. Match on `kind`, never on the message."""

    def __init__(self, method: str, error: dict[str, Any]) -> None:
        super().__init__(error.get("message", ""))
        self.method = method
        self.code: int = error.get("code", -32603)
        self.data: dict[str, Any] = error.get("data") or {}
        """All of the reply's `data`: the field, id, path or limit concerned."""
        self.kind: str = self.data.get("kind", "internalError")


class SidecarGoneError(Exception):
    """The sidecar went away before it answered.

    `may_have_happened`: the request had been written, so that it may have been carried out and nobody said so.
    """

    def __init__(
        self, message: str, *, may_have_happened: bool, stderr: str = "", exit_code: int | None = None
    ) -> None:
        super().__init__(message)
        self.may_have_happened = may_have_happened
        self.stderr = stderr
        self.exit_code = exit_code
