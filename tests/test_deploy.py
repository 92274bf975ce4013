"""deploy/ and the benchmark of take-over: files that are only read elsewhere name what is there."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from langgraph_cli.config import validate_config_file

from benchmarks.aegra import is_made

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SETTINGS = dict(
    line.split("=", 1)
    for line in (DEPLOY / "settings.env").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
SERVERS = [name for name in COMPOSE["services"] if name.startswith("server")]
AEGRA = ROOT / ".venv-aegra" / "bin" / "python"
needs_aegra = pytest.mark.skipif(not is_made(), reason="`make aegra` makes what this needs (Python 3.12)")


@pytest.mark.parametrize("file", ["langgraph.json", "benchmarks/takeover.json"])
def test_every_graph_that_is_served_is_a_file_with_a_graph(file: str) -> None:
    read = validate_config_file(ROOT / file)
    for entry in read["graphs"].values():
        path, _, name = entry["path"].partition(":")  # type: ignore[union-attr]
        text = ((ROOT / file).parent / path).read_text(encoding="utf-8")
        assert re.search(rf"^{name} = ", text, re.MULTILINE), entry


def test_both_servers_share_database_queue_and_folder_and_differ_in_their_port() -> None:
    assert len(SERVERS) == 2
    first, second = (COMPOSE["services"][name] for name in SERVERS)
    assert second["environment"] == {**first["environment"], "RUN_MIGRATIONS_ON_STARTUP": "false"}
    assert first["volumes"] == second["volumes"]
    assert {volume.partition(":")[0] for volume in first["volumes"]} <= COMPOSE["volumes"].keys()
    assert first["ports"] != second["ports"]
    assert first["environment"]["FORETHOUGHT_HOME"] in [volume.partition(":")[2] for volume in first["volumes"]]


def test_no_password_stands_in_the_files_and_none_is_made_up() -> None:
    for place in ("DATABASE_URL", "FORETHOUGHT_DATABASE"):
        assert "${POSTGRES_PASSWORD" in COMPOSE["services"]["server-1"]["environment"][place]
    assert not [name for name in SETTINGS if "PASSWORD" in name or "KEY" in name]


def test_the_files_that_compose_and_the_image_name_are_there() -> None:
    build = COMPOSE["services"]["server-1"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    copied = {name.removeprefix("./") for line in re.findall(r"^COPY (.+) \S+$", image, re.M) for name in line.split()}
    assert all((ROOT / name).exists() for name in copied)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert {*packages["targets"]["wheel"]["packages"], "langgraph.json", "deploy"} <= copied
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert copied == {line[1:] for line in ignored if line.startswith("!")}


def test_the_pins_of_the_servers_hold_what_they_ask_for_and_the_same_langgraph_as_the_tests() -> None:
    def pins(file: Path) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)==(\S+)$", file.read_text(encoding="utf-8"), re.M))

    servers, tests = pins(DEPLOY / "constraints.txt"), pins(ROOT / "constraints.txt")
    assert pins(DEPLOY / "requirements.txt").items() <= servers.items()
    ours = [name for name in tests if name.startswith("langgraph") and name in servers]
    assert {name: servers[name] for name in ours} == {name: tests[name] for name in ours}
    assert "langgraph-checkpoint-postgres" in ours


def test_a_server_keeps_every_step_and_outlives_two_lost_heartbeats() -> None:
    assert SETTINGS["AEGRA_CHECKPOINT_DURABILITY"] == "sync"
    assert SETTINGS["REDIS_BROKER_ENABLED"] == "true"
    assert int(SETTINGS["LEASE_DURATION_SECONDS"]) > 2 * int(SETTINGS["HEARTBEAT_INTERVAL_SECONDS"])


def test_the_variables_of_this_project_that_are_set_are_read() -> None:
    given = [name for name in COMPOSE["services"]["server-1"]["environment"] if name.startswith("FORETHOUGHT_")]
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "state").glob("*.py"))
    assert given and all(f'"{name}"' in source for name in given)


@needs_aegra
def test_the_settings_are_settings_of_the_server() -> None:
    ask = "import json; from aegra_api.settings import settings as s; " \
          "print(json.dumps([n for g in vars(s).values() for n in type(g).model_fields]))"  # fmt: skip
    known = json.loads(subprocess.run([AEGRA, "-c", ask], capture_output=True, text=True, check=True, cwd="/").stdout)
    assert SETTINGS.keys() - {"LANGSMITH_TRACING"} <= set(known)
    assert {"DATABASE_URL", "REDIS_URL", "HOST", "PORT", "RUN_MIGRATIONS_ON_STARTUP"} <= set(known)


@needs_aegra
@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.skipif(not shutil.which("redis-server"), reason="needs Debian's package redis-server")
def test_runs_of_a_killed_server_end_on_the_other_with_every_write_once() -> None:
    command = [sys.executable, "-m", "benchmarks.takeover", "20", "170"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=190)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.count("  ok: ") == 9
