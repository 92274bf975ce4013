"""Settings that the pattern of a run has no use for: said in the report, and refused where they ask for a check.

A setting that is in no table here means something in every pattern (docs/settings.md).
"""

from collections.abc import Mapping

from state.context import ROLES, Context
from state.errors import InputError
from state.request import Request, pattern_of

AUTO = "auto"
REFLECTING = frozenset({"self_reflection", "plan_act_reflect", "combined"})
PLANNING = REFLECTING | {"one_shot", "plan_and_execute", "rewoo"}
"""Patterns in which a model plans calls of tools."""
USING_TOOLS = PLANNING | {"react", "workflow"}
EVERY = USING_TOOLS | {"plan_and_solve", "reflection"}
_DRAFTS, _TELLS_LESSONS = frozenset({"reflection"}), EVERY - {"workflow", "reflection"}
_TOOLING = (
    "tools", "documents", "smtp", "private_hosts", "sql", "sql_destructive", "writes", "untrusted_writes", "lease",
)  # fmt: skip
USED_BY: Mapping[str, frozenset[str]] = {
    "plan": frozenset({"workflow"}), "workflows": frozenset(),
    **dict.fromkeys(("accept", "tests", "dimensions", "self_critique"), _DRAFTS),
    "reflect": frozenset({"plan_act_reflect"}),
    "stream_plan": PLANNING,
    "check_after": EVERY - {"react", "reflection"},
    "retrieve": PLANNING | {"react"},
    "planner": EVERY - {"workflow", "reflection"},
    "executor": EVERY - {"reflection"},
    "checker": EVERY - {"react"},
    "reflector": REFLECTING,
    "lesson_scope": REFLECTING,
    **dict.fromkeys(("lessons", "lesson_days", "lesson_tags", "tenant", "embedder"), _TELLS_LESSONS),
    **dict.fromkeys(_TOOLING, USING_TOOLS),
}  # fmt: skip
"""Which of the patterns that do the work use a setting; a role stands for its prompts and its sampling as well."""
CHOOSING = frozenset({"plan", "workflows", "planner", "retrieve"})
"""What `auto` uses to choose, whatever it then chooses."""
MUST = ("plan", "accept", "tests")
"""What asks for a certain plan, or for a check: a run without it would not be what was asked for."""


def check_asked(context: Context, pattern: str) -> None:
    """Refuses what asks for a plan or a check that this pattern does not take or make."""
    for name in MUST:
        if not may_use(name, pattern) and _is_set(context, name):
            right = ", ".join(sorted([*USED_BY[name], *([AUTO] if name in CHOOSING else [])]))
            what = "plans for itself; a saved plan" if name == "plan" else "makes no such check;"
            raise InputError(f"the pattern {pattern} {what} (setting {name}) is for {right}")


def asked(context: Context) -> list[str]:
    """The settings of the tables that somebody set, a role's prompts and sampling by its name."""
    named = [name for name in USED_BY if _is_set(context, name)]
    named += [f"{role}_prompt" for role in ROLES if _is_set(context, f"{role}_prompt")]
    of_roles = [(kind, role) for kind in ("prompts", "sampling") for role in ROLES if role in getattr(context, kind)]
    return named + [f"{kind}.{role}" for kind, role in of_roles]


def unused(request: Request) -> list[str]:
    """Of what was asked for, what the pattern that did the work has no use for, each in one line."""
    pattern, own = pattern_of(request), request["pattern"]
    if pattern not in EVERY:
        return []
    by = f"{pattern}, which {AUTO} chose" if own == AUTO else pattern
    return [
        f"the setting {name} was not used: it means nothing in the pattern {by} (docs/settings.md)"
        for name in request.get("asked", [])
        if pattern not in USED_BY.get(_key(name), EVERY) and not (own == AUTO and _key(name) in CHOOSING)
    ]


def may_use(name: str, pattern: str) -> bool:
    """Whether a pattern, or one that it may choose, uses a setting; the plain ways of evals are not judged here."""
    if pattern == AUTO:
        return name in CHOOSING
    return pattern not in EVERY or pattern in USED_BY[name]


def _is_set(context: Context, name: str) -> bool:
    return bool(getattr(context, name) != Context.model_fields[name].get_default(call_default_factory=True))


def _key(name: str) -> str:
    """What the table calls it."""
    return name.rpartition(".")[2].removesuffix("_prompt")
