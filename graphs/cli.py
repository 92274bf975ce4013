"""The command `forethought`. Every error is one line on standard error; the exit code says why a run ended."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from graphs._words import check_text, one_line
from state.errors import ForethoughtError

app = typer.Typer(
    name="forethought", help="Planning agents under control: a task becomes a checked plan, and the plan is run.",
    epilog='For example: forethought run "add 17 and 25, then multiply it by 3"',
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip

_debug: list[bool] = []
Task = Annotated[str, typer.Argument(metavar="TASK", help="What to do, in words; - reads it from standard input.")]
PatternName = Annotated[str, typer.Option("--pattern", metavar="NAME", help="Which pattern; `patterns` lists them.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Model for every role, or `offline`.", show_default=False)
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", metavar="URL", help="An OpenAI-compatible endpoint.")]
AsJson = Annotated[bool, typer.Option("--json", help="Only the report, as JSON, on standard output.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approve writes. Questions about lost writes stay open.")]
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
    list[str] | None, typer.Option("--answer", metavar="ID=approve|reject|edit:JSON", help="An answer; repeatable.")
]


def _remember(value: bool) -> bool:
    _debug[:] = [value]
    return value


Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", callback=_remember)]


@app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    task: Task, pattern: PatternName = "plan_and_execute", model: Model = None, base_url: BaseUrl = None,
    as_json: AsJson = False, yes: Yes = False, no_input: NoInput = False, thread: Thread = None, root: Root = None,
    documents: Documents = None, inputs: Inputs = None, constraints: Constraints = None, limit: Limit = None,
    check_after: CheckAfter = None, answer_schema: AnswerSchema = None, more: More = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan and check only, as `plan` does.")] = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Runs a task: plans it, runs the plan, checks it, answers."""
    from graphs import _command

    settings: dict[str, Any] = {
        "model": model, "base_url": base_url, "root": root, "documents": documents, "check_after": check_after,
        "dry_run": dry_run or None, "answer_schema": answer_schema, "limits": limit or [], "more": more or [],
    }  # fmt: skip
    how = _command.How(as_json=as_json, yes=yes, prompts=not no_input)
    return _command.start(task, pattern, thread, inputs, constraints or [], settings, how)


@app.command(short_help="Shows the checked plan, and runs nothing.")
def plan(
    task: Task, pattern: PatternName = "plan_and_execute", model: Model = None, base_url: BaseUrl = None,
    as_json: AsJson = False, root: Root = None, documents: Documents = None, inputs: Inputs = None,
    constraints: Constraints = None, limit: Limit = None, more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Shows the checked plan, what it would write and take, and runs nothing."""
    return run(
        task, pattern=pattern, model=model, base_url=base_url, as_json=as_json, root=root, documents=documents,
        inputs=inputs, constraints=constraints, limit=limit, more=more, dry_run=True,
    )  # fmt: skip


@app.command(short_help="Goes on with a run that paused or was cut off.")
def resume(
    thread: Annotated[str, typer.Argument(metavar="ID", help="The kept run, as `run` printed it behind “thread”.")],
    answer: Answer = None, yes: Yes = False, no_input: NoInput = False, as_json: AsJson = False, model: Model = None,
    base_url: BaseUrl = None, more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Goes on with a run after a pause, a crash or Ctrl-C; what is finished does not run again."""
    from graphs import _command

    settings: dict[str, Any] = {"model": model, "base_url": base_url, "more": more or []}
    return _command.go_on(thread, answer or [], settings, _command.How(as_json=as_json, yes=yes, prompts=not no_input))


@app.command()
def patterns() -> None:
    """Lists the planning patterns."""
    from graphs import _listing

    _listing.show_patterns()


@app.command()
def draw(pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="Name of a pattern.")]) -> None:
    """Draws a pattern, as Mermaid text."""
    from graphs import load

    print(load(pattern).get_graph().draw_mermaid())


@app.command()
def tools() -> None:
    """Lists the built-in tools."""
    from graphs import _listing

    _listing.show_tools()


@app.command()
def doctor(
    model: Model = None, base_url: BaseUrl = None, root: Root = None, documents: Documents = None, more: More = None
) -> int:
    """Looks whether everything that a run needs is there."""
    from graphs import _listing

    given = {"model": model, "base_url": base_url, "root": root, "documents": documents, "more": more or []}
    return _listing.show_doctor(given)


def execute(arguments: Sequence[str]) -> int:
    """Runs the command and gives its exit code; whatever goes wrong is one line."""
    _debug.clear()
    try:
        check_text(arguments)
        return app(args=list(arguments), prog_name="forethought", standalone_mode=False) or 0
    except ForethoughtError as error:
        return _fail(error, str(error), error.exit_code)
    except KeyboardInterrupt as error:
        return _fail(error, "interrupted", 130)
    except typer.Abort as error:
        return _fail(error, "aborted", 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # what typer says about wrong usage
            return _fail(error, f"{error.format_message().rstrip('.')} (see forethought --help)", 2)
        return _fail(error, f"{type(error).__name__}: {error} (--debug shows where)", 1)


def _fail(error: BaseException, message: str, code: int) -> int:
    if any(_debug):
        import traceback

        traceback.print_exception(error)
    print(f"error: {one_line(message, 2000)}", file=sys.stderr)
    return code


def main() -> None:
    """The command itself."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8 still shows something
    code = execute(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on; Python would complain about it at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


if __name__ == "__main__":
    main()
