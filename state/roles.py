"""What may be set for a single role: sampling, and the words of its prompt."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Role = Literal["planner", "executor", "checker", "reflector", "answerer"]


class Sampling(BaseModel):
    """How a role's model samples; None leaves it to the server."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    temperature: float | None = Field(default=None, ge=0)
    """0 for the likeliest words."""
    seed: int | None = None
    """The same seed asks for the same words again."""
    max_tokens: int | None = Field(default=None, ge=1)
    """The longest reply, in tokens."""


class PromptChange(BaseModel):
    """Other words for a role's instructions, or more of them; role line, tools and data stay as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    replace: str | None = None
    """Stands in place of the instructions."""
    add: str | None = None
    """Follows the instructions."""

    @model_validator(mode="after")
    def _says_something(self) -> "PromptChange":
        if not (self.replace or self.add):
            raise ValueError('give {"replace": text} or {"add": text}')
        return self
