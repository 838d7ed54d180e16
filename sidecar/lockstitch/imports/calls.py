"""Items of calls that have no result yet, as every importer makes them."""

from __future__ import annotations

from typing import Any


def command_call(command: str, cwd: str | None) -> dict[str, Any]:
    """A shell command that the agent ran."""
    return {
        "type": "commandExecution",
        "command": command,
        "cwd": cwd or "",
        "status": "inProgress",
        "source": "agent",
        "commandActions": [],
    }


def mcp_call(server: str, tool: str, arguments: Any) -> dict[str, Any]:
    """A call of a tool of an MCP server."""
    return {"type": "mcpToolCall", "server": server, "tool": tool, "status": "inProgress", "arguments": arguments}


def tool_call(tool: str, arguments: Any) -> dict[str, Any]:
    """A call of any other tool."""
    return {"type": "dynamicToolCall", "tool": tool, "arguments": arguments, "status": "inProgress"}
