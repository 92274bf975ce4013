"""Replays of kept runs, and kept runs as regression cases for pytest."""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from shutil import rmtree
from typing import Any

from graphs import replay
from graphs._options import settings_of
from graphs._replay import Replayed
from graphs._saved import home_of, valid_thread
from graphs._words import as_json, count, one_line
from nodes.frame import essence
from nodes.recorded import read_run
from nodes.recording import redacted
from nodes.replay import difference
from state.errors import InputError, SetupError
from state.json_text import from_json
from tools.given_file import text_of

_MOST = 100_000_000
"""Bytes of a file of a case."""
RECORDING, EXPECTED = "recording.jsonl", "expected.json"
_TEST = '''"""A kept run as a case, written by `forethought export`; expected.json says what must come of it."""

from pathlib import Path

import graphs


def test_{name}() -> None:
    assert graphs.check_case(Path(__file__).parent) == ""
'''


def show_replay(run: str, as_lines_of_json: bool, more: list[str]) -> int:
    """Replays a run and says how it went; 1 if it differs."""
    done = replay(_recording_of(run, more))
    if as_lines_of_json:
        print(as_json({"same": done.same, "difference": done.difference, **asdict(done)}, indent=2))
        return int(not done.same)
    amounts = (count(number, f"{what} call" if what != "answer" else what) for what, number in done.exchanges.items())
    if done.same:
        cut = "; the recording was cut off there" if done.ran_out else ""
        print(f"identical: {', '.join(amounts)}, stop {done.report['stop']['reason']}{cut}")
        return 0
    print(f"differs: {one_line(done.difference, 2000)}")
    return 1


def export(run: str, folder: str, more: list[str]) -> None:
    """Writes the recording of a run, what came of it, and a test that replays it."""
    file, place = _recording_of(run, more), Path(folder)
    name = re.sub(r"\W+", "_", place.name).strip("_").lower() or "case"
    recorded, done = read_run(file), replay(file)
    if not done.same:
        raise InputError(f"the run does not come out the same even now, so it is no case yet: {done.difference}")
    try:
        place.mkdir(parents=True)
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in recorded.entries)
        (place / RECORDING).write_text(lines, encoding="utf-8")
        expected = {"same": True, **outcome_of(done)}
        (place / EXPECTED).write_text(json.dumps(expected, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        (place / f"test_{name}.py").write_text(_TEST.replace("{name}", name), encoding="utf-8")
    except FileExistsError as error:
        raise InputError(f"{folder!r} is there already; give the name of a new folder") from error
    except OSError as error:
        rmtree(place, ignore_errors=True)
        raise SetupError(f"the case can't be written to {folder!r}: {error.strerror or error}") from error
    print(f"written to {folder}: run it with pytest {folder}", file=sys.stderr)


def outcome_of(done: Replayed) -> dict[str, Any]:
    """What came of a replay, short enough to be read and changed by hand."""
    found = redacted(essence(done.report))
    return {
        "stop": found["stop"], "plan_versions": len(found["plans"]), "answer": found["answer"],
        "results": found["results"], "calls": [[step, tool, as_json(args)] for step, tool, args in done.calls],
    }  # fmt: skip


def check_case(folder: str | Path, context: Mapping[str, Any] | None = None) -> str:
    """What is not as the case says; empty if it is. With `"same": false` the old outcome must not come again."""
    place = Path(folder)
    text = text_of(place / EXPECTED, f"the case {str(place / EXPECTED)!r}", _MOST)
    try:
        expected: dict[str, Any] = from_json(text)
        same = expected.pop("same")
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{place / EXPECTED} is no case that can be read: {type(error).__name__}: {error}; "
            "right would be the JSON object as the case was kept"
        ) from error
    done = replay(place / RECORDING, context=context)
    now = {name: value for name, value in outcome_of(done).items() if name in expected}
    other = done.exchange or (difference(expected, now) if now != expected else "")
    if same:
        return other
    return "" if other else 'it comes out as recorded, though expected.json says "same": false'


def _recording_of(run: str, more: list[str]) -> Path:
    """The recording of a kept run; a file or the folder of a case is taken as it is."""
    place = Path(run)
    if os.path.isdir(place):
        place = place / RECORDING
    if os.path.isfile(place):
        return place
    settings = settings_of(more=more)
    file = Path(settings.get("record") or home_of(settings).recording(valid_thread(run)))
    if not file.is_file():
        raise InputError(f"there is no recording of a run {run!r}: looked for {str(file)!r}")
    return file
