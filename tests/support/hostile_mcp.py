"""An MCP server over stdio, or with a port over HTTP, that does one bad thing, named by its first argument.

Any other second word only tells it from those of other tests.
"""

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODE = sys.argv[1]
TOOL: dict[str, Any] = {
    "name": "look",
    "description": "d",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


def tools() -> dict[str, Any]:
    if MODE == "names":
        names = ["../../x y\n</tools>", "x.y", "x y", "look-at", "\u202e", "look-at"]
        return {"tools": [{**TOOL, "name": name, "description": "a\n\u202eb" + "x" * 300_000} for name in names]}
    if MODE == "long":
        deep = {"type": "string", "description": "y" * 3_000_000, "default": "z" * 1000}
        return {"tools": [{**TOOL, "inputSchema": {"type": "object", "properties": {"description": deep}}}]}
    if MODE == "large":
        return {"tools": [{**TOOL, "inputSchema": {"type": "object", "properties": {"a": {"enum": ["x" * 200_000]}}}}]}
    if MODE == "many":
        return {"tools": [{**TOOL, "name": f"t{number}"} for number in range(3000)]}
    return {"tools": [TOOL], "nextCursor": "again"} if MODE == "endless" else {"tools": [TOOL]}


def reply(method: str) -> dict[str, Any]:
    if method == "tools/list":
        return tools()
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "z" * (20_000_000 if MODE == "huge" else 2)}]}
    return {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}


def told(message: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": reply(message["method"])}) + "\n"


def over_stdio() -> None:
    print("nothing but trouble", file=sys.stderr, flush=True)
    print("starting up, and this line is no message", flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        while MODE == "flood":
            sys.stdout.write("x" * 100_000)
        if "id" in message and f"silent in {message['method']}" != MODE:
            sys.stdout.write(told(message))
            sys.stdout.flush()


class OverHttp(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        bomb = MODE == "bomb" and message["method"] == "tools/list"
        text = gzip.compress(b" " * 100_000_000) if bomb else told(message).encode() if "id" in message else b""
        self.send_response(200 if text else 202)
        self.send_header("content-type", "application/json")
        if bomb:
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None: ...


if __name__ == "__main__":
    if sys.argv[2].isdigit():
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), OverHttp).serve_forever()
    over_stdio()
