"""An MCP server made with FastMCP, over stdio or, with a port, over streamable HTTP."""

import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("notes", host="127.0.0.1", port=int(sys.argv[2]) if len(sys.argv) > 2 else 0, log_level="ERROR")
FILE = Path(sys.argv[1])


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def read_notes() -> list[str]:
    """Reads all notes."""
    return FILE.read_text().splitlines() if FILE.exists() else []


@server.tool(annotations=ToolAnnotations(destructiveHint=False))
def add_note(text: str) -> str:
    """Adds a note."""
    with FILE.open("a") as file:
        file.write(f"{text}\n")
    return f"added {text}"


@server.tool()
def calculator(expression: str) -> str:
    """Fails, and has a name that another tool has."""
    raise ValueError(f"no sums here: {expression}")


if __name__ == "__main__":
    server.run("streamable-http" if len(sys.argv) > 2 else "stdio")
