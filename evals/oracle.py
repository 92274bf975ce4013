"""An oracle: a chat model that answers every role from the gold plan of the task that a prompt is about.

It sees nothing but the prompt, so it works in process and behind a server. Leaves out: being wrong on purpose.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict

from evals.gold import VERSION, as_evidence, asks_for_evidence, gold_in_order, renamed
from evals.lacking import says_lacking
from evals.tasks import Task, by_text
from nodes.prompts.fence import read_fences
from state.errors import InputError, shorten
from state.plan import StepDraft
from state.references import PATTERN, as_text, each_text, references

_TURN = re.compile(r"t\d+")
Say = Callable[[Task, Mapping[str, Any], str], Any]
"""What a role says: (task, the fenced data of the prompt, the prompt) -> a text or the value that is asked for."""
MODEL_CALLS: Mapping[str, Callable[[int], int]] = MappingProxyType({
    "one_shot": lambda steps: 1,
    "plan_and_execute": lambda steps: 2,
    "rewoo": lambda steps: 2,
    "self_reflection": lambda steps: 3,
    "react": lambda steps: steps + 1,
    "plan_and_solve": lambda steps: steps + 1,
    "plan_act_reflect": lambda steps: 3,
    "workflow": lambda steps: 0,
    "combined": lambda steps: steps + 2,
    "direct": lambda steps: 1,
    "chain_of_thought": lambda steps: 1,
    "retry": lambda steps: 3,
})  # fmt: skip
"""How many calls of a model each pattern makes with the oracle, by the number of gold steps."""


class Broken(str):
    """A reply that is sent as it is, in whatever form it was asked for."""


def _message(value: Any, tools: Sequence[Mapping[str, Any]]) -> AIMessage:
    if not tools or isinstance(value, Broken):
        return AIMessage(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    name = tools[0]["function"]["name"]
    args = {"answer": value, "sources": {}} if name == "answer" else value
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "oracle-1", "type": "tool_call"}])


def _plan(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The gold plan, or of a plan that has run in part what is left; in ReWOO's notation where that is asked for."""
    if lacking := says_lacking(task, fences):
        return lacking
    done = {VERSION.sub("", name): name for name in fences.get("results") or {}}
    left = [step for step in task.gold if step.id not in done]
    if not left:
        return {"steps": [], "impossible": "every step of the gold plan is done"}
    steps = [renamed(step, done) for step in left]
    if asks_for_evidence(prompt):
        steps = as_evidence(steps)
    return {"goal": "the task is done", "steps": [step.model_dump(exclude_defaults=True) for step in steps]}


def turns_told(fences: Mapping[str, Any]) -> list[str]:
    """The steps of the turns that a reasoner is told of, in their order."""
    return sorted(filter(_TURN.fullmatch, fences), key=lambda name: int(name[1:]))


def _reason(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The next gold step as one turn, or the answer when there is none."""
    turns, gold = turns_told(fences), gold_in_order(task.gold)
    names = {step.id: turn for step, turn in zip(gold, turns, strict=False)}
    if len(turns) < len(gold):
        step = renamed(gold[len(turns)], names)
        return {"thought": f"gold step {step.id}", "tool": step.tool, "args": step.args, **once_more(fences)}
    if not task.gold:
        return {"thought": "", "impossible": "the gold plan has no step"}
    return {"thought": "every gold step is done", "answer": as_answer(task)}


def once_more(fences: Mapping[str, Any]) -> dict[str, str]:
    """What a turn adds that was told that its call was made before: gold has it twice."""
    return {"again": "the gold plan has it twice"} if fences.get("findings") else {}


def _outline(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The gold plan in words."""
    return {"goal": "the task is done", "steps": [_in_words(step) for step in gold_in_order(task.gold)]}


def _in_words(step: StepDraft) -> str:
    args = each_text(step.args, lambda text: PATTERN.sub(lambda found: f"the result of {found[1]}{found[2]}", text))
    return f"{step.id}: {step.tool} with {json.dumps(args, ensure_ascii=False)}"


def _solve(task: Task, fences: Mapping[str, Any], prompt: str) -> str:
    """The gold result of a step in words, if the results that it needs came along as gold has them."""
    gold, expected = gold_in_order(task.gold), task.expected()
    [step] = [one for one in gold if _in_words(one) == fences["data"]["step"]]
    told = {one.id: fences["data"]["earlier"].get(f"s{place}") for place, one in enumerate(gold, 1)}
    lost = [name for name in references(step.args) if told[name] != as_text(expected[name].output)]
    return f"the results of {lost} did not come along" if lost else as_text(expected[step.id].output)


def _answer(task: Task, fences: Mapping[str, Any], prompt: str) -> Any:
    return task.answer()


def _check(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """Every criterion by whether the answer is the gold one; without an answer to grade, all are met."""
    right = "answer" not in fences or fences["answer"] in (task.answer(), as_answer(task))
    outcome, score = ("passed", 10) if right else ("failed", 2)
    criteria = [str(one.get("criterion", one)) for one in fences.get("criteria") or []]
    criteria = criteria if "answer" not in fences else ["the answer is the gold one"]
    checks = [{"criterion": one, "outcome": outcome, "evidence": "gold"} for one in criteria]
    if "answer" not in fences:
        return {"checks": checks}
    scores = dict.fromkeys(("completeness", "accuracy", "quality"), score)
    return {"checks": checks, **scores, "accepted": right, "problems": [] if right else ["not the gold answer"]}


def as_answer(task: Task) -> str:
    """The gold answer as a text."""
    value = task.answer()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reflect(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """On with the gold plan while code finds nothing wrong; else what the right calls are."""
    look = '"verdict"' in prompt.split("<task>", 1)[0]
    if look and fences["trigger"]["cause"] in ("look", "budget nearly gone"):
        return {"verdict": "continue"}
    allowed = fences.get("allowed_changes") or ["step"]
    said = {"diagnosis": "the plan was not the gold plan", "change": "step" if "step" in allowed else allowed[0]}
    lesson = f"the right calls are {', '.join(step.tool for step in task.gold)}"
    return {**said, "lesson": lesson, **({"verdict": "revise", "findings": ["a step failed"]} if look else {})}


def _direct(task: Task, fences: Mapping[str, Any], prompt: str) -> str:
    return as_answer(task)


def _thinker(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """The gold plan as the reasoning."""
    return {"reasoning": "\n".join(map(_in_words, gold_in_order(task.gold))), "answer": as_answer(task)}


def _choose(task: Task, fences: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    """What the gold plan looks like."""
    effects = {tool.name: tool.effect for tool in task.tools}
    dependent = any(step.after or references(step.args) for step in task.gold)
    writes = any(effects.get(step.tool) == "write" for step in task.gold)
    return {"steps": len(task.gold), "dependent": dependent, "expandable": True, "vague": False, "writes": writes}


ROLES: Mapping[str, Say] = {
    "planner": _plan, "reasoner": _reason, "outliner": _outline, "executor": _solve, "answerer": _answer,
    "checker": _check, "reflector": _reflect, "direct": _direct, "thinker": _thinker, "chooser": _choose,
}  # fmt: skip
"""What is said in each role."""


class OracleModel(BaseChatModel):
    """Always right, by gold; it knows only the tasks that it was given."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    known: Mapping[str, Task]
    roles: Mapping[str, Say] = ROLES
    model_name: str = "oracle"

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> "OracleModel":
        """The oracle for these tasks."""
        return cls(known=by_text(tasks))

    @property
    def _llm_type(self) -> str:
        return "oracle"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Keeps the name of the reply's schema."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        value = self.reply("\n".join(str(message.text) for message in messages))
        return ChatResult(generations=[ChatGeneration(message=_message(value, kwargs.get("tools") or []))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)

    def reply(self, prompt: str) -> Any:
        """What the oracle says to a prompt: a text, or the value that the role is asked for."""
        role = prompt.split("\n", 1)[0].removeprefix("Role:").strip()
        fences = read_fences(prompt)
        asked = fences.get("task") or fences.get("data", {}).get("question")
        task = self.known.get(str(asked).strip())
        if task is None:
            raise InputError(f"the oracle has no gold for the task {shorten(asked)}")
        if role not in self.roles:
            raise InputError(f"the oracle plays no {role!r}; it plays {sorted(self.roles)}")
        told = {name: value for name, value in fences.items() if name not in ("task", "tools")}
        return self.roles[role](task.seen(told), fences, prompt)
