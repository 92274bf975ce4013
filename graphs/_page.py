"""A run as one page of HTML that needs nothing else: no script, no network; light or dark; to be printed too."""

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from graphs._drawing import drawing_of_report, duration, state_of, took
from graphs._markup import Child, el, written
from graphs._summary import lesson_lines, models, open_questions, used
from graphs._svg import marked, sign, svg_of
from graphs._timeline import timeline_svg
from graphs._versions import Row, compared, headline, pairs
from graphs._words import as_json, one_line
from state.events import Event
from state.plan import Plan
from state.report import Report
from state.result import Result, why

_LONGEST = 4_000
_NOTHING_FROM_OUTSIDE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--ink:#1f2328;--soft:#57606a;--back:#fff;--rule:#d0d7de;--panel:#f6f8fa;--edge:#8c959f}
@media screen and (prefers-color-scheme:dark){
:root{--ink:#e6edf3;--soft:#9aa4af;--back:#0d1117;--rule:#30363d;--panel:#161b22;--edge:#6e7681}}
body{margin:0 auto;padding:24px 20px 60px;max-width:1240px;background:var(--back);color:var(--ink);
font:14px/1.5 system-ui,'Noto Sans','Noto Sans CJK SC',sans-serif;overflow-wrap:anywhere}
h1{font-size:22px;line-height:1.3;margin:0 0 6px}
h2{font-size:17px;margin:34px 0 8px;border-bottom:1px solid var(--rule)}
h3{font-size:14px;margin:18px 0 6px}.soft{color:var(--soft)}
.scroll{overflow-x:auto;background:
linear-gradient(to right,var(--back) 12px,transparent) 0 0/40px 100% no-repeat local,
linear-gradient(to left,var(--back) 12px,transparent) 100% 0/40px 100% no-repeat local,
linear-gradient(to right,var(--edge),transparent) 0 0/8px 100% no-repeat scroll,
linear-gradient(to left,var(--edge),transparent) 100% 0/8px 100% no-repeat scroll}
pre,code,td.code{font:12px/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre-wrap}
pre{background:var(--panel);padding:10px 12px;border-radius:6px;margin:6px 0}
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid var(--rule);padding:4px 10px 4px 0;
text-align:left;vertical-align:top;overflow-wrap:break-word}
td.long{overflow-wrap:anywhere;min-width:18ch}th{color:var(--soft);font-weight:600;white-space:nowrap}
td.nowrap{white-space:nowrap}td svg{width:12px;height:12px;margin-right:5px;vertical-align:-1px}
summary{cursor:pointer;color:var(--soft)}
@media print{body{max-width:none;padding:0}.scroll{overflow:visible;background:none}
td.long{min-width:0}.scroll svg{max-width:100%;height:auto}
tr,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}}
"""


def page(report: Report, events: Sequence[Event] = (), thread: str = "") -> str:
    """The whole run: answer, plan as it ran, time line, versions, steps, cost, events."""
    parts = [*_top(report, thread), *_plan(report), *_versions(report), *_steps(report)]
    return sheet(one_line(report["task"], 200), [*parts, *_judged(report), *_costs(report), *_events(events)])


def sheet(title: str, parts: Iterable[Element]) -> str:
    """A whole page of HTML."""
    head = el(
        "head", el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_OUTSIDE),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", title), el("style", _STYLE),
    )  # fmt: skip
    whole = el("html", head, el("body", *parts), lang="en")
    return f"<!doctype html>\n{written(whole, as_html=True)}\n"


def _top(report: Report, thread: str) -> Iterable[Element]:
    ended, answer = report["stop"], report["answer"]
    yield el("h1", one_line(report["task"], 500))
    run = f"run {thread} · " if thread else ""
    yield el("p", f"{run}{report['pattern']} · {ended['reason']}: {ended['message']}", class_="soft")
    if answer is not None:
        yield from titled("Answer", el("pre", answer if isinstance(answer, str) else as_json(answer, indent=2)))
    asked = [line.strip() for line in open_questions(report["open_requests"])[1:]]
    lists = {"Open questions": asked, "Missing": report["missing"], "Writes": report["writes"]}
    lists |= {"Risks": report["risks"], "People": report["people"], "Lessons": lesson_lines(report)}
    lists |= {"Notes": report["notes"]}
    for name, items in lists.items():
        if items:
            yield from titled(name, el("ul", *(el("li", item) for item in items)))


def titled(title: str, *parts: Element, level: str = "h2") -> Iterable[Element]:
    """Parts under a heading."""
    return [el(level, title), *parts]


def _plan(report: Report) -> Iterable[Element]:
    if not report["plans"]:
        return titled("Plan", el("p", "there is no plan", class_="soft"))
    drawn = el("div", svg_of(drawing_of_report(report)), class_="scroll")
    times = el("div", timeline_svg(report["results"]), class_="scroll")
    return [*titled("Plan as it ran", drawn), *titled("Time line", times)]


def _versions(report: Report) -> Iterable[Element]:
    results = _by_step(report)
    before = {new["version"]: old for old, new in pairs(report["plans"])}
    for place, plan in enumerate(report["plans"]):
        yield from [] if place else [el("h2", "Versions of the plan")]
        yield el("h3", headline(plan))
        if plan["version"] in before:
            old = before[plan["version"]]
            heads = ("", f"plan {old['version']}", f"plan {plan['version']}")
            yield table(heads, map(_changed, compared(old, plan, results)))
        if before:
            yield _drawn(report, plan)


def _changed(row: Row) -> list[Element]:
    return [el("td", row.change, class_="nowrap"), _code(row.before), _code(row.after)]


def _drawn(report: Report, plan: Plan) -> Element:
    svg = el("div", svg_of(drawing_of_report(report, plan["version"])), class_="scroll")
    return el("details", el("summary", f"plan {plan['version']}, drawn"), svg)


def _steps(report: Report) -> Iterable[Element]:
    if report["results"]:
        heads = ("step", "tool", "state", "time", "tries", "arguments", "what came of it")
        yield from titled("Steps", table(heads, map(_step, report["results"])))


def _step(result: Result) -> list[Element]:
    state = state_of(result)
    shown = marked(state, sign(state, 0, 0))
    drawn = el("svg", shown, viewBox="0 0 12 12", class_="ft", xmlns="http://www.w3.org/2000/svg")
    write = " (write)" if result["effect"] == "write" else ""
    times = f"{duration(took(result))}{', slow' if result['slow'] else ''}" if result["attempts"] else ""
    checks = [f"{c['outcome']}: {c['condition']} ({c['evidence']}, by {c['by']})" for c in result["checks"]]
    output = [] if result["output"] is None else [_text(result["output"])]
    told = [line for line in (why(result), *output, *checks) if line]
    return [
        el("td", result["step"], class_="code"), el("td", f"{result['tool']}{write}", class_="code"),
        el("td", drawn, state, class_="nowrap"), el("td", times, class_="nowrap"), el("td", str(result["attempts"])),
        _code(as_json(result["args"]) if result["args"] else ""), _code("\n".join(told)),
    ]  # fmt: skip


def _judged(report: Report) -> Iterable[Element]:
    judged: Any = {"Verdict": report["verdict"], "Reflections": report["reflections"], "Thoughts": report["thoughts"]}
    judged |= {"Drafts": report.get("drafts")}
    for name, said in judged.items():
        if said:
            yield from titled(name, el("pre", as_json(said, indent=2)))


def _costs(report: Report) -> Iterable[Element]:
    parts: list[Element] = [el("p", used(report)), el("p", models(report["models"]), class_="soft")]
    roles = report["usage"]["roles"]
    if roles:
        names = ("calls", "tokens_in", "tokens_out", "cached", "reasoning", "money")
        rows = ([el("td", role), *(el("td", _known(own[n])) for n in names)] for role, own in roles.items())  # type: ignore[literal-required]
        parts.append(table(("role", *(name.replace("_", " ") for name in names)), rows))
    return titled("Cost", *parts)


def _known(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.6g}"


def _events(events: Sequence[Event]) -> Iterable[Element]:
    if events:
        first = events[0]["time"]
        heads = ("after", "event", "step", "reason", "evidence", "next")
        yield from titled("Events", table(heads, (_event(event, first) for event in events)))


def _event(event: Event, first: float) -> list[Element]:
    evidence = as_json(event["evidence"]) if event["evidence"] else ""
    at = el("td", duration(event["time"] - first), class_="nowrap")
    named = [el("td", event["event"], class_="nowrap"), el("td", event["step"], class_="code")]
    return [at, *named, el("td", _cut(event["reason"])), _code(evidence), el("td", event["next"])]


def table(heads: Iterable[str], rows: Iterable[Iterable[Element]]) -> Element:
    """Cells in rows under a line of heads."""
    top = el("thead", el("tr", *(el("th", head) for head in heads)))
    return el("div", el("table", top, el("tbody", *(el("tr", *row) for row in rows))), class_="scroll")


def _code(said: str) -> Element:
    """Long text is folded."""
    cut = _cut(said)
    inside: Child = cut if len(cut) <= 300 else el("details", el("summary", one_line(cut, 120)), cut)
    return el("td", inside, class_="code long")


def _cut(said: str) -> str:
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}… ({len(said):,} characters)"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _by_step(report: Report) -> dict[str, Result]:
    return {result["step"]: result for result in report["results"]}
