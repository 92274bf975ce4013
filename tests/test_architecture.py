"""The shape of the project, held by reading its source: directions, names, sizes, one way to a model and to a tool."""

import ast
import json
import re
import statistics
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("state", "tools", "nodes", "graphs", "page", "evals")
COMMAND = "graphs.cli"
LEVELS = {**{name: level for level, name in enumerate(PACKAGES)}, COMMAND: len(PACKAGES)}
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "managers", "misc"}
MODEL_CLIENTS = ("langchain_openai", "openai", "langchain.", "nodes.wire.endpoint")
MODEL_CLIENTS_IN = {"nodes/ask.py", "nodes/models.py"}  # models.py makes the client that ask.py alone talks to
RUN_OF_OTHERS = {"asyncio", "subprocess", "anyio"}  # whose .run( is not a tool's

MODULE_LINES, PATTERN_LINES, STATEMENTS, MEDIAN_LINES = 250, 120, 40, 12


def modules(*packages: str) -> list[Path]:
    return sorted(path for name in packages for path in (ROOT / name).rglob("*.py"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def patterns() -> set[str]:
    """A public module of graphs is a pattern, unless it belongs to the command."""
    return {path.stem for path in (ROOT / "graphs").glob("*.py") if not path.stem.startswith("_")} - {"cli"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), shown(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def statements(node: ast.AST) -> int:
    return sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that a module imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, str(name.value)) for name in node.args[:1] if isinstance(name, ast.Constant))


def level_of(path: Path) -> int:
    command = path.parent.name == "graphs" and path.stem.lstrip("_").startswith(("cli", "main"))
    return LEVELS[COMMAND if command else path.relative_to(ROOT).parts[0]]


def level_of_import(name: str) -> int | None:
    return LEVELS[COMMAND] if name.startswith(COMMAND) else LEVELS.get(name.split(".")[0])


def all_lines(problems: list[str]) -> str:
    return "\n".join(["", *problems])


def test_there_is_something_to_look_at() -> None:
    assert [name for name in PACKAGES if not (ROOT / name / "__init__.py").exists()] == []
    assert len(modules(*PACKAGES)) > len(PACKAGES)


def test_imports_point_one_way() -> None:
    problems = []
    for path in modules(*PACKAGES):
        for line, name in imported(path):
            level = level_of_import(name)
            if level is not None and level > level_of(path):
                problems.append(
                    f"{shown(path)}:{line} imports {name}; imports point evals, graphs.cli -> page -> graphs -> "
                    "nodes -> tools -> state: move what both need to the lower of the two"
                )
    assert not problems, all_lines(problems)


def test_imports_are_absolute_and_not_of_tests() -> None:
    problems = []
    for path in modules(*PACKAGES):
        for line, name in imported(path):
            where = f"{shown(path)}:{line} imports {name}"
            if name.startswith("."):
                problems.append(f"{where}; write the whole name: a graph loaded by path has no parent")
            if name.split(".")[0] == "tests":
                problems.append(f"{where}; what is installed must not need the tests")
    assert not problems, all_lines(problems)


def test_modules_are_named_by_what_they_hold() -> None:
    paths = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_dir() or path.suffix == ".py"]
    problems = [f"{shown(path)}: name it by what it holds" for path in paths if path.stem.lstrip("_") in VAGUE]
    assert not problems, all_lines(problems)


def test_each_folder_is_a_package() -> None:
    folders = {path.parent for path in modules(*PACKAGES)}
    bare = [folder for folder in folders if not (folder / "__init__.py").exists()]
    assert not bare, all_lines([f"{shown(folder)} has no __init__.py: add one" for folder in bare])


def test_every_package_goes_into_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == set(PACKAGES)


def test_what_is_imported_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines]
    declared = {plain(re.split(r"[<>=\[;~! ]", line)[0]) for line in [*project["dependencies"], *extras]}
    declared.add("pydantic-core")  # each pydantic pins the one it goes with
    known = packages_distributions()
    problems = []
    for path in modules(*PACKAGES):
        for line, name in imported(path):
            owners = {plain(owner) for owner in known.get(name.split(".")[0], [])} - {plain(project["name"])}
            if owners and not owners & declared:
                problems.append(
                    f"{shown(path)}:{line} imports {name} of {sorted(owners)}: add it to dependencies in "
                    "pyproject.toml and its version to constraints.txt, or do without"
                )
    assert not problems, all_lines(problems)


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_python_is_parsed_in_one_place() -> None:
    """Two threads that parse at once may both fail (Python 3.11, 3.12)."""
    found = [shown(path) for path in modules(*PACKAGES) if "ast.parse(" in path.read_text(encoding="utf-8")]
    assert found == ["state/syntax.py"], "use `parsed` of state/syntax.py"


def test_json_is_read_in_one_place_and_replies_in_another() -> None:
    """`json.loads` raises a RecursionError at brackets in brackets, which is no ValueError: a run was lost to it."""
    found = [shown(path) for path in modules(*PACKAGES) if re.search(r"json\.loads?\(", path.read_text("utf-8"))]
    allowed = {
        "state/json_text.py": "this is the place",
        "tools/sandbox_inside.py": "runs by itself, with the standard library alone",
    }
    assert sorted(found) == sorted(allowed), "use `from_json` of state/json_text.py"


def test_modules_are_short() -> None:
    problems = []
    for path in modules(*PACKAGES):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        limit = PATTERN_LINES if path.parent.name == "graphs" and path.stem in patterns() else MODULE_LINES
        if lines >= limit:
            problems.append(
                f"{shown(path)} has {lines} lines: bring it under {limit}, by a second module of its own name"
            )
    assert not problems, all_lines(problems)


def test_functions_are_short() -> None:
    problems = []
    for path in modules(*PACKAGES, "benchmarks"):
        for function in functions(path):
            if (count := statements(function)) >= STATEMENTS:
                where = f"{shown(path)}:{function.lineno} {function.name}"
                problems.append(f"{where} has {count} statements: split it, it must stay under {STATEMENTS}")
    assert not problems, all_lines(problems)


def test_the_usual_function_is_about_ten_lines() -> None:
    lengths = [(f.end_lineno or f.lineno) - f.lineno + 1 for path in modules(*PACKAGES) for f in functions(path)]
    median = statistics.median(lengths)
    assert median <= MEDIAN_LINES, (
        f"the median function has {median} lines, {MEDIAN_LINES} are allowed: split the longest"
    )


def test_patterns_are_the_same_everywhere() -> None:
    served = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert patterns() == set(served), (
        f"public modules of graphs/ are {sorted(patterns())}, langgraph.json serves {sorted(served)}: add what is "
        "missing, or begin the module's name with an underscore if it is no pattern"
    )
    for name, entry in served.items():
        right = f"./graphs/{name}.py:graph"  # the one form that every server reads (docs/decisions/0013)
        assert entry["path"] == right, f"langgraph.json: write {right} as path of {name}"
        assert entry["description"].strip(), f"langgraph.json: give {name} a description, people read it in Studio"


def test_the_readme_lists_every_pattern() -> None:
    readme = ROOT / "README.md"
    assert readme.exists(), "README.md is missing: write it, with a table whose header begins | pattern |"
    listed = table_rows(readme.read_text(encoding="utf-8"), "pattern")
    assert listed, "README.md has no table whose header begins | pattern |: add one, with one row for each pattern"
    assert set(listed) == patterns(), (
        f"README.md lists {sorted(listed)}, graphs/ holds {sorted(patterns())}: give each pattern one row in the table "
        "whose header begins | pattern |"
    )
    assert len(listed) == len(set(listed)), f"README.md lists a pattern twice: {listed}"


def table_rows(text: str, header: str) -> list[str]:
    """First cells of the Markdown table with that first header, without code marks and links."""
    rows, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
        if not cells:
            inside = False
        elif cells[0].lower() == header:
            inside = True
        elif inside and not re.fullmatch(r":?-+:?", cells[0]):
            rows.append(re.sub(r"^\[?`?([^`\]]+).*$", r"\1", cells[0]))
    return rows


@pytest.mark.parametrize("cell", ["rewoo", "`rewoo`", "[rewoo](graphs/rewoo.py)", "[`rewoo`](graphs/rewoo.py)"])
def test_table_rows_are_read_however_they_are_marked(cell: str) -> None:
    text = f"| a |\n|---|\n| x |\n\n| pattern | what |\n| :-- | --- |\n| {cell} | y |\n\n| z |\n"
    assert table_rows(text, "pattern") == ["rewoo"]


def test_only_ask_talks_to_a_model() -> None:
    problems = [
        f"{shown(path)}:{line} imports {name}: only nodes/ask.py talks to a model, call it instead"
        for path in modules(*PACKAGES)
        if shown(path) not in MODEL_CLIENTS_IN
        for line, name in imported(path)
        if f"{name}.".startswith(MODEL_CLIENTS)
    ]
    assert not problems, all_lines(problems)


def test_only_call_runs_a_tool() -> None:
    problems = [
        f"{shown(path)}:{line} calls {name}(): only nodes/call.py runs a tool, so that policy and journal hold"
        for path in modules("nodes", "graphs", "evals")
        if shown(path) != "nodes/call.py"
        for line, name in runs(tree(path))
        if path.is_relative_to(ROOT / "nodes") or "tool" in name.lower()
    ]
    assert not problems, all_lines(problems)


def runs(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Calls of something's `.run(...)`, awaited or handed on, that may be a tool's."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            name = ast.unparse(node.func)
            if name.removesuffix(".run") not in RUN_OF_OTHERS:
                yield node.lineno, name


def test_a_run_is_seen_however_it_is_awaited() -> None:
    text = "async def f(): await wait_for(tool.run(a), 3); await x.tool.run(b); asyncio.run(c); tool.name"
    assert {name for _, name in runs(ast.parse(text))} == {"tool.run", "x.tool.run"}
