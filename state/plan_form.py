"""The form of a plan that a planner is asked for: that of `state/plan.py`, over the tools of a run."""

from functools import lru_cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field, create_model

from state.plan import PlanDraft, StepDraft


class _Step(StepDraft):
    """Its descriptions are read already: looking for them again reads files, which stops a server."""

    model_config = ConfigDict(use_attribute_docstrings=False)


class _Plan(PlanDraft):
    """As `_Step`."""

    model_config = ConfigDict(use_attribute_docstrings=False)


@lru_cache(maxsize=64)
def plan_form(tools: tuple[str, ...]) -> type[PlanDraft]:
    """The form of a plan over these tools: a server that decodes by schema can't write another tool's name.

    A name that comes all the same is left to the check of the plan, whose finding says what there is.
    """
    told = {name: field.description for name, field in (StepDraft.model_fields | PlanDraft.model_fields).items()}
    names = Annotated[str, Field(description=told["tool"], json_schema_extra={"enum": list(tools)})]
    step = create_model("StepDraft", __base__=_Step, __doc__=StepDraft.__doc__, tool=(names, ...))
    steps: Any = Annotated[list[step], Field(description=told["steps"], default_factory=list)]
    return create_model("PlanDraft", __base__=_Plan, __doc__=PlanDraft.__doc__, steps=steps)
