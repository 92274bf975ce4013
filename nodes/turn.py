"""One turn as a model writes it: a thought with what it rests on, and one move."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from state.blank import Reason
from state.thought import Next


class MarkDraft(BaseModel):
    """A statement that the next move rests on."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    kind: Literal["fact", "inference", "assumption"]
    """fact: a result says so; inference: it follows from facts; assumption: nothing says so yet."""
    text: str
    """The statement."""
    evidence: list[str] = Field(default_factory=list)
    """Ids of the steps whose results speak for it."""
    confirms: str = ""
    """The id of an earlier assumption that this confirms."""
    contradicts: str = ""
    """The id of an earlier assumption that this shows to be wrong."""


class TurnDraft(BaseModel):
    """One turn: a thought, and either a call of a tool or the answer."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    thought: str
    """What is known, what is missing, what comes next."""
    marks: list[MarkDraft] = Field(default_factory=list)
    """The statements that the next move rests on."""
    tool: str | None = None
    """Name of the tool to call."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Arguments for the tool."""
    each: str | None = None
    """A reference to a list: the tool is called once for every item, which "args" call ${steps.item}."""
    measures: dict[str, str] = Field(default_factory=dict)
    """Quantities that the result gives, by name, each with where it stands in the result: {"funding": "amount"}."""
    rests_on: list[str] = Field(default_factory=list)
    """For a call that changes something: ids of earlier look-ups whose results must still be the same when it runs."""
    again: str = ""
    """Only for a call that changes something and was done already, if the task wants it done once more: why."""
    answer: Any = None
    """The answer to the task, when the results hold it."""
    impossible: Reason = None
    """Only if the task can't be done with the listed tools: why."""

    @model_validator(mode="after")
    def _one_move(self) -> Self:
        moves = [name for name in ("tool", "answer", "impossible") if getattr(self, name) not in (None, "")]
        if len(moves) > 1:
            raise ValueError(f"a turn makes one move, and this one gives {' and '.join(moves)}")
        return self

    @property
    def move(self) -> Next | None:
        """What the turn asks for; None where it is a thought alone."""
        if self.tool:
            return "act"
        return "finish" if self.answer not in (None, "") else "give_up" if self.impossible else None
