"""What the servers of the take-over serve: plan-and-execute with a look-up and a write that can be looked up.

So do people serve tools of their own: a file with a graph that has them in its context, named in a file such as
takeover.json.
"""

import os
from functools import cache
from typing import Any

import httpx

import graphs
from tools.tool import read, write


async def look(run: str, name: str) -> dict[str, Any]:
    """Looks one thing of a run up."""
    return await _exchange("GET", f"/look/{run}/{name}")


async def order(run: str) -> dict[str, Any]:
    """Orders for a run."""
    return await _exchange("POST", f"/order/{run}")


async def ordered(args: dict[str, Any], key: str) -> dict[str, Any] | None:
    """What an order whose outcome was lost has done, if it was done."""
    found = await _exchange("GET", f"/order/{args['run']}")
    return {"ordered": args["run"]} if found["count"] else None


async def _exchange(method: str, path: str) -> dict[str, Any]:
    reply = await _client().request(method, path)
    reply.raise_for_status()
    found: dict[str, Any] = reply.json()
    return found


@cache
def _client() -> httpx.AsyncClient:
    """One for all runs: a server has one event loop, and a client costs tens of milliseconds."""
    return httpx.AsyncClient(base_url=os.environ["WORLD"], timeout=30, trust_env=False)


graph = graphs.load(
    "plan_and_execute",
    context={"tools": [read(look), write(order, lookup=ordered, timeout=30)], "writes": "allow"},
)
