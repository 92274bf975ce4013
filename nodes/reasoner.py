"""Reasons in turns: one thought, then one call or the answer (ReAct, Yao et al. 2022, arXiv:2210.03629).

A call becomes a step of a plan that grows by one step a turn, so that everything that holds for plans holds here.
"""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.ask import ask
from nodes.conflicts import open_conflicts
from nodes.health import offered
from nodes.lessons import recall
from nodes.plan_check import Finding, finding
from nodes.prompts.reasoner import turn_messages
from nodes.repeats import REPEATS, repeated
from nodes.run import Run, open_run
from nodes.shortlist import besides, for_turns, missing_tool
from nodes.told import told
from nodes.troubles import BLANK, invalid, say_ruled_out, trouble_with
from nodes.trust import in_words
from nodes.turn import MarkDraft, TurnDraft
from nodes.versions import begun, one_more_step, refused, steps_left
from state.blank import EMPTY, is_blank
from state.channels import Events, Lessons, Plans, Reflections, Results, Thoughts
from state.context import Context
from state.errors import BudgetSpent, ModelFailed
from state.plan import Plan, StepDraft
from state.request import Request
from state.result import Result, is_finished
from state.stop import Stop, StopReason, stop
from state.thought import Kind, Mark, Next, Thought
from state.usage import Usage
from tools.catalogue import Catalogue, describe

TURN = "t"
"""What the ids of steps begin with that a turn asked for."""


Told = tuple[Catalogue, Catalogue]
"""The tools that every turn of a run is told of, and those that this one is told of besides."""
Rule = Callable[[TurnDraft, "ThinkInput"], Next | None]
"""What a thought without a move may be taken for."""


class ThinkInput(TypedDict):
    """What the reasoner reads."""

    request: Request
    plans: Plans
    results: Results
    thoughts: Thoughts
    reflections: Reflections
    lessons: Lessons
    usage: Usage


class ThinkUpdate(TypedDict, total=False):
    """What the reasoner writes."""

    plans: Plans
    thoughts: Thoughts
    lessons: Lessons
    answer: Any
    answered_by: str
    trouble: Stop | None
    usage: Usage
    events: Events


def think(*rules: Rule) -> Any:
    """The node that takes one turn; rules say what else a thought may lead to, such as a plan. The first that holds."""

    async def think(state: ThinkInput, runtime: Runtime[Context]) -> ThinkUpdate:
        """Takes one turn: a thought, and a call of a tool or the answer."""
        run = open_run(state, runtime)
        update: ThinkUpdate = {"trouble": None}
        try:
            if not state["results"] or _went_wrong(state):
                await recall(state, run, "planner")
            update = await _turn(state, run, rules)
        except (BudgetSpent, ModelFailed) as error:
            update["trouble"] = trouble_with("reasoning", error)
        return {**update, "lessons": run.lessons, "usage": run.meter.usage(), "events": run.events}

    return think


def _went_wrong(state: ThinkInput) -> bool:
    return next(reversed(state["results"].values()))["status"] == "failed"


async def _turn(state: ThinkInput, run: Run, rules: tuple[Rule, ...]) -> ThinkUpdate:
    """One turn that can be carried out; findings go back to the model a limited number of times."""
    tools, last = await offered(run), state["plans"][-1] if state["plans"] else None
    always = await for_turns(tools, run)
    findings: list[Finding] = []
    for _ in range(run.limits.plan_feedback + 1):
        more_tools = await besides(always, tools, run, last, findings)
        draft = await _asked(state, run, (always, more_tools), findings, modes=bool(rules))
        move, before = draft.move, findings
        if move == "give_up" and (findings := _missing(draft, (always, more_tools), tools, before)):
            continue
        if move in (None, "give_up"):
            move = next((found for rule in rules if (found := rule(draft, state))), move)
        if move == "act":
            more, findings = await _step(draft, state, run, tools, before)
            if not findings:
                return _acting(draft, more, state, run)
        elif move == "finish" and is_blank(draft.answer, run.context.answer_schema):
            findings = [finding("", BLANK, EMPTY)]
        elif move is None:
            findings = [finding("", "no_move", "the turn makes no move; give a tool with its args, or the answer")]
        else:
            return _moving(draft, move, state, run)
        run.event("turn_rejected", reason=findings[0]["message"], evidence=[f["code"] for f in findings])
        say_ruled_out(findings, run)
    return {"trouble": invalid(findings)}


def _missing(draft: TurnDraft, known: Told, tools: Catalogue, told: list[Finding]) -> list[Finding]:
    """What a turn that sees no way with the tools it knows of is told first."""
    both = Catalogue(tool for part in known for tool in part.values())
    return missing_tool(str(draft.impossible), both, tools, told)


async def _asked(state: ThinkInput, run: Run, known: Told, findings: list[Finding], *, modes: bool) -> TurnDraft:
    request = run.request
    tools, besides = ([describe(tool) for tool in part.values()] for part in known)
    in_short, turns = told(state["thoughts"], state["results"], state["plans"], run.memo)
    messages = turn_messages(
        request["task"], request["constraints"], request["inputs"], tools, turns, run.language,
        in_short=in_short, earlier=request["earlier"],
        lessons=_lessons(state), findings=[finding["message"] for finding in findings],
        learned=run.lessons.values(), modes=modes, left_out=max(0, len(run.tools) - len(tools)), besides=besides,
    )  # fmt: skip
    return await ask(messages, TurnDraft, name="turn", role="planner", run=run)


def _lessons(state: ThinkInput) -> list[str]:
    """What reflections said, and where results do not agree."""
    disputed = [f"evidence in conflict: {one}" for one in open_conflicts(state["plans"], state["results"])]
    return [*(one["lesson"] for one in state["reflections"] if one["lesson"]), *disputed]


async def _step(
    draft: TurnDraft, state: ThinkInput, run: Run, tools: Catalogue, told: list[Finding]
) -> tuple[Plan, list[Finding]]:
    """The call as one more step of the plan, with what is wrong with it; a reason counts once it was asked for."""
    if steps_left(state["results"], run) <= 0:
        raise BudgetSpent("steps", run.limits.steps, run.limits.steps)
    name = f"{TURN}{len(state['thoughts']) + 1}"
    step = StepDraft(id=name, tool=draft.tool or "", args=draft.args, each=draft.each, why=draft.thought,
                     measures=draft.measures, rests_on=draft.rests_on)  # fmt: skip
    more, steps, findings = one_more_step(step, state["plans"], state["results"], run, tools)
    steps[0]["again"] = draft.again.strip() if any(one["code"] == REPEATS for one in told) else ""
    findings = findings or await refused(steps, tools)
    return more, findings or ([] if steps[0]["again"] else await repeated(steps[0], state["results"], run))


def _acting(draft: TurnDraft, more: Plan, state: ThinkInput, run: Run) -> ThinkUpdate:
    step = more["steps"][0]
    run.plan_version = more["version"]
    run.event("thought", step=step["id"], reason=draft.thought, evidence=[step["tool"]], next="execute")
    for name, flow in more["untrusted"].items():
        run.event("untrusted_write", step=name, reason=in_words(flow))
    return {"plans": [more], "thoughts": [_thought(draft, "act", step["id"], state)], "trouble": None}


def _moving(draft: TurnDraft, move: Next, state: ThinkInput, run: Run) -> ThinkUpdate:
    """A turn that calls nothing: the answer, giving up, or another way to go on."""
    run.event("thought", reason=draft.thought or draft.impossible or "", next=move)
    update: ThinkUpdate = {"thoughts": [_thought(draft, move, "", state)], "trouble": None}
    if move == "give_up":
        return {**update, "trouble": stop(StopReason.CANNOT_BE_DONE, str(draft.impossible))}
    if move == "finish":
        none = [] if state["plans"] else [begun(run)]
        return {**update, "plans": none, "answer": draft.answer, "answered_by": "model"}
    return update


def _thought(draft: TurnDraft, move: Next, step: str, state: ThinkInput) -> Thought:
    turn = len(state["thoughts"]) + 1
    marks = [_mark(mark, f"a{turn}.{place}", state["results"]) for place, mark in enumerate(draft.marks, 1)]
    return {"turn": turn, "text": draft.thought, "marks": marks, "next": move, "step": step}


def _mark(draft: MarkDraft, identity: str, results: Mapping[str, Result]) -> Mark:
    """The mark as code can hold it: what rests on no finished step is an assumption, whatever it calls itself."""
    evidence = [name for name in draft.evidence if is_finished(name, results)]
    kind: Kind = draft.kind if evidence else "assumption"
    identity = identity if kind == "assumption" else ""
    return {
        "kind": kind, "text": draft.text, "evidence": evidence, "id": identity, "confirms": draft.confirms,
        "contradicts": draft.contradicts,
    }  # fmt: skip
