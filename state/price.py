"""What a model costs; by itself, since what a run has used is told without pydantic, which takes long to import."""

from pydantic import BaseModel, ConfigDict, Field


class Price(BaseModel):
    """Money for a million tokens of one model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens_in: float = Field(ge=0)
    tokens_out: float = Field(ge=0)
