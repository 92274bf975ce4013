"""What the commands that draw do: a pattern, the plan or the time line of a run, its versions, its page."""

import asyncio
import sys
from pathlib import Path

from graphs import load, names
from graphs._leg import Job
from graphs._live import Screen
from graphs._options import settings_of
from graphs._picture import Drawn, Picture, TimeLine, by_ending, page_of, picture_of
from graphs._saved import home_of, valid_thread
from graphs._show import Kept, read_kept
from graphs._versions import compared, headline, pairs, side_by_side
from graphs._words import as_json, visible
from state.errors import InputError, shorten
from state.plan import Plan
from state.report import Report


def show_drawing(
    shown: str, format: str | None, out: str | None, plan: int | None, timeline: bool, more: list[str]
) -> None:
    """Draws a pattern, the plan of a run, or its time line."""
    if shown in names():
        if timeline or plan is not None:
            raise InputError(f"{shown} is a pattern: --plan and --timeline are for a kept run")
        drawn: Drawn = picture_of(load(shown))
    else:
        report = _kept_or_pattern(shown, more).report
        drawn = TimeLine(report["results"]) if timeline else _picture(report, plan)
    _write(drawn.as_format(_format(format, out, drawn)), out)


def _picture(report: Report, version: int | None) -> Picture:
    """The plan as it ran, if there is anything to be seen of it."""
    drawn = picture_of(report, version)
    if not drawn.drawing.nodes:
        why = "it worked in drafts" if report.get("drafts") else "its plan has none"
        raise InputError(
            f"there are no steps to be drawn in this run: {why}; `forethought show` and `report` tell of it"
        )
    return drawn


def show_difference(thread: str, old: int | None, new: int | None, as_lines_of_json: bool, more: list[str]) -> None:
    """Two versions side by side, or each with the next."""
    kept = _kept(thread, more)
    found = _pairs(kept.report["plans"], old, new)
    if as_lines_of_json:
        _write(_differences(kept, found), None)
    else:
        _print_side_by_side(kept, found)


def write_page(thread: str, out: str, more: list[str]) -> None:
    """The whole run as one file."""
    kept = _kept(thread, more)
    _write(page_of(kept.report, kept.events, kept.job.thread).html, out)


def _kept(thread: str, more: list[str]) -> Kept:
    overrides = settings_of(more=more)
    return asyncio.run(read_kept(Job("", valid_thread(thread), {}, home_of(overrides)), overrides))


def _kept_or_pattern(shown: str, more: list[str]) -> Kept:
    try:
        return _kept(shown, more)
    except InputError as error:
        raise InputError(
            f"there is no pattern {shorten(shown)!r} (there are: {', '.join(names())}), and {error}"
        ) from error


def _format(given: str | None, out: str | None, drawn: Drawn) -> str:
    """The one that was asked for, or that the file is called after."""
    said = by_ending(out or "")
    if given and said not in (None, given):
        raise InputError(f"--format {given} and -o {shorten(out)} say two things; {Path(str(out)).suffix} is {said}")
    named = given or said or drawn.formats[0]
    if named == "png" and out is None and "png" in drawn.formats:
        raise InputError("a PNG goes into a file: add -o FILE.png")
    return named


def _write(drawn: str | bytes, out: str | None) -> None:
    if out is None:
        sys.stdout.write(str(drawn))
        return
    try:
        Path(out).write_bytes(drawn if isinstance(drawn, bytes) else drawn.encode())
    except OSError as error:
        raise InputError(
            f"{out} can't be written: {error.strerror}; -o takes a file in a folder that is there"
        ) from error
    print(f"written: {visible(out)}", file=sys.stderr)


def _pairs(plans: list[Plan], old: int | None, new: int | None) -> list[tuple[Plan, Plan]]:
    if old is None:
        return list(pairs(plans))
    by_number = {plan["version"]: plan for plan in plans}
    for number in (old, new):
        if number not in by_number:
            known = ", ".join(map(str, by_number)) or "none"
            raise InputError(f"there is no plan {number} in this run; A and B are two of: {known}")
    return [(by_number[old], by_number[new])]  # type: ignore[index]


def _differences(kept: Kept, found: list[tuple[Plan, Plan]]) -> str:
    told = [
        {
            "from": old["version"], "to": new["version"], "values": [old["value"], new["value"]],
            "steps": [vars(row) for row in compared(old, new, kept.watch.results)],
        }
        for old, new in found
    ]  # fmt: skip
    return as_json(told, indent=2) + "\n"


def _print_side_by_side(kept: Kept, found: list[tuple[Plan, Plan]]) -> None:
    screen = Screen()
    if not found:
        plans = kept.report["plans"]
        print(headline(plans[0]) if plans else "there is no plan")
        print("there is no other version to compare it with" if plans else "so there is nothing to compare")
    for old, new in found:
        screen.print(side_by_side(old, new, kept.watch.results))
