"""Fixtures for every test: real servers on loopback, a scripted model, a home folder, a clean environment."""

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.support.mail_server import MailServer
from tests.support.model_server import ModelServer
from tests.support.postgres import Postgres, running
from tests.support.scripted_model import ScriptedModel
from tools import health

pytest_plugins = ["pytester"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job; programs that tests start inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

FOREIGN = ("LLM_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "SERPER_", "OTEL_", "PG")
ALONE = (
    "SMTP_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "FORETHOUGHT_HOME", "FORETHOUGHT_DATABASE", "FORETHOUGHT_ORIGINS",
    "FORETHOUGHT_WEATHER_URL", "FORETHOUGHT_GEOCODING_URL", "FORETHOUGHT_SEARCH_URL",
    "FORETHOUGHT_SQL", "FORETHOUGHT_NEWS_URL", "FORETHOUGHT_FINANCE_URL", "FORETHOUGHT_MCP",
    "ALPHAVANTAGE_API_KEY",
)  # fmt: skip
_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """No test writes into the folder of the project."""
    root = Path(__file__).parents[1]
    before = set(os.listdir(root))
    yield
    left = {name for name in set(os.listdir(root)) - before if not name.startswith((".", "__"))}
    assert not left, f"tests wrote {sorted(left)} into the project; give them a folder of their own"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, endpoint, mail server, tracing or proxy of the machine reaches a test, and no tool counts as failed."""
    health.forget()
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name.upper() in ALONE:
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for journal, artefacts and saved runs, set as FORETHOUGHT_HOME."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("FORETHOUGHT_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def loopback() -> Iterator[HTTPServer]:
    """One HTTP server for the session, since stopping one takes half a second; a test gets a path of its own."""
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield server


@pytest.fixture
def model_server(loopback: HTTPServer) -> Iterator[ModelServer]:
    """A real OpenAI-compatible server: `model_server.reply("text", {"a": "value"})`, then `model_server.url`."""
    server = ModelServer(loopback, f"test{next(_numbers)}")
    yield server
    server.close()
    loopback.clear()
    _judge(server.problems())


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A chat model in this process: `scripted_model.reply("text", {"a": "value"})`."""
    model = ScriptedModel()
    yield model
    _judge(model.problems())


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    """A real mail server: `mail_server.url`, `mail_server.messages`, `mail_server.refuse()`."""
    server = MailServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL: `postgres.new_database()` is an address; a test that takes it is `slow`."""
    with running() as server:
        yield server


def _judge(problems: list[str]) -> None:
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Any:
    """The command in this process: its exit code, standard output and standard error."""
    from graphs.cli import execute

    def call(*arguments: str) -> SimpleNamespace:
        code = execute(arguments)
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return call


@pytest.fixture
def model(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """The model server, named in the environment."""
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)
    return model_server
