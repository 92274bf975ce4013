"""Calls, plans, graphs and turns as models write them in text: every family, every notation, each with its faults."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.reading.actions import read_actions
from nodes.reading.llm_compiler import read_llm_compiler
from nodes.reading.message import read_text
from nodes.reading.rewoo import read_rewoo
from nodes.reading.task_graph import read_task_graph
from nodes.reading.text_plan import TextPlan, draft_of
from nodes.reading.turns import read_react, read_tagged
from nodes.reading.xml_plan import read_xml_plan
from state.references import references

ARGS = {
    "city": "São Paulo 日本 🎉",
    "n": 2,
    "deep": {"list": [1, None, True], "mark": "</tool_call> } ] <|call|> [TOOL_CALLS]"},
}
A = json.dumps(ARGS, ensure_ascii=False)
SEP, BEGIN, END = "<｜tool▁sep｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
JSON_FAMILIES = {
    "hermes": f'<tool_call>\n{{"name": "f", "arguments": {A}}}\n</tool_call>',
    "hermes, arguments as text": f'<tool_call>{{"name": "f", "arguments": {json.dumps(A)}}}</tool_call>',
    "hermes, no end": f'<tool_call>\n{{"name": "f", "arguments": {A}}}\n',
    "hermes, ended by its beginning": f'<tool_call>{{"name": "f", "arguments": {A}}}<tool_call>',
    "qwen, fenced": f'<tool_call>\n```json\n{{"name": "f", "arguments": {A}}}\n```\n</tool_call>',
    "llama": f'{{"name": "f", "parameters": {A}}}',
    "llama, tag": f'<|python_tag|>{{"type": "function", "name": "f", "parameters": {A}}}<|eom_id|>',
    "llama, function": f"<function=f>{A}</function>",
    "llama, prose": f'I will call it: {{"name": "f", "parameters": {A}}} as {{you}} asked.',
    "openai": json.dumps({"tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": A}}]}),
    "mistral": f'[TOOL_CALLS][{{"name": "f", "arguments": {A}}}]',
    "mistral, new": f"[TOOL_CALLS]f{A}",
    "mistral, with id": f"[TOOL_CALLS]f[CALL_ID]9aBc[ARGS]{A}</s>",
    "deepseek 3": f"<｜tool▁calls▁begin｜>{BEGIN}function{SEP}f\n```json\n{A}\n```{END}<｜tool▁calls▁end｜>",
    "deepseek 3.1": f"<｜tool▁calls▁begin｜>{BEGIN}f{SEP}{A}{END}<｜tool▁calls▁end｜>",
    "deepseek, no frame": f"{BEGIN}f{SEP}{A}{END}",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
    f"<|tool_call_argument_begin|>{A}<|tool_call_end|>"
    "<|tool_calls_section_end|>",
    "harmony": f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.f "
    f"<|constrain|>json<|message|>{A}<|call|>",
    "harmony, in the role": f"<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{A}",
    "gemma": f"<|tool_call>call:f{A}<tool_call|>",
    "nemotron": f'<TOOLCALL>[{{"name": "f", "arguments": {A}}}]</TOOLCALL>',
    "jamba": f'<tool_calls>[\n{{"name": "f", "arguments": {A}}}\n]</tool_calls>',
    "granite": f'<|tool_call|>[{{"name": "f", "arguments": {A}}}]',
    "phi": f'functools[{{"name": "f", "arguments": {A}}}]',
    "command": f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "f", "parameters": {A}}}]<|END_ACTION|>',
    "internlm": f'<|action_start|><|plugin|>{{"name": "f", "parameters": {A}}}<|action_end|>',
    "studio": f'[TOOL_REQUEST]{{"name": "f", "arguments": {A}}}[END_TOOL_REQUEST]',
    "xlam": f'[{{"name": "f", "arguments": {A}}}]',
    "fenced": f'```json\n{{"name": "f", "arguments": {A}}}\n```',
    "thinking": '<think><tool_call>{"name": "draft", "arguments": {}}</tool_call></think>'
    f'<tool_call>{{"name": "f", "arguments": {A}}}</tool_call>',
    "python": f"[f(city={ARGS['city']!r}, n=2, deep={ARGS['deep']!r})]",
    "python, tag": f"<|python_start|>[f(city={ARGS['city']!r}, n=2, deep={ARGS['deep']!r})]<|python_end|>",
    "python, fenced": f"```tool_code\nprint(default_api.f(city={ARGS['city']!r}, n=2, deep={ARGS['deep']!r}))\n```",
}
TEXT_FAMILIES = {
    "qwen coder": "<tool_call>\n<function=f>\n<parameter=city>\nOslo\nNorge\n</parameter>\n</function>\n</tool_call>",
    "qwen coder, no frame": "<function=f>\n<parameter=city>\nOslo\nNorge\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>Oslo\nNorge</arg_value>\n</tool_call>",
    "invoke": '<function_calls>\n<invoke name="f">\n'
    '<parameter name="city">Oslo\nNorge</parameter>\n</invoke>\n</function_calls>',
    "minimax": '<minimax:tool_call><invoke name="f">'
    '<parameter name="city">Oslo\nNorge</parameter></invoke></minimax:tool_call>',
    "deepseek 3.2": '<｜DSML｜function_calls><｜DSML｜invoke name="f">'
    '<｜DSML｜parameter name="city" string="true">Oslo\nNorge'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    "gemma": '<|tool_call>call:f{city:<|"|>Oslo\nNorge<|"|>}<tool_call|>',
    "function gemma": "<start_function_call>call:f{city:<escape>Oslo\nNorge<escape>}<end_function_call>",
}


def usable(text: str) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in read_text(text).calls if call.args is not None]


@pytest.mark.parametrize("text", JSON_FAMILIES.values(), ids=JSON_FAMILIES.keys())
def test_a_call_of_any_family_is_read_with_its_arguments_unchanged(text: str) -> None:
    assert usable(text) == [("f", ARGS)]
    assert read_text(text).text == ""


@pytest.mark.parametrize("text", TEXT_FAMILIES.values(), ids=TEXT_FAMILIES.keys())
def test_a_call_written_as_tags_keeps_its_values_as_text(text: str) -> None:
    assert usable(text) == [("f", {"city": "Oslo\nNorge"})]
    assert read_text(text).text == ""


@pytest.mark.parametrize(
    "text",
    [*JSON_FAMILIES.values(), *TEXT_FAMILIES.values()],
    ids=[*JSON_FAMILIES, *(f"tags: {name}" for name in TEXT_FAMILIES)],
)
def test_a_call_that_is_cut_anywhere_is_refused_or_complete(text: str) -> None:
    whole = usable(text)
    for cut in range(len(text)):
        got = usable(text[:cut])
        assert got in ([], whole), text[:cut]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1), g()]", [("f", {"a": 1}), ("g", {})]),
        ("[f(a=true, b=null, c=-1.5)]", [("f", {"a": True, "b": None, "c": -1.5})]),
        ('{"name": "f", "parameters": {}}; {"name": "g", "parameters": {"a": "; "}}', [("f", {}), ("g", {"a": "; "})]),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{}', [("f", {"a": 1}), ("g", {})]),
        (f"{BEGIN}f{SEP}{{}}{END}{BEGIN}g{SEP}{{}}{END}", [("f", {}), ("g", {})]),
        ('<tool_call>{"name": "f", "arguments": ""}</tool_call>', [("f", {})]),
        ('<tool_call>{"name": "f", "arguments": null}</tool_call>', [("f", {})]),
        ("<tool_call>{'name': 'f', 'arguments': {'a': True}}</tool_call>", [("f", {"a": True})]),
        ('Let me see.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>', [("f", {})]),
        ("[calc(x=1e999), f(a=1)]", [("f", {"a": 1})]),
    ],
)
def test_calls_are_read_one_by_one(text: str, calls: Any) -> None:
    assert usable(text) == calls


BROKEN = [
    "[turn(by=90])", "[go(to='x')]]", "[f(a=1), g(b=\"it\"s\")]", "[f(1)]", "[f(a=open('x'))]", "[f(a=1, a=2)]",
    "[f(**{})]",
    "[f(a=b)]", "[f(a=1", '{"name": "f", "arguments": {"a": 1}}}', '{"name": "f", "arguments": "no object"}',
    '<tool_call>{"name": "f", "arguments": {"a": 1}}}</tool_call>', '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "f", "arguments": [1]}</tool_call>', '<tool_call>{"name": "f"', "<tool_call></tool_call>",
    '<tool_call>{"name": "f", "arguments": "{\\"a\\": "}</tool_call>',
    '<tool_call>{"name": "", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "f", "arguments": {"a": NaN}}</tool_call>', "<tool_call>call the tool f please</tool_call>",
    "[TOOL_CALL]\n{call -> f; with -> (a: 1)}\n[/TOOL_CALL]", "<function=f><parameter=a>1</parameter>",
    "<function=f>a=1</function>", "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>",
    '<|channel|>commentary to=functions.f<|message|>{"a": 1<|call|>', "<|start|>assistant to=functions.f<|message|>",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_a_call_that_can_not_be_read_is_neither_run_nor_shown_as_the_answer(text: str) -> None:
    reading = read_text(text)
    assert usable(text) == []
    assert reading.text == ""
    assert reading.problem and "\n" not in reading.problem


@pytest.mark.parametrize(
    "text",
    [
        "See [1] and [f](http://x).",
        "f(x) = 1",
        "Use {name}.",
        "[a, b]",
        '{"answer": 42}',
        "[x(t)] is a signal",
        "tool_call",
    ],
)
def test_an_answer_is_not_taken_for_a_call(text: str) -> None:
    assert read_text(text).calls == ()
    assert read_text(text).text == text


# plans ----------------------------------------------------------------------------------------------------------------


def shape(plan: TextPlan) -> list[tuple[str, str, list[str]]]:
    return [(step.id, step.tool, list(step.deps)) for step in plan.steps]


def codes(plan: TextPlan) -> set[str]:
    return {finding.code for finding in plan.findings}


words = st.text(st.sampled_from("ab [](){}\"'\\.,:-日é🎉#$=1"), min_size=1, max_size=12).map(str.strip).filter(bool)


@given(st.lists(words, min_size=1, max_size=13), st.data())
@settings(max_examples=150, deadline=None)
def test_rewoo_inputs_of_any_text_stay_whole_and_e1_is_not_e10(inputs: list[str], data: st.DataObject) -> None:
    lines, deps = [], []
    for number, text in enumerate(inputs, start=1):
        earlier = data.draw(st.lists(st.integers(1, number - 1), max_size=3, unique=True)) if number > 1 else []
        deps.append([f"E{one}" for one in earlier])
        refs = " ".join(f"#E{one}" for one in earlier)
        lines.append(f"Plan: step {number}\n#E{number} = Tool[{text} | {refs}]")
    plan = read_rewoo("\n".join(lines))
    assert [list(step.deps) for step in plan.steps] == deps
    for step, text in zip(plan.steps, inputs, strict=True):
        assert step.inputs[0].startswith(f"{text} |")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Plan: do. #E1 = A[x] \nPlan: then. #E2 = B[#E1]", [("E1", "A", []), ("E2", "B", ["E1"])]),
        ("**Plan**: do\n**#E1** = A[x]", [("E1", "A", [])]),
        ("计划：查\n#E1＝搜索【东京】\n计划：算\n#E2：计算[#E1 的面积]", [("E1", "搜索", []), ("E2", "计算", ["E1"])]),
        ("#E1 = A[a\nb [c]\nd]\n#E2 = B[{\"k\": \"#E1\"}]", [("E1", "A", []), ("E2", "B", ["E1"])]),
        ("#E1 = A[]", [("E1", "A", [])]),
        ("#E1 = Code-Runner v2[x] (runs it)", [("E1", "Code-Runner v2", [])]),
    ],
)  # fmt: skip
def test_rewoo_plans_are_read_however_they_are_set(text: str, steps: Any) -> None:
    assert shape(read_rewoo(text)) == steps


@pytest.mark.parametrize("text", ["#E1 = A[x", "#E1 = just think", "#E1 A[x]", "#E1 =\n#E2 = B[x]"])
def test_a_rewoo_step_that_can_not_be_read_refuses_the_plan(text: str) -> None:
    with pytest.raises(ValueError, match="E1"):
        read_rewoo(text)


@pytest.mark.parametrize(
    ("reader", "text", "code"),
    [
        (read_rewoo, "#E1 = A[#E1]", "self_reference"),
        (read_rewoo, "#E1 = A[#E2]\n#E2 = B[x]", "forward_reference"),
        (read_rewoo, "#E1 = A[#E9]", "unresolved_reference"),
        (read_rewoo, "#E1 = A[x]\n#E1 = B[y]", "duplicate_id"),
        (read_rewoo, "I can answer that.", "no_steps"),
        (read_llm_compiler, "1. f($1)", "self_reference"),
        (read_llm_compiler, "1. f($2)\n2. g()", "forward_reference"),
        (read_llm_compiler, "1. f(${7})", "unresolved_reference"),
        (read_llm_compiler, "1. f()\n1. g()", "duplicate_id"),
        (read_llm_compiler, "nothing to do", "no_steps"),
    ],
)
def test_what_is_wrong_with_a_written_plan_has_a_code_and_stops_it(reader: Any, text: str, code: str) -> None:
    plan = reader(text)
    assert codes(plan) == {code}
    with pytest.raises(ValueError):
        draft_of(plan, {})


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ('1. f("a (b", x=[1])\nThought: ok\n2. g("$1 of ${1}")\n3. join()<END_OF_PLAN>\n4. never()',
         [("1", "f", []), ("2", "g", ["1"]), ("3", "join", ["1", "2"])]),
        ("1. f($5000)", []),
        ('1. f("$5 a day, $1.50 an hour")', [("1", "f", [])]),
        ("1) f(a=1)\n2) g(a=$1, b={'c': ['$1']})", [("1", "f", []), ("2", "g", ["1"])]),
        ("1. search(Austin Powers)\n2. join()", [("1", "search", []), ("2", "join", ["1"])]),
        ("\n".join(f"{n}. f()" for n in range(1, 12)) + '\n12. g("$1 $11")',
         [*((str(n), "f", []) for n in range(1, 12)), ("12", "g", ["1", "11"])]),
    ],
)  # fmt: skip
def test_llm_compiler_plans_are_read_with_their_references(text: str, steps: Any) -> None:
    plan = read_llm_compiler(text)
    assert (shape(plan) == steps) or (not steps and codes(plan) == {"unresolved_reference"})


@pytest.mark.parametrize(
    "text", ["1. f(a\n2. join()", "1. f(a=b())", "1. look it up\n2. join()", "1. f()\n2. then g", "1. f(a b=1)"]
)
def test_a_numbered_line_that_is_no_call_refuses_the_plan(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|call"):
        read_llm_compiler(text)


def test_a_written_plan_becomes_a_plan_with_canonical_references() -> None:
    draft = draft_of(
        read_llm_compiler('1. search("x")\n2. math("${1}+1", unit=$1)'), {"search": ["query"], "math": ["problem"]}
    )
    assert [(step.id, step.args) for step in draft.steps] == [
        ("s1", {"query": "x"}),
        ("s2", {"problem": "${steps.s1}+1", "unit": "${steps.s1}"}),
    ]
    assert references(draft.steps[1].args) == ["s1"]
    with pytest.raises(ValueError, match="more inputs"):
        draft_of(read_llm_compiler('1. search("x", "y")'), {"search": ["query"]})
    rewoo = draft_of(read_rewoo("Plan: why\n#E1 = A[x]\n#E2 = A[#E1]"), {"A": ["text"]})
    assert [(step.id, step.args, step.why) for step in rewoo.steps][1] == ("E2", {"text": "${steps.E1}"}, "")


def graph(tasks: list[str], links: list[tuple[str, str]], **arguments: Any) -> str:
    nodes = [{"task": task, "arguments": arguments.get(f"n{place}", [])} for place, task in enumerate(tasks)]
    return json.dumps({"task_nodes": nodes, "task_links": [{"source": a, "target": b} for a, b in links]})


@pytest.mark.parametrize(
    ("text", "defects"),
    [
        (graph(["A", "B", "C"], [("A", "B"), ("B", "C"), ("A", "C")], n1=["<node-0>"]), set()),
        (graph(["A"], []), set()),
        (graph(["A", "B"], [("A", "B"), ("B", "A")]), {"cycle"}),
        (graph(["A", "B"], [("A", "A")]), {"cycle", "self_link"}),
        (graph(["A", "A", "B"], [("A", "B")]), {"repeated_tool"}),
        (graph(["A", "B"], [("0", "B")]), {"link_unknown_source"}),
        (graph(["A", "B"], [("A", "none")]), {"link_unknown_target"}),
        (graph(["A", "X"], [("A", "X")]), {"unknown_tool"}),
        (graph(["A", "B"], [], n1=[{"name": "x", "value": "<node-1>.output"}]), {"self_ref"}),
        (graph(["A", "B"], [], n1=["<node-7>"]), {"ref_unknown_node"}),
        (graph([], []), {"no_nodes"}),
        (graph(["A", ""], []), {"node_without_tool", "unknown_tool"} - {"unknown_tool"}),
    ],
)
def test_every_defect_of_a_task_graph_is_reported_and_no_other(text: str, defects: set[str]) -> None:
    found = read_task_graph(f"Here is the graph:\n```json\n{text}\n```", tools={"A", "B", "C"})
    assert {finding.code for finding in found.findings} == defects


@pytest.mark.parametrize(
    "text", ['{"task_nodes": "A"}', '{"links": []}', "no graph", graph(["A"], [])[:-3], '{"task_nodes": ["A"]}']
)
def test_what_is_no_task_graph_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_task_graph(text)


@pytest.mark.parametrize(
    "text",
    [
        "(pick-up a)\n(stack a b)",
        "1. (pick-up a)\n2. (stack a b)",
        "```\n(pick-up a)\n(stack a b)\n```",
        "Here is the plan (I hope):\n[PLAN]\n- (pick-up a)\n- (stack a b)\n[PLAN END]\n(that is all)",
        "Step 1: `(pick-up  a)` - lift it\n**2. (stack a b)**; done",
    ],
)
def test_actions_are_read_however_the_lines_are_marked(text: str) -> None:
    assert read_actions(text) == ["(pick-up a)", "(stack a b)"]


@pytest.mark.parametrize(
    "text", ["", "I can't (sorry about that)", "1. (a b)\n2. (c d)\nOr:\n1. (c d)", "```\n(a)\n```\n```\n(b)\n```"]
)
def test_no_actions_or_two_plans_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_actions(text)


def test_an_xml_plan_is_a_row_of_functions_with_references() -> None:
    text = '<plan><function.Ask q="$input" setContextVariable="A"/><function.Mail to="$A" body="say $A"/></plan>'
    plan = read_xml_plan(f"Sure:\n```xml\n{text}\n```")
    assert shape(plan) == [("1", "Ask", []), ("2", "Mail", ["1"])]
    assert plan.steps[1].args == {"to": "${steps.s1}", "body": "say ${steps.s1}"}


@pytest.mark.parametrize(
    "text",
    [
        "<plan><else><function.A/></else></plan>",
        '<plan><if condition="x"><function.A/></if></plan>',
        "<plan><function.A></plan>",
        "<plan><function.A/>",
        '<!DOCTYPE p [<!ENTITY a "b">]><plan><!-- x --><function.A q="&a;"/></plan>',
        "<plan>\n<tool/></plan>",
    ],
)
def test_an_xml_plan_with_branches_or_faults_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_xml_plan(text)


# turns ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        ('Thought: x\nAction: f\nAction Input: {"a": 1}\nObservation: 2\nFinal Answer: 2', "f", {"a": 1}),
        ('**Action:** `f`\n**Action Input:**\n```json\n{"a": 1}\n```', "f", {"a": 1}),
        ('Action: f\nAction Input: {"a": "Final Answer: no\\nAction: g"}', "f", {"a": "Final Answer: no\nAction: g"}),
        ('Action:\n```json\n{"action": "f", "action_input": {"a": 1}}\n```', "f", {"a": 1}),
        ('Action：f\nAction Input：{"a": 1} and so on', "f", {"a": 1}),
        ("Action: f[Oslo]", "f", "Oslo"),
        ("Action: f\nAction Input: Oslo", "f", "Oslo"),
        ("Action: f Action Input: Oslo", "f", "Oslo"),
        ("Action: f\nAction Input:", "f", {}),
        ('Action: f\nAction Input: {"a": 1}\nAction: g\nAction Input: {"a": 2}', "f", {"a": 1}),
    ],
)
def test_the_first_action_of_a_turn_counts(text: str, name: str, given: Any) -> None:
    turn = read_react(text)
    assert turn.call is not None and turn.problem == "" and turn.final is None
    assert (turn.call.name, turn.call.raw if turn.call.args is None else turn.call.args) == (name, given)


@pytest.mark.parametrize(
    "text",
    [
        "Observation: 4\nFinal Answer: 4",
        "Thought: I know",
        "Action: f",
        'Action: f\nAction Input: {"a": "x',
        'Action: f\nAction Input: {"a": 1}}',
        "Action: f\nAction Input: [1]",
        "Final Answer:",
        "",
        "<think>Action: f\nAction Input: {}",
    ],
)
def test_a_turn_without_a_usable_action_says_so(text: str) -> None:
    turn = read_react(text)
    assert turn.problem and turn.final is None
    assert turn.call is None or turn.call.args is None


def test_a_final_answer_is_taken_whole() -> None:
    assert read_react("Thought: done\nFinal Answer: 4 (four)\nand more").final == "4 (four)\nand more"


@pytest.mark.parametrize(
    ("text", "kind", "body"),
    [
        ("x <execute>\nprint('</b>')\n</execute> Observation: 1 <solution>1</solution>", "execute", "print('</b>')"),
        ("<thought>hm</thought><SOLUTION> 4 </SOLUTION>", "solution", "4"),
    ],
)
def test_the_first_tag_of_a_turn_counts(text: str, kind: str, body: str) -> None:
    found = read_tagged(text)
    assert (found.kind, found.body) == (kind, body)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx\n```",
        "<execute>x",
        "<execute>x</solution>",
        "<execute><solution>1</solution></execute>",
        "</execute>",
        "",
    ],
)
def test_a_turn_without_a_whole_tag_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_tagged(text)
