"""BFCL multi-turn (Patil et al. 2025): 128 tools over worlds that remember; a dialogue is several tasks on one thread.

The tools are those of the package bfcl-eval, of which nothing else is imported. A turn is right when its calls gave
the recorded observations and the world is in the state in which the gold calls leave it.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from evals.pointers import referring
from evals.tasks import Dialogue, Made, Task, data_folder, json_lines, same_outputs
from evals.truth import missing
from state.errors import InputError, ToolFailed
from state.json_text import from_json
from state.plan import StepDraft, digest
from state.result import Result
from tools.tool import Schema, Tool, ToolEnv

Row = dict[str, Any]
CLASSES: Mapping[str, tuple[str, str]] = MappingProxyType({
    "GorillaFileSystem": ("gorilla_file_system", "cat diff du find grep ls pwd sort tail wc"),
    "MathAPI": ("math_api", "*"),
    "MessageAPI": ("message_api", "get_* list_* message_get_login_status search_messages view_messages_sent"),
    "TicketAPI": ("ticket_api", "get_* ticket_get_login_status"),
    "TradingBot": ("trading_bot", "get_* filter_stocks_by_price notify_price_change trading_get_login_status"),
    "TravelAPI": (
        "travel_booking",
        "compute_exchange_rate get_all_* get_b* get_c* get_n* list_all_airports retrieve_invoice "
        "travel_get_login_status verify_*",  # get_flight_cost notes what it says
    ),
    "TwitterAPI": ("posting_api", "get_* list_* posting_get_login_status search_tweets"),
    "VehicleControlAPI": (
        "vehicle_control",
        "check_tire_pressure displayCarStatus display_log estimate_* find_* gallon_to_liter get_* liter_to_gallon",
    ),
})  # fmt: skip
"""By class: its module, which is also the name of its documents, and the tools that change nothing."""
HOW = "they come with the packages bfcl-eval and mpmath: pip install --no-deps bfcl-eval mpmath, as `make venv` does"
_SOURCE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
DEFECTIVE: Mapping[str, str] = MappingProxyType({
    "multi_turn_base_90": "the recorded arguments of post_tweet (s9) hold a mention that only the next call adds",
    "multi_turn_base_180": "its last two turns ask for something, and gold calls nothing",
})  # fmt: skip
"""Dialogues that no plan can do as recorded."""


def dialogues(folder: str | Path | None = None) -> Iterator[Dialogue]:
    """Every dialogue of the recorded set, defective ones too."""
    place = data_folder(folder) / "bfcl"
    for row in json_lines(place / "multi_turn_base_recorded.jsonl"):
        yield Dialogue(row["id"], partial(_begin, row, _documents(place / "func_doc")))


def whole_dialogues(folder: str | Path | None = None) -> Iterator[Task]:
    """As `wholes`, each over a world that is as new, for one run."""
    for dialogue in wholes(folder):
        yield dialogue.begin()[0]


def wholes(folder: str | Path | None = None) -> Iterator[Dialogue]:
    """Every sound dialogue as one task that asks for all of its turns.

    It is right when in the end every gold result is there and the world is in the state of the gold calls, whatever
    went wrong on the way.
    """
    place = data_folder(folder) / "bfcl"
    for row in json_lines(place / "multi_turn_base_recorded.jsonl"):
        if row["id"] not in DEFECTIVE:
            joined = {name: [one for turn in row["turns"] for one in turn[name]] for name in ("user", "steps")}
            whole = {**row, "turns": [joined]}
            yield Dialogue(row["id"], partial(_begin, whole, _documents(place / "func_doc"), missing))


def turns(folder: str | Path | None = None) -> Iterator[tuple[str, Callable[[int], Task]]]:
    """Every sound dialogue, with what gives one of its turns, in a world in which gold has called all before."""
    place = data_folder(folder) / "bfcl"
    for row in json_lines(place / "multi_turn_base_recorded.jsonl"):
        if row["id"] not in DEFECTIVE:
            yield row["id"], partial(_turn, row, _documents(place / "func_doc"))


def _turn(row: Row, documents: Mapping[str, list[Row]], place: int) -> Task:
    world = World(row)
    for turn in row["turns"][:place]:
        _after(world, turn["steps"])
    return _task(row, place, _tools(row, documents, world), world, _states(row)[place], same_outputs)


@cache
def _documents(place: Path) -> dict[str, list[Row]]:
    return {name: list(json_lines(place / f"{module}.json")) for name, (module, _) in CLASSES.items()}


Graded = Callable[[Task, Sequence[Result]], list[str]]


def _begin(row: Row, documents: Mapping[str, list[Row]], outputs: Graded = same_outputs) -> tuple[Task, ...]:
    world, states = World(row), _states(row)
    tools = _tools(row, documents, world)
    return tuple(_task(row, place, tools, world, state, outputs) for place, state in enumerate(states))


def _tools(row: Row, documents: Mapping[str, list[Row]], world: "World") -> tuple[Tool, ...]:
    return tuple(_tool(world, name, document) for name in row["classes"] for document in documents[name])


def _states(row: Row) -> list[str]:
    """The state after each turn, where the gold calls run one after the other without any of our parts."""
    world = World(row)
    return [_after(world, turn["steps"]) for turn in row["turns"]]


def _after(world: "World", steps: Sequence[Row]) -> str:
    for step in steps:
        world.call(step["tool"], step["args"])
    return world.state()


def _task(row: Row, place: int, tools: tuple[Tool, ...], world: "World", state: str, outputs: Graded) -> Task:
    turn = row["turns"][place]
    expected = {step["id"]: Made(step["obs"], step["args"]) for step in turn["steps"]}

    def check(task: Task, results: Sequence[Result]) -> list[str]:
        wrong = [] if world.state() == state else ["the world is not in the state in which the gold calls leave it"]
        return outputs(task, results) + wrong

    text = "\n".join(turn["user"])
    return Task(f"{row['id']}/{place + 1}", text, tools, tuple(_gold(turn)), lambda: dict(expected), check)


def _gold(turn: Row) -> Iterator[StepDraft]:
    """The calls of a turn in their order, as each may change what the next one finds."""
    seen: dict[str, Any] = {}
    for step in turn["steps"]:
        args = referring(step["args"], step["refs"], seen)
        yield StepDraft(id=step["id"], tool=step["tool"], args=args, after=list(seen)[-1:])
        seen[step["id"]] = step["obs"]


class World:
    """The live objects of one dialogue."""

    def __init__(self, row: Row) -> None:
        self._objects = [_made(name, row["initial_config"].get(name, {})) for name in row["classes"]]

    def call(self, tool: str, args: Mapping[str, Any]) -> Any:
        """One call; the tools change the arguments that they get, and outputs stay parts of the world: both are copied.

        A number that is too long to be written down, and what a tool itself calls an error, are failures.
        """
        [method] = [getattr(one, tool) for one in self._objects if hasattr(one, tool)]
        try:
            output = from_json(json.dumps(method(**copy.deepcopy(dict(args))), default=str))
        except Exception as error:
            raise ToolFailed(f"{tool} failed: {error}", "invalid_arguments") from error
        if isinstance(output, dict) and output.get("error"):
            raise ToolFailed(f"{tool}: {output['error']}", "invalid_arguments")
        return output

    def state(self) -> str:
        """A fingerprint of everything but chance and the hour; a folder that contains itself is no hindrance."""
        return digest(_frozen(self._objects, {}))


def _made(name: str, config: Any) -> Any:
    try:
        made = getattr(import_module(f"{_SOURCE}.{CLASSES[name][0]}"), name)()
    except ImportError as error:
        raise InputError(f"the tools of BFCL are not here ({error}); {HOW}") from error
    if hasattr(made, "_load_scenario"):  # MathAPI remembers nothing
        made._load_scenario(copy.deepcopy(config), long_context=False)
    return made


def _frozen(value: Any, seen: dict[int, int]) -> Any:
    """The value as JSON; an object that was met before is only named."""
    if isinstance(value, Mapping):
        return {str(key): _frozen(item, seen) for key, item in value.items() if not isinstance(item, Random | datetime)}
    if isinstance(value, list | tuple):
        return [_frozen(item, seen) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value)  # decimal has a limit of digits
    if not hasattr(value, "__dict__"):
        return value if value is None or isinstance(value, str | bool | float) else str(value)
    if id(value) in seen:
        return f"object {seen[id(value)]}"
    seen[id(value)] = len(seen)
    return {type(value).__name__: _frozen(vars(value), seen)}


def _tool(world: World, name: str, document: Row) -> Tool:
    async def run(args: dict[str, Any], around: ToolEnv) -> Any:
        return world.call(document["name"], args)

    reads = any(fnmatchcase(document["name"], pattern) for pattern in CLASSES[name][1].split())
    schema = {**_schema(document["parameters"]), "additionalProperties": False}
    return Tool(document["name"], document["description"], schema, run, effect="read" if reads else "write")


def _schema(declared: Any) -> Schema:
    """A JSON Schema of a document that names types as Python does."""
    schema: Schema = {key: value for key, value in declared.items() if key in ("description", "enum", "required")}
    if kind := declared.get("type"):
        schema["type"] = _TYPES.get(kind, kind)
    if fields := declared.get("properties"):
        schema["properties"] = {name: _schema(one) for name, one in fields.items()}
    if items := declared.get("items"):
        schema["items"] = _schema(items)
    return schema
