"""What a person is asked, and what was answered: mappings whose form only an edit of a state could miss."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Way = Literal["approve", "edit", "reject", "respond"]


class _Action(TypedDict):
    name: str
    args: dict[str, Any]
    description: str


class _Review(TypedDict):
    action_name: str
    allowed_decisions: Annotated[list[Way], Field(min_length=1)]
    args_schema: NotRequired[dict[str, Any]]


class _Asked(TypedDict):
    """What is read of every request to a person."""

    id: str
    kind: Literal["approval", "reconcile", "question", "undo", "plan"]
    step: str
    action_requests: Annotated[list[_Action], Field(min_length=1)]
    review_configs: Annotated[list[_Review], Field(min_length=1)]


class _Answered(TypedDict):
    """What is read of every answer that was taken."""

    type: Way
    kind: str
    step: str
    tool: str
    call: str
    args: NotRequired[dict[str, Any]]
    by: NotRequired[str | None]


class _Formed:
    """Marks a mapping as one that pydantic holds against the form of this record."""

    def __init__(self, record: Any) -> None:
        self.record = record

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler.generate_schema(self.record)


Asked = Annotated[dict[str, Any], _Formed(_Asked)]
Answered = Annotated[dict[str, Any], _Formed(_Answered)]
