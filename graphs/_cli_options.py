"""The options of the command, each declared once."""

from typing import Annotated

import typer

debugging: list[bool] = []
"""Whether --debug was given in this call."""
Task = Annotated[
    str | None, typer.Argument(metavar="TASK", help="What to do, in words; - reads it from standard input.")
]
PatternName = Annotated[
    str | None,
    typer.Option(
        "--pattern", metavar="NAME", help="Which pattern; `patterns` lists them.", show_default="plan_and_execute"
    ),
]
NewPlan = Annotated[str, typer.Option("-o", metavar="FILE", help="A new file: .yaml or .json.")]
SavedPlan = Annotated[
    str | None, typer.Option("--plan", metavar="FILE", help="A saved plan, YAML or JSON: it runs as it stands.")
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Model for every role, or `offline`.", show_default=False)
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")]
AsJson = Annotated[bool, typer.Option("--json", help="Only the report, as JSON, on standard output.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approve plans and writes. Questions, and lost writes, stay open.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Never ask at the terminal.")]
Thread = Annotated[str | None, typer.Option("--thread", metavar="ID", help="Name of the kept run; made up without it.")]
Root = Annotated[str | None, typer.Option("--root", metavar="DIR", help="The one folder that file tools may touch.")]
Documents = Annotated[str | None, typer.Option("--documents", metavar="DIR", help="The folder that search reads.")]
Inputs = Annotated[str | None, typer.Option("--inputs", metavar="JSON|@FILE", help="Values the task uses by name.")]
Constraints = Annotated[
    list[str] | None, typer.Option("--constraints", metavar="TEXT|JSON", help="What must hold throughout; repeatable.")
]
Limit = Annotated[
    list[str] | None, typer.Option("--limit", metavar="NAME=VALUE", help="A limit, such as seconds=60; repeatable.")
]
CheckAfter = Annotated[
    str | None, typer.Option("--check-after", metavar="plan|step|critical", help="How far to run before checking.")
]
AnswerSchema = Annotated[
    str | None, typer.Option("--answer-schema", metavar="@FILE|JSON", help="JSON Schema that the answer must fit.")
]
More = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of a run, such as writes=deny; repeatable."),
]
Answer = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="ID=approve|reject|edit:JSON|respond:TEXT", help="An answer; repeatable."),
]


def _remember(value: bool) -> bool:
    debugging[:] = [value]
    return value


Debug = Annotated[
    bool,
    typer.Option(
        "--debug", help="Show every exchange with models and tools, and the traceback of an error.", callback=_remember
    ),
]
KeptRun = Annotated[str, typer.Argument(metavar="RUN", help="A kept run, as `run` printed it behind “thread”.")]
At = Annotated[
    str, typer.Option("--at", metavar="VERSION|STEP|ID", help="Where: a plan, before a step, a question, a checkpoint.")
]
