"""Reads Semantic Kernel's XML plans: `<function.Name arg="$VAR" setContextVariable="VAR"/>` in a row.

Conditions and loops are refused: what they would run can't be known from the text.
"""

import re
import xml.etree.ElementTree as ElementTree

from nodes.reading.text_plan import TextPlan, TextStep, checked

_PLAN = re.compile(r"<plan\b.*?</plan>|<plan\s*/>", re.DOTALL | re.IGNORECASE)
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_OUT = ("setContextVariable", "appendToResult")


def read_xml_plan(text: str) -> TextPlan:
    """The plan; raises `ValueError` where it is no well-formed row of functions."""
    found = _PLAN.search(text)
    if not found:
        raise ValueError("there is no whole <plan> element")
    if "<!" in found[0]:
        raise ValueError("a plan holds no declarations")
    try:
        root = ElementTree.fromstring(found[0])
    except ElementTree.ParseError as error:
        raise ValueError(f"the plan is no XML: {error}") from None
    made: dict[str, str] = {}
    return checked([_step(str(place), element, made) for place, element in enumerate(root, start=1)])


def _step(id: str, element: ElementTree.Element, made: dict[str, str]) -> TextStep:
    if not element.tag.startswith("function.") or len(element):
        raise ValueError(f"<{element.tag}> is no function; conditions and loops can't be taken over")
    args = {key: _canonical(value, made) for key, value in element.attrib.items() if key not in _OUT}
    deps = [made[name] for value in element.attrib.values() for name in _VARIABLE.findall(value) if name in made]
    for key in _OUT:
        if name := element.get(key):
            made[name.lstrip("$")] = id
    return TextStep(id, element.tag.removeprefix("function."), tuple(dict.fromkeys(deps)), args=args)


def _canonical(value: str, made: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda name: f"${{steps.s{made[name[1]]}}}" if name[1] in made else name[0], value)
