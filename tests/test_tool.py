import asyncio
import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from langchain_core.tools import StructuredTool
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from state.errors import InputError, ToolFailed
from tools.tool import Tool, ToolEnv, as_tool, read, tool, write

if TYPE_CHECKING:
    from decimal import Decimal


class Point(BaseModel):
    x: int
    title: str = "origin"


class Reply(TypedDict):
    title: str
    rows: list[int]


def greet(name: str, times: int = 1, tags: list[str] = []) -> Reply:  # noqa: B006
    """Greets somebody.

    More than once if asked.
    """
    tags.append("seen")
    return {"title": name * times, "rows": [len(tags)]}


async def run(given: Tool, env: ToolEnv | None = None, **args: Any) -> Any:
    return await given.run(args, env or ToolEnv())


def test_a_function_s_annotations_become_its_schemas() -> None:
    made = read(greet)
    assert (made.name, made.effect) == ("greet", "read")
    assert made.description == "Greets somebody.\n\nMore than once if asked."
    assert made.args_schema["required"] == ["name"]
    assert made.args_schema["additionalProperties"] is False
    assert made.args_schema["properties"]["times"] == {"default": 1, "type": "integer"}
    assert made.output_schema is not None
    assert made.output_schema["properties"]["rows"] == {"type": "array", "items": {"type": "integer"}}


def test_titles_of_schemas_are_dropped_but_not_arguments_called_title() -> None:
    def name_it(title: str, point: Point, settings: dict[str, str] = {"title": "x"}) -> None:  # noqa: B006
        """Names it."""

    schema = write(name_it).args_schema
    assert set(schema["properties"]) == {"title", "point", "settings"}
    assert schema["properties"]["settings"]["default"] == {"title": "x"}
    assert schema["$defs"]["Point"]["properties"] == {
        "x": {"type": "integer"},
        "title": {"default": "origin", "type": "string"},
    }
    assert "title" not in schema


async def test_a_default_list_is_new_for_every_call() -> None:
    made = read(greet)
    assert [await run(made, name="a") for _ in range(2)] == [{"title": "a", "rows": [1]}] * 2


async def test_nested_models_and_limits_of_arguments_are_checked() -> None:
    def far(point: Point, limit: Annotated[int, Field(ge=1, le=5)] = 3) -> int:
        """Says how far."""
        return point.x * limit

    made = read(far)
    assert made.args_schema["properties"]["limit"] == {"default": 3, "maximum": 5, "minimum": 1, "type": "integer"}
    assert await run(made, point={"x": 2}) == 6
    with pytest.raises(ToolFailed, match=r"limit: .* less than or equal to 5, got 9"):
        await run(made, point={"x": 2}, limit=9)


@pytest.mark.parametrize(
    ("args", "word"), [({}, "name"), ({"name": "a", "more": 1}, "more"), ({"name": "a", "times": "many"}, "times")]
)
async def test_arguments_that_do_not_fit_are_one_line_and_nothing_runs(args: dict[str, Any], word: str) -> None:
    ran = []

    def note(name: str, times: int = 1) -> None:
        """Notes."""
        ran.append(name)

    with pytest.raises(ToolFailed, match=f"'note': {word}: ") as caught:
        await write(note).run(args, ToolEnv())
    assert (caught.value.failure, caught.value.nothing_happened) == ("invalid_arguments", True)
    assert "\n" not in str(caught.value)
    assert ran == []


@pytest.mark.parametrize(
    "name", ["schema", "copy", "json", "model_dump", "model_config", "_x", "field_0", "self_", "validate"]
)
async def test_a_parameter_may_have_any_name(name: str) -> None:
    space: dict[str, Callable[..., Any]] = {}
    exec(f"def odd({name}: int, b: int = 2) -> int:\n    'Adds.'\n    return {name} + b", space)
    made = read(space["odd"])
    assert list(made.args_schema["properties"]) == [name, "b"]
    assert await run(made, **{name: 1}) == 3


async def test_the_surroundings_are_given_and_not_asked_for() -> None:
    def keyed(text: str, env: ToolEnv) -> str:
        """Shows the key."""
        return text + env.key

    made = write(keyed)
    assert list(made.args_schema["properties"]) == ["text"]
    assert await run(made, ToolEnv(key="k1"), text="key ") == "key k1"


async def test_a_plain_function_runs_in_a_thread_and_a_coroutine_in_the_loop() -> None:
    def plain() -> bool:
        """Where am I?"""
        return threading.current_thread() is threading.main_thread()

    async def awaited() -> bool:
        """Where am I?"""
        await asyncio.sleep(0)
        return threading.current_thread() is threading.main_thread()

    assert [await run(read(plain)), await run(read(awaited))] == [False, True]


async def test_partials_methods_objects_and_wrapped_functions_are_tools_too() -> None:
    class Adder:
        """Adds a number."""

        def __init__(self, number: int) -> None:
            self.number = number

        def add(self, to: int) -> int:
            """Adds to a number."""
            return self.number + to

        def __call__(self, to: int) -> int:
            """Adds when called."""
            return self.add(to)

    @functools.wraps(greet)
    def wrapped(*args: Any, **named: Any) -> Any:
        return greet(*args, **named)

    assert await run(read(Adder(2).add), to=3) == 5
    assert await run(read(Adder(2)), to=3) == 5
    assert (read(Adder(2)).name, read(Adder(2)).description) == ("Adder", "Adds when called.")
    fixed = read(functools.partial(greet, times=2))
    assert (fixed.name, fixed.description) == ("greet", read(greet).description)
    assert (await run(fixed, name="a"))["title"] == "aa"
    assert (await run(read(wrapped), name="b"))["title"] == "b"


def test_the_decorator_takes_settings_or_none() -> None:
    @tool
    def looks(x: int) -> int:
        """Looks."""
        return x

    @tool(effect="write", timeout=5, name="change_it")
    def changes(x: int) -> int:
        """Changes."""
        return x

    assert (looks.name, looks.effect) == ("looks", "read")
    assert (changes.name, changes.effect, changes.timeout) == ("change_it", "write", 5)


def test_parameters_without_a_name_are_refused() -> None:
    def some(*numbers: int) -> int:
        """Adds."""
        return sum(numbers)

    def first(number: int, /) -> int:
        """Gives it back."""
        return number

    for function in (some, first, lambda **named: named):
        with pytest.raises(InputError):
            read(function)


def test_a_function_without_a_usable_name_is_refused_unless_one_is_given() -> None:
    with pytest.raises(InputError, match="give name="):
        read(lambda x: x)
    assert read(lambda x: x, name="same").name == "same"


def test_an_annotation_that_is_only_for_type_checkers_is_refused() -> None:
    def priced(amount: "Decimal") -> None:
        """Prices."""

    with pytest.raises(InputError, match="Decimal"):
        read(priced)


def test_an_output_without_a_schema_is_simply_not_described() -> None:
    def opaque() -> threading.Lock:
        """Gives a lock."""
        return threading.Lock()

    def untold() -> Any:
        """Gives anything."""

    assert [read(opaque).output_schema, read(untold).output_schema] == [None, None]


async def test_a_langchain_tool_counts_as_a_write_unless_it_says_otherwise() -> None:
    @langchain_tool
    def look(x: int) -> int:
        """Looks."""
        return x + 1

    assert (as_tool(look).name, as_tool(look).effect) == ("look", "write")
    look.metadata = {"effect": "read"}
    assert as_tool(look).effect == "read"
    look.metadata = {"readOnlyHint": True}
    assert as_tool(look).effect == "read"
    assert as_tool(look).args_schema["required"] == ["x"]
    assert await run(as_tool(look), x=1) == 2


async def test_a_langchain_tool_may_be_marked_like_a_function() -> None:
    @langchain_tool
    def look(x: int) -> int:
        """Looks."""
        return x + 1

    assert (read(look).effect, write(look).effect, read(look, timeout=3.0).timeout) == ("read", "write", 3.0)
    assert await run(read(look), x=1) == 2


async def test_an_async_only_langchain_tool_runs() -> None:
    async def look(x: int) -> int:
        """Looks."""
        return x + 1

    assert await run(as_tool(StructuredTool.from_function(coroutine=look)), x=1) == 2


def test_a_bare_function_counts_as_a_write_and_a_tool_stays_as_it_is() -> None:
    made = read(greet)
    assert as_tool(made) is made
    assert as_tool(greet).effect == "write"


@pytest.mark.parametrize("source", [None, "name", 3, Point])
def test_what_is_no_tool_is_refused(source: Any) -> None:
    with pytest.raises(InputError, match="is no tool"):
        as_tool(source)
