"""MathQA (Amini et al. 2019, arXiv:1905.13319): word problems with an operation program; `#0` is a result.

The tools really calculate. The gold outputs are those of the data set, worked out by those who prepared it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evals.tasks import Made, Task, data_folder, json_lines, same_outputs
from nodes.notations import hashes
from state.plan import StepDraft
from tools.tool import Tool, ToolEnv

Row = dict[str, Any]
Number = float | int
OPERATIONS: Mapping[str, tuple[int, str, Callable[..., Number]]] = {
    "add": (2, "The sum.", lambda a, b: a + b),
    "subtract": (2, "The first number less the second.", lambda a, b: a - b),
    "multiply": (2, "The product.", lambda a, b: a * b),
    "divide": (2, "The first number divided by the second.", lambda a, b: a / b),
    "power": (2, "The first number to the power of the second.", lambda a, b: a**b),
    "sqrt": (1, "The square root.", math.sqrt),
    "log": (1, "The natural logarithm.", math.log),
    "inverse": (1, "One divided by the number.", lambda a: 1 / a),
    "negate": (1, "The number with the other sign.", lambda a: -a),
    "floor": (1, "The largest whole number that is not above it.", math.floor),
    "gcd": (2, "The greatest common divisor of two whole numbers.", lambda a, b: math.gcd(int(a), int(b))),
    "lcm": (2, "The least common multiple of two whole numbers.", lambda a, b: math.lcm(int(a), int(b))),
    "speed": (2, "Distance divided by time.", lambda a, b: a / b),
    "stream_speed": (2, "Speed of a stream from the speeds down and up it.", lambda a, b: (a + b) / 2),
    "volume_cube": (1, "Volume of a cube with this edge.", lambda a: a**3),
    "surface_cube": (1, "Surface of a cube with this edge.", lambda a: 6 * a * a),
    "cube_edge_by_volume": (1, "Edge of a cube of this volume.", lambda a: a ** (1 / 3)),
    "volume_rectangular_prism": (3, "Volume of a box with these edges.", lambda a, b, c: a * b * c),
    "rectangle_area": (2, "Area of a rectangle.", lambda a, b: a * b),
    "rectangle_perimeter": (2, "Perimeter of a rectangle.", lambda a, b: 2 * (a + b)),
    "triangle_area": (2, "Area of a triangle from base and height.", lambda a, b: a * b / 2),
    "triangle_perimeter": (3, "Perimeter of a triangle.", lambda a, b, c: a + b + c),
}
"""How many arguments an operation takes, what it gives, and how."""


def tasks(folder: str | Path | None = None) -> Iterator[Task]:
    """Every problem of the checked development set."""
    for row in json_lines(data_folder(folder) / "mathqa" / "dev_checked.jsonl"):
        yield _task(row)


def _task(row: Row) -> Task:
    gold = tuple(_gold(row))
    expected = {f"o{step['id']}": Made(step["result"]) for step in row["steps"]}
    return Task(row["id"], row["problem"], TOOLS, gold, lambda: dict(expected), same_outputs)


def _gold(row: Row) -> Iterator[StepDraft]:
    """Operations as steps o0, o1 ...; numbers stand as they are, `#k` is a reference."""
    names = {step["id"]: f"o{step['id']}" for step in row["steps"]}
    for step in row["steps"]:
        pairs = zip(step["args"], step["values"], strict=True)
        args = {f"arg_{n}": text if text.startswith("#") else value for n, (text, value) in enumerate(pairs)}
        yield StepDraft(id=names[step["id"]], tool=step["op"], args=hashes(args, names))


def _tool(name: str, count: int, description: str, work: Callable[..., Number]) -> Tool:
    names = [f"arg_{n}" for n in range(count)]
    parts = {key: {"type": "number"} for key in names}
    schema = {"type": "object", "properties": parts, "required": names, "additionalProperties": False}

    async def run(args: dict[str, Any], around: ToolEnv) -> Number:
        return work(*(args[key] for key in names))

    return Tool(name, description, schema, run, output_schema={"type": "number"})


TOOLS = tuple(_tool(name, *operation) for name, operation in OPERATIONS.items())
