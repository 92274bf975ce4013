"""Fixtures for tests that run whole patterns: the model server as the endpoint, and a folder for tools."""

from pathlib import Path

import pytest

from tests.support.model_server import ModelServer


@pytest.fixture(autouse=True)
def endpoint(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The model server is the one that the environment names."""
    for name, value in model_server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that tools may touch."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder
