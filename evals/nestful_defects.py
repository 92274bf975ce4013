"""The gold plans of NESTFUL that contradict their own specification, by name, each with the codes of its findings.

They are plans to refuse, not tasks: an oracle can't be right with them. Rows count from 0 in each part.
"""

from collections.abc import Iterable

Rows = list[tuple[str, str, str]]
"""Part of the data set, codes of the findings, rows."""

DANGLING: Rows = [
    ("glaive", "unresolved_reference", "103 104"),
    ("glaive", "duplicate_id unresolved_reference", "45"),
    ("glaive", "duplicate_id self_reference unresolved_reference", "94"),
    ("sgd", "duplicate_id self_reference unresolved_reference", "18 34"),
]
"""Refer to a label that no call has; four of them because two calls have the same label."""

UNDECLARED_TOOLS: Rows = [
    ("glaive", "unknown_tool", "4 8 24 28 31 39 44 46 48 81"),
]
"""Call an API that the specification doesn't have."""

UNDECLARED_OUTPUTS: Rows = [
    ("glaive", "unresolved_reference", "26 33 42 76 84 85"),
    ("executable", "unresolved_reference", "34 44-49 52 53 60-70 81 84"),
]
"""Read a field that the specification doesn't give."""

ARGUMENTS: Rows = [
    ("executable", "bad_arguments", "4-8 20-33 40-43"),
    (
        "glaive",
        "bad_arguments",
        "0 10 12-19 23 35 38 40 43 47 60 63 65 66 68 74 97 101 109 110 118 120 122 128 131 137 139 "
        "141 142 147 148 150 151 154 155 157 160-162 164 168",
    ),
    ("sgd", "bad_arguments", "17 22 38 40"),
    ("executable", "bad_arguments missing_argument", "2"),
    ("glaive", "bad_arguments missing_argument", "56 57 69 88 91 93 96 136 156 166"),
    ("sgd", "bad_arguments missing_argument", "7"),
    ("glaive", "missing_argument", "143"),
    ("sgd", "missing_argument", "10 27 29 30 35 36 44"),
]
"""Sound references, but arguments that the specification doesn't take: unknown, missing, or of another type."""


def named(groups: Iterable[tuple[str, str, str]]) -> dict[str, set[str]]:
    """Codes of the findings by the name of the task."""
    return {f"nestful-{part}-{row}": set(codes.split()) for part, codes, rows in groups for row in numbers(rows)}


def numbers(rows: str) -> list[int]:
    """The numbers that a text such as `1 4-6` names."""
    ends = [tuple(map(int, word.split("-"))) for word in rows.split()]
    return [number for end in ends for number in range(end[0], end[-1] + 1)]


STRUCTURE = named([*DANGLING, *UNDECLARED_TOOLS, *UNDECLARED_OUTPUTS])
"""Defects that show however arguments are read."""
STRICT = named(ARGUMENTS)
"""Defects that show only where arguments must be as specified."""
