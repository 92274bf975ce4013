"""Tools of the user's own are usable by their name and description, filled by their own schemas."""

from typing import Any

import pytest

from state.conditions import accept
from tests.support.offline import described, lines, planned
from tools.catalogue import describe
from tools.tool import Tool, read, write


def weather(city: str) -> dict[str, float]:
    """Gives the weather of a city."""
    return {"temperature": 12.0}


def convert_currency(amount: float, source: str, target: str) -> float:
    """Converts an amount of money from one currency to another."""
    return amount


def book_flight(origin: str, destination: str, date: str) -> str:
    """Books a flight."""
    return ""


def count_lines(path: str) -> int:
    """Counts the lines of a file."""
    return 1


def set_alarm(time: str, label: str = "") -> str:
    """Sets an alarm at a time."""
    return time


def get_population(country: str) -> int:
    """The population of a country."""
    return 1


DOORS = {"type": "array", "items": {"type": "string", "enum": ["driver", "passenger", "rear_left", "rear_right"]}}
SCHEMA = {
    "type": "object",
    "properties": {"unlock": {"type": "boolean"}, "door": DOORS},
    "required": ["unlock", "door"],
}


async def nothing(args: dict[str, Any], env: Any) -> None:
    """Does nothing."""


LOCK = Tool("lock_doors", "Locks or unlocks the doors of a car.", SCHEMA, nothing, effect="write")
CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "城市"}}, "required": ["city"]}
HAN = Tool("weather_zh", "查询一个城市的天气。", CITY, nothing)
OWN = [
    *map(read, (weather, convert_currency, count_lines, get_population)),
    *map(write, (book_flight, set_alarm)),
    LOCK,
]


def plan_lines(task: str, *more: Tool, **fences: Any) -> list[str]:
    return lines(planned(task, tools=[*described(), *(describe(tool) for tool in [*OWN, *more])], **fences))


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("what's the weather in Paris?", ['s1 = weather(city="Paris")']),
        ("weather in paris", ['s1 = weather(city="paris")']),
        ("use weather for 'New York'", ['s1 = weather(city="New York")']),
        ("convert 100 USD to EUR", ['s1 = convert_currency(target="EUR", amount=100, source="USD")']),
        ("convert 99.5 from USD to EUR, then multiply it by 2",
         ['s1 = convert_currency(source="USD", target="EUR", amount=99.5)',
          's2 = calculator(expression="(${steps.s1}) * 2")']),
        ("lock the driver and passenger doors", ['s1 = lock_doors(door=["driver", "passenger"], unlock=False)']),
        ("unlock the rear left door", ['s1 = lock_doors(door=["rear_left"], unlock=True)']),
        ("book a flight from Paris to New York on 2025-03-01",
         ['s1 = book_flight(date="2025-03-01", origin="Paris", destination="New York")']),
        ("count the lines of a.txt and add 5",
         ['s1 = count_lines(path="a.txt")', 's2 = calculator(expression="(${steps.s1}) + 5")']),
        ("set an alarm at 7:30 with label 'up'", ['s1 = set_alarm(time="7:30", label="up")']),
        ("find the weather in Paris, then write it to w.txt",
         ['s1 = weather(city="Paris")', 's2 = write_file(path="w.txt", text="${steps.s1}\\n")']),
    ],
)  # fmt: skip
def test_a_tool_is_found_and_filled(task: str, steps: list[str]) -> None:
    assert plan_lines(task) == steps


@pytest.mark.parametrize(
    "task",
    [
        "unlock doors", "book a flight to Rome", "weather in Paris tomorrow",
        "what is the weather in the capital of France",
        "find the population of France times 2", "get the population of France and the weather in Paris",
        "convert 50 dollars to euros",
    ],
)  # fmt: skip
def test_an_unclear_argument_is_refused(task: str) -> None:
    assert plan_lines(task) == ["refused"]


def test_a_tool_described_in_chinese() -> None:
    tools = [*described(), describe(HAN)]
    assert lines(planned("查询北京的天气", tools=tools)) == ['s1 = weather_zh(city="北京")']


def test_each_calls_a_tool_for_every_input() -> None:
    assert plan_lines("get the weather of each of the cities", inputs={"cities": ["Paris", "Rome"]}) == [
        's1 = weather(city="${steps.item}") for each of ${steps.inputs.cities}'
    ]


def test_a_failed_look_up_is_tried_in_the_documents() -> None:
    failed = [{"id": "s1", "tool": "weather", "args": {"city": "Paris"}, "why": "API quota exceeded"}]
    assert plan_lines("weather in Paris", failed=failed) == ['s1 = search(query="weather in Paris")']


def test_documents_that_hold_nothing_about_it_are_no_answer() -> None:
    failed = [{"id": "s1", "tool": "weather", "args": {"city": "Paris"}, "why": "API quota exceeded"}]
    (step,) = planned("weather in Paris", tools=[*described(), describe(read(weather))], failed=failed).steps
    assert accept(step.accept[0], [])["outcome"] == "failed"
    assert accept(step.accept[0], [{"text": "Rain in Paris."}])["outcome"] == "passed"
    again = [{"id": "s1_v2", "tool": "search", "args": {}, "why": f"not accepted: {step.accept[0]} (output = [])"}]
    last = planned("weather in Paris", tools=[*described(), describe(read(weather))], failed=again)
    assert "nothing about it was found" in (last.impossible or "")
