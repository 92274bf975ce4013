"""The command `forethought`. Every error is one line on standard error; the exit code says why a run ended."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from graphs import _cli_delete, _cli_eval, _cli_lessons, _cli_lists, _cli_pictures, _cli_ui, _streams
from graphs._cli_options import (
    Answer,
    AnswerSchema,
    AsJson,
    At,
    BaseUrl,
    CheckAfter,
    Constraints,
    Debug,
    Documents,
    Inputs,
    KeptRun,
    Limit,
    Model,
    More,
    NewPlan,
    NoInput,
    PatternName,
    Root,
    SavedPlan,
    Task,
    Thread,
    Yes,
    debugging,
)  # fmt: skip
from graphs._words import check_text, one_line
from state.errors import ForethoughtError
from state.masking import without_keys, without_passwords
from state.paths import absolute

app = typer.Typer(
    name="forethought", help="Planning agents under control: a task becomes a checked plan, and the plan is run.",
    epilog='For example: forethought run "add 17 and 25, then multiply it by 3"',
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip


app.add_typer(_cli_lessons.app, name="lessons")


@app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    task: Task = None, pattern: PatternName = None, model: Model = None, base_url: BaseUrl = None,
    as_json: AsJson = False, yes: Yes = False, no_input: NoInput = False, thread: Thread = None, root: Root = None,
    documents: Documents = None, inputs: Inputs = None, constraints: Constraints = None, limit: Limit = None,
    check_after: CheckAfter = None, answer_schema: AnswerSchema = None, saved: SavedPlan = None, more: More = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan and check only, as `plan` does.")] = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Runs a task: plans it, runs the plan, checks it, answers; with --plan a saved plan, and no model plans."""
    from graphs import _command

    settings: dict[str, Any] = {
        "model": model, "base_url": base_url, "root": root, "documents": documents, "check_after": check_after,
        "dry_run": dry_run or None, "answer_schema": answer_schema, "limits": limit or [], "more": more or [],
        "debug": debug or None, "plan": saved,
    }  # fmt: skip
    how = _command.How(as_json=as_json, yes=yes, prompts=not no_input)
    return _command.start(task, pattern, thread, inputs, constraints or [], settings, how)


@app.command(short_help="Shows the checked plan, and runs nothing.")
def plan(
    task: Task = None, pattern: PatternName = None, model: Model = None, base_url: BaseUrl = None,
    as_json: AsJson = False, root: Root = None, documents: Documents = None, inputs: Inputs = None,
    constraints: Constraints = None, limit: Limit = None, saved: SavedPlan = None, more: More = None,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Shows the checked plan, what it would write and take, and runs nothing."""
    return run(
        task, pattern=pattern, model=model, base_url=base_url, as_json=as_json, root=root, documents=documents,
        inputs=inputs, constraints=constraints, limit=limit, saved=saved, more=more, dry_run=True, debug=debug,
    )  # fmt: skip


@app.command(short_help="Goes on with a run that paused or was cut off.")
def resume(
    thread: KeptRun, answer: Answer = None, yes: Yes = False, no_input: NoInput = False, as_json: AsJson = False,
    model: Model = None, base_url: BaseUrl = None, limit: Limit = None, more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Goes on with a run after a pause, a crash or Ctrl-C; what is finished does not run again."""
    from graphs import _command

    settings = _of_a_leg(model, base_url, limit, more, debug)
    return _command.go_on(thread, answer or [], settings, _command.How(as_json=as_json, yes=yes, prompts=not no_input))


def _of_a_leg(
    model: str | None, base_url: str | None, limit: list[str] | None, more: list[str] | None, debug: bool
) -> dict[str, Any]:
    """What may be set where a run goes on."""
    settings = {"model": model, "base_url": base_url, "debug": debug or None}
    return {**settings, "limits": limit or [], "more": more or []}


@app.command(short_help="Takes an earlier point of a run another way.")
def fork(
    thread: KeptRun, at: At, answer: Answer = None, yes: Yes = False, no_input: NoInput = False,
    as_json: AsJson = False, into: Thread = None, model: Model = None, base_url: BaseUrl = None, limit: Limit = None,
    more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Goes on from an earlier point of a run in a new thread; the old run stays, its writes are not made again."""
    from graphs import _command

    settings = _of_a_leg(model, base_url, limit, more, debug)
    how = _command.How(as_json=as_json, yes=yes, prompts=not no_input)
    return _command.fork_off(thread, at, into, answer or [], settings, how)


@app.command(short_help="Lists the kept runs.")
def runs(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many, newest first.")] = 20,
    as_json: AsJson = False, more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Lists the kept runs, newest first."""
    from graphs import _runs

    _runs.show_runs(limit, as_json, more or [])


@app.command(short_help="Shows a kept run: report, plans, steps, cost.")
def show(
    thread: KeptRun,
    plan: Annotated[int | None, typer.Option("--plan", metavar="N", help="Only this version of the plan.")] = None,
    events: Annotated[bool, typer.Option("--events", help="Only the event log; with --json as JSON lines.")] = False,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Only what models and tools were asked and gave; --json: JSON lines.")
    ] = False,
    as_json: AsJson = False, more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Shows a kept run: how it ended, the plan as it ran, every version of it, times, cost, and where to fork it."""
    from graphs import _show

    _show.show(thread, plan, events, prompts, as_json, more or [])


@app.command(short_help="Does a kept run again from its recording.")
def replay(
    thread: Annotated[str, typer.Argument(metavar="RUN|FILE", help="A kept run, or the file of a recording.")],
    as_json: AsJson = False, more: More = None, debug: Debug = False,
) -> int:  # fmt: skip
    """Does a run again from its recording, with nothing outside touched; 1 and the first difference if there is one."""
    from graphs import _cases

    return _cases.show_replay(thread, as_json, more or [])


@app.command(short_help="Writes a kept run as a regression case.")
def export(
    thread: KeptRun, folder: Annotated[str, typer.Option("-o", metavar="DIR", help="A new folder for the case.")],
    more: More = None, debug: Debug = False,
) -> None:  # fmt: skip
    """Writes a kept run as a regression case for pytest: its recording, what must come of it, and a test."""
    from graphs import _cases

    _cases.export(thread, folder, more or [])


@app.command(short_help="Saves the plan of a kept run as a workflow.")
def save(thread: KeptRun, file: NewPlan, more: More = None, debug: Debug = False) -> None:
    """Saves the plan of a run that came to its goal; `run --plan` runs it again, with other inputs."""
    from graphs import _keep_plan

    _keep_plan.save_plan(thread, file, more or [])


app.command(short_help="Deletes kept runs.")(_cli_delete.delete)


_cli_lists.add_to(app)
_cli_pictures.add_to(app)
app.command(short_help="Opens the plan page in a browser.")(_cli_ui.ui)
app.command("eval", short_help="Compares patterns on the same tasks.")(_cli_eval.compare)


def execute(arguments: Sequence[str]) -> int:
    """Runs the command and gives its exit code; whatever goes wrong is one line."""
    debugging.clear()
    try:
        absolute(".")
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
            context = getattr(error, "ctx", None)
            shown = context.command_path if context else "forethought"
            return _fail(error, f"{error.format_message().rstrip('.')} (see {shown} --help)", 2)
        return _fail(error, f"{type(error).__name__}: {error} (--debug shows where)", 1)


def _fail(error: BaseException, message: str, code: int) -> int:
    if any(debugging):
        import traceback

        traceback.print_exception(error)
    with suppress(OSError):  # such as a full disk: the exit code still says it
        print(f"error: {one_line(without_keys(without_passwords(message)), 2000)}", file=sys.stderr, flush=True)
    return code


def main() -> None:
    """The command itself."""
    _streams.prepare()
    code = execute(sys.argv[1:])
    _streams.finish()
    sys.exit(code)


if __name__ == "__main__":
    main()
