"""What a run may set. Argument beats context beats environment beats default; keys stay in the environment."""

import os
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from state.errors import InputError
from state.faulty_settings import in_one_line
from state.kinds import (
    ANSWERING,
    CHECKING,
    EXECUTING,
    PLANNING,
    REFLECTING,
    Acceptance,
    Conditions,
    Model,
    Recorded,
    SavedPlan,
    Schema,
    Tools,
    at,
    prompt_at,
)
from state.limits import Limits
from state.plain import Count
from state.price import Price
from state.roles import PromptChange, Role, Sampling
from state.value import Weights
from state.verdict import DIMENSIONS

ROLES = ("planner", "executor", "checker", "reflector", "answerer")


class Context(BaseModel):
    """Settings of one run of a pattern."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    model: Model = None
    """Model for every role that has none of its own: a name at the endpoint, "provider:name" (needs the package
    langchain), "offline", or "replay:FILE". Several, as a list or with commas: the first that answers.

    None: LLM_MODEL_ID or OPENAI_MODEL, else the offline planner."""
    planner: Model = at(PLANNING)
    """Model that plans and replans."""
    executor: Model = at(EXECUTING)
    """Model that carries out steps in words, such as translate and summarise."""
    checker: Model = at(CHECKING)
    """Model that judges what code can't."""
    reflector: Model = at(REFLECTING)
    """Model that diagnoses failed attempts."""
    answerer: Model = at(ANSWERING)
    """Model that writes the answer."""
    base_url: str | None = None
    """Address of an OpenAI-compatible endpoint. None: LLM_BASE_URL or OPENAI_BASE_URL, else OpenAI's own."""
    limits: Limits = Limits()
    """Limits that end the run in a report."""
    stop_when: Conditions = None
    """Conditions of your own that end the run in a report, such as "tokens > 20000 and iterations >= 3", or with the
    kind of the end, "pause: failures >= 2"; in Python also functions. Several, as a list: the first that holds."""
    plan: SavedPlan = None
    """Saved plan for the patterns workflow and auto: a YAML or JSON file, or its content (docs/workflows.md)."""
    workflows: str | None = None
    """Folder of saved plans from which the pattern auto takes the one that does the task, if there is one."""
    check_after: Literal["plan", "step", "critical"] = "plan"
    """How far the executor runs before the checker looks: the whole plan, each step, or to the next critical step."""
    stream_plan: bool = False
    """Begin with look-ups while the planner still writes the plan; what changes something waits (docs/speed.md)."""
    reflect: Literal["step", "batch", "critical"] | None = None
    """How often plan_act_reflect looks back: after each step, after the whole round, or at critical steps only. It
    says how far the executor runs, in place of check_after. None: as check_after says."""
    writes: Literal["ask", "allow", "deny"] = "ask"
    """Whether a step that changes something asks a person first, just runs, or is refused."""
    approve_plan: Literal["never", "writes", "always"] = "never"
    """Whether a person agrees to a plan before anything of it runs: never, to one that changes something, or always."""
    untrusted_writes: Literal["say", "forbid"] = "say"
    """Whether data from the web, documents or mail that flows into a write is only said, or forbidden."""
    allow: list[str] | None = None
    """Only these tools may run. None: every tool in use."""
    deny: list[str] = Field(default_factory=list)
    """These tools may not run."""
    shadow: bool = False
    """Decide and log, act on nothing: look-ups run, no write does."""
    volatile_writes: bool = False
    """Allow writes without a durable journal; then nothing guards them against running twice after a crash."""
    tools: Tools = None
    """Tools in use: names of built-in tools, functions, LangChain tools. None: all built-in tools."""
    retrieve: Count | None = Field(default=None, ge=0)
    """How many tools a planner or a turn is told of, those that fit best. 0: all. None: all up to 40, else 20."""
    root: str = "."
    """The one folder that file tools may touch."""
    documents: str | None = None
    """The folder that the search tool reads. None: the root folder."""
    smtp: str | None = None
    """Mail server as smtp://user:password@host:port. None: SMTP_URL."""
    private_hosts: list[str] = Field(default_factory=list)
    """Hosts in private networks that fetch_page may read, as in its address: name or name:port. Others are refused."""
    sql: str | None = None
    """Database of the sql tools: a SQLite file in the root folder, or postgresql://... None: FORETHOUGHT_SQL."""
    sql_destructive: bool = False
    """Let sql_execute also drop, truncate and alter tables, and delete or update all rows at once."""
    home: str | None = None
    """Folder for the journal, artefacts and saved runs. None: FORETHOUGHT_HOME, else .forethought."""
    database: str | None = None
    """PostgreSQL as postgresql://user:password@host:port/name for the journal and the kept runs, so that several
    machines share them. None: FORETHOUGHT_DATABASE, else SQLite files in `home`."""
    language: Literal["auto", "en", "zh"] = "auto"
    """Language of the prompts; auto follows the task."""
    concurrency: Count = Field(default=8, ge=1)
    """How many steps may run at the same time."""
    output_cap: Count = Field(default=4000, ge=200)
    """Characters of a result that stay in state; the rest is kept as an artefact."""
    slow_step: float = Field(default=2.0, gt=0)
    """Seconds after which a step is flagged as slow in the report."""
    model_timeout: float = Field(default=120.0, gt=0)
    """Seconds that one call of a model may take."""
    lease: float | None = Field(default=900.0, ge=0)
    """Seconds after which a result that a write refers to is read again before the write; None: never by age."""
    review_below: float | None = None
    """Value below which a plan is reviewed: the planner is told and plans anew, or the report names it. None: never."""
    evidence_age: float | None = Field(default=None, ge=0)
    """Seconds after which a result that steps still to run build on calls for a review. None: never."""
    value: Weights = Weights()
    """How the value of a plan is counted."""
    breaker: Count = Field(default=5, ge=0)
    """Failures in a row after which a tool is taken out of the catalogue for a while; 0: never."""
    breaker_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a tool that was taken out is tried again."""
    telemetry: bool | None = None
    """Traces and metrics by OpenTelemetry (the extra otel). None: if a variable OTEL_* names where they go."""
    telemetry_content: bool = False
    """Whether traces also hold tasks, prompts, arguments, results and messages, not only counts and names."""
    answer_schema: Schema = None
    """JSON Schema that the answer must fit. None: the answer is text."""
    accept: Acceptance = Field(default_factory=list)
    """Conditions that code holds against a draft of the answer, such as len(answer) < 500 (reflection)."""
    tests: list[str] = Field(default_factory=list)
    """Python tests that an answer in Python must pass, such as assert f(2) == 4; run in the sandbox (reflection)."""
    dimensions: list[Annotated[str, Field(pattern=r"^[A-Za-z]\w*$")]] = Field(
        default_factory=lambda: list(DIMENSIONS), min_length=1
    )
    """What a draft is criticised on, each scored 0 to 10 (reflection)."""
    self_critique: bool = False
    """Let the model that wrote a draft be the only one to judge it, with no check by code (reflection)."""
    dry_run: bool = False
    """Stop after the plan has been checked, and report what running it would cost and write."""
    sampling: dict[Role | Literal["all"], Sampling] = Field(default_factory=dict)
    """Temperature, seed and max_tokens by role, or for all: {"all": {"seed": 1}, "checker": {"temperature": 0}}."""
    prompts: dict[Role, PromptChange] = Field(default_factory=dict)
    """Other instructions for a role: {"planner": {"add": text}} or {"planner": {"replace": text}}."""
    planner_prompt: str = prompt_at(PLANNING)
    """Added to the instructions of the planner, as "add" in prompts."""
    executor_prompt: str = prompt_at(EXECUTING)
    """Added to the instructions of the executor."""
    checker_prompt: str = prompt_at(CHECKING)
    """Added to the instructions of the checker."""
    reflector_prompt: str = prompt_at(REFLECTING)
    """Added to the instructions of the reflector."""
    answerer_prompt: str = prompt_at(ANSWERING)
    """Added to the instructions of the answerer."""
    lessons: Literal["off", "read", "learn"] = "read"
    """Lessons of earlier runs (docs/lessons.md): off; read uses those that are approved; learn also stores what a
    reflection found, where the attempt after it passed. There are none without a store."""
    lesson_days: float | None = Field(default=90.0, gt=0)
    """Days that a lesson lasts from when it was learned or last helped. None: for ever."""
    lesson_scope: list[Literal["pattern", "thread"]] = Field(default_factory=list)
    """What a lesson that is learned is kept to, besides its tenant and tags: its pattern, its thread."""
    tenant: str = ""
    """Whose lessons are used and learned; no other tenant ever sees them. Empty: that of the constraint tenant."""
    lesson_tags: list[str] = Field(default_factory=list)
    """Words for the kind of this run: it gets the lessons without tags, and those that share one of these."""
    embedder: str | None = None
    """Model that says how much texts are alike, at the endpoint (/embeddings). None: by their words."""
    record: str | None = None
    """File to which every exchange with models, tools and people is added, without keys (docs/runs.md).

    The command records every kept run in `home`; an empty text turns that off."""
    debug: bool = False
    """Send every exchange with a model or a tool to the stream (mode custom) as {"exchange": ...} while it runs."""
    replay: Recorded = None
    """A recorded run that is served instead of models, tools and people; graphs.replay sets it."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model name; the cost of a model that is not listed is unknown, not zero."""

    def prompt_of(self, role: str) -> PromptChange | None:
        """What is set for the instructions of a role; None where they stay as they are."""
        own = self.prompts.get(role)  # type: ignore[call-overload]
        added = [own.add if own else None, getattr(self, f"{role}_prompt")]
        more, other = "\n".join(filter(None, added)) or None, own.replace if own else None
        return PromptChange(replace=other, add=more) if more or other else None

    @property
    def reach(self) -> str:
        """How far the executor runs before anybody looks: plan, step, or critical."""
        return {"step": "step", "batch": "plan", "critical": "critical", None: self.check_after}[self.reflect]

    def models_of(self, role: str) -> list[Any]:
        """The names or objects of the models that play a role, in the order in which they are asked."""
        chosen = getattr(self, role) or self.model or env("LLM_MODEL_ID", "OPENAI_MODEL") or "offline"
        if isinstance(chosen, str) and not chosen.startswith("replay:"):
            chosen = [name.strip() for name in chosen.split(",") if name.strip()] or ["offline"]
        return list(chosen) if isinstance(chosen, list | tuple) else [chosen]

    def model_of(self, role: str) -> Any:
        """The name or object of the model that is asked first."""
        return self.models_of(role)[0]

    def sampling_of(self, role: str) -> dict[str, Any]:
        """What is set for the sampling of a role; what is set for it goes before what is set for all."""
        return {
            name: value
            for key in ("all", role)
            for name, value in dict(self.sampling.get(key) or {}).items()  # type: ignore[call-overload]
            if value is not None
        }

    def home_folder(self) -> str:
        """Where journal, artefacts and saved runs are kept."""
        return self.home or env("FORETHOUGHT_HOME") or ".forethought"

    def database_url(self) -> str | None:
        """The PostgreSQL database that keeps journal and runs; None: files in the home folder."""
        return None if self.replay else self.database or env("FORETHOUGHT_DATABASE")


def env(*names: str) -> str | None:
    """The first of these environment variables that is set and not empty."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def make_context(**settings: Any) -> Context:
    """Builds a `Context`; a wrong key or value is one line that says what would be right."""
    try:
        return Context(**settings)
    except ValueError as error:
        raise InputError(in_one_line(error, Context.model_fields)) from error
