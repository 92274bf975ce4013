"""All contestants on all jobs in interleaved rounds, and the tables of docs/speed.md.

Run: `python -m benchmarks [ROUNDS] [--only TEXT]`; it takes some three minutes a round. Needs the extra `benchmarks`.
With `--keep FILE` what was measured is added to a file, and `--show FILE` makes the tables of it. Never asserted.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import tables

WALL = ["W1", "3", "W1-200ms", "1", "W2", "1", "W3", "1", "W3s", "1"]
LONG = ["W4-50", "1", "W4-100", "1", "W4-200", "1"]
PLAN_FIRST = ["W5", "1"]
CONTESTANTS = {
    "floor": WALL + PLAN_FIRST + LONG,
    "floor_langgraph": LONG,
    "create_agent": WALL + LONG,
    "tutorial plan_and_execute": WALL + LONG,
    "tutorial rewoo": WALL + PLAN_FIRST + LONG,
    "tutorial llm_compiler": WALL + PLAN_FIRST + LONG,
    "ours one_shot": WALL + PLAN_FIRST + LONG,
    "ours plan_and_execute": WALL + PLAN_FIRST + LONG,
    "ours plan_and_execute+wait": WALL + PLAN_FIRST + LONG,
    "ours rewoo": WALL + PLAN_FIRST + LONG,
    "ours self_reflection": WALL + LONG,
    "ours plan_act_reflect": WALL + LONG,
    "ours react": WALL + LONG,
    "floor_langgraph+sqlite": LONG,
    "create_agent+sqlite": LONG,
    "ours plan_and_execute+sqlite": LONG,
    "ours plan_and_execute+memory+wait": LONG,
    "ours plan_and_execute+sqlite+step": LONG,
}


@contextmanager
def server() -> Iterator[str]:
    """The model server, in a process of its own; gives its port."""
    command = [sys.executable, "-m", "benchmarks.server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def measured(name: str, port: str) -> Iterator[dict[str, Any]]:
    """What one contestant took for its jobs in one process."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.client", name, port, *CONTESTANTS[name]]
    quiet = {"LANGSMITH_TRACING": "false", "OPENAI_API_KEY": "x"}
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **quiet})
    for line in ended.stdout.splitlines():
        yield {**json.loads(line), "load": os.getloadavg()[0]}


def main() -> None:
    """Measures, or shows what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=3)
    parser.add_argument("--only", default="", help="contestants whose name holds this")
    parser.add_argument("--keep", help="a file to which what was measured is added")
    parser.add_argument("--show", help="a file of what was measured")
    given = parser.parse_args()
    if given.show:
        with open(given.show, encoding="utf-8") as lines:
            return tables.show([json.loads(line) for line in lines])
    rows: list[dict[str, Any]] = []
    with server() as port:
        for number in range(given.rounds):
            for name in (one for one in CONTESTANTS if given.only in one):
                found = list(measured(name, port))
                rows += found
                print(f"round {number + 1}: {name}: {len(found)} jobs", file=sys.stderr, flush=True)
                if given.keep:
                    with open(given.keep, "a", encoding="utf-8") as lines:
                        lines.writelines(json.dumps(row) + "\n" for row in found)
    tables.show(rows)


if __name__ == "__main__":
    main()
