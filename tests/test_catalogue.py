import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool as langchain_tool

from state.errors import InputError
from tools.catalogue import FAMILIES, ON_REQUEST, Catalogue, catalogue, describe
from tools.settings import ToolSettings
from tools.tool import read

SETTINGS = ToolSettings()
BUILT_IN = [name for family, names in FAMILIES.items() if family not in ON_REQUEST for name in names]


def weather(city: str) -> str:
    """Says how the weather is."""
    return f"{city}: cloudy"


@langchain_tool
def news(topic: str) -> str:
    """Finds news."""
    return topic


def names(*sources: Any) -> list[str]:
    return catalogue(list(sources), SETTINGS).names


def refused(*sources: Any) -> str:
    with pytest.raises(InputError) as caught:
        catalogue(list(sources), SETTINGS)
    return str(caught.value)


def test_without_a_choice_all_built_in_tools_are_there_that_lack_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert catalogue(None, SETTINGS).names == [name for name in BUILT_IN if name != "web_search"]
    monkeypatch.setenv("SERPER_API_KEY", "key")
    assert catalogue(None, SETTINGS).names == BUILT_IN


def test_what_every_run_has_can_be_named_beside_what_is_on_request() -> None:
    assert names("standard", "run_python") == [*names("standard"), "run_python"]
    assert names("standard") == catalogue(None, SETTINGS).names


def test_an_empty_choice_has_no_tools() -> None:
    assert names() == []


def test_a_name_is_a_tool_or_a_family() -> None:
    assert names("search", "files", "calculator") == ["search", *FAMILIES["files"], "calculator"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_gives_the_tools_it_is_listed_with(family: str) -> None:
    assert names(family) == list(FAMILIES[family])


def test_functions_langchain_tools_and_our_own_are_taken() -> None:
    found = catalogue([weather, news, replace(read(weather), name="forecast"), "calculator"], SETTINGS)
    assert found.names == ["weather", "news", "forecast", "calculator"]
    assert [tool.effect for tool in found.values()] == ["write", "write", "read", "read"]


def test_a_name_may_be_given_to_one_tool_only() -> None:
    assert "'weather'" in refused(weather, read(weather))
    assert "'read_file'" in refused("files", "read_file")


def test_an_unknown_name_is_refused_with_close_ones() -> None:
    assert "did you mean calculator?" in refused("calculater")
    assert "there is: calculator, run_python" in refused("quantum")


@pytest.mark.parametrize("source", [None, 3, {"name": "x"}, str])
def test_what_is_no_tool_is_refused(source: Any) -> None:
    assert "is no tool" in refused(source)


def test_a_text_instead_of_a_list_is_refused() -> None:
    with pytest.raises(InputError, match=r"\['calculator'\]"):
        catalogue("calculator", SETTINGS)  # type: ignore[arg-type]


def test_it_is_a_mapping_whose_missing_names_are_explained() -> None:
    found = Catalogue([read(weather)])
    assert found["weather"].name == "weather"
    assert dict(found) == {"weather": found["weather"]}
    assert ("weather" in found, "wether" in found, len(found)) == (True, False, 1)
    assert (found.get("weather"), found.get("wether")) == (found["weather"], None)
    with pytest.raises(InputError, match="did you mean weather"):
        found["wether"]
    with pytest.raises(InputError, match="there is: none"):
        Catalogue()["x"]


def test_families_are_imported_when_they_are_asked_for() -> None:
    code = (
        "import sys; from tools.catalogue import catalogue; from tools.settings import ToolSettings;"
        "catalogue(['calculator'], ToolSettings());"
        "print([name for name in ('tools.calculator', 'tools.mail', 'bs4') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent.parent, check=True
    )
    assert done.stdout.strip() == "['tools.calculator']"


def test_a_planner_is_told_name_description_schemas_and_effect() -> None:
    assert describe(read(weather)) == {
        "name": "weather",
        "description": "Says how the weather is.",
        "args": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "returns": {"type": "string"},
        "effect": "read",
    }


def test_every_built_in_tool_is_described_for_a_planner() -> None:
    for tool in catalogue(list(FAMILIES), SETTINGS).values():
        told = describe(tool)
        assert told["description"].endswith(".")
        assert len(told["description"]) < 250
        assert told["returns"] is not None
        assert all("type" in schema or "anyOf" in schema for schema in told["args"]["properties"].values())


def test_only_tools_that_change_something_are_writes() -> None:
    writes = {name for name, tool in catalogue(list(FAMILIES), SETTINGS).items() if tool.effect == "write"}
    assert writes == {
        "http_send",
        "submit_refund",
        "withdraw_refund",
        "write_file",
        "copy_file",
        "compress",
        "send_mail",
        "sql_execute",
    }
