"""A program that makes 200 writes with keys of their own, each a row in a file: `python -m tests.support.racer FILE`.

Another process does the same on the same journal; the journal is that of the environment.
"""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing

import graphs
from tests.support.plans import plan, step
from tests.support.scripted_model import ScriptedModel
from tools.tool import write

KEYS = 200


def pay(invoice: int) -> int:
    """Pays an invoice."""
    with closing(sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)) as db:
        db.execute("INSERT INTO paid VALUES (?)", (invoice,))
    return invoice


async def main() -> None:
    """Waits for the word to go, then runs; prints how many of its parts were done by whom."""
    model = ScriptedModel()
    each = {"each": "${steps.inputs.invoices}"}
    model.reply(plan(step("p", "pay", {"invoice": "${steps.item}"}, **each)))
    tool = write(pay, business_key=lambda args: str(args["invoice"]))
    context = {"model": model, "tools": [tool], "writes": "allow", "limits": {"tool_calls": KEYS, "steps": 5}}
    print("ready", flush=True)
    sys.stdin.readline()
    given = {"task": "pay all", "inputs": {"invoices": list(range(KEYS))}}
    report = (await graphs.load("one_shot").ainvoke(given, context=context))["report"]
    print(json.dumps({"reason": report["stop"]["reason"], "parts": len(report["results"][0]["parts"])}))


if __name__ == "__main__":
    asyncio.run(main())
