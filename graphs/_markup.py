"""SVG and HTML as trees of elements: the library writes them out, so that no text can become markup."""

from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, tostring

from graphs._words import visible

Child = Element | str | None


def el(tag: str, *children: Child | Iterable[Child], **attributes: Any) -> Element:
    """An element; `class_` is written class, `_` in other names `-`; an attribute or child that is None is left out."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    made = Element(tag, {name: _text(value) for name, value in named.items()})
    for child in children:
        for one in [child] if child is None or isinstance(child, Element | str) else child:
            _add(made, one)
    return made


def written(root: Element, *, as_html: bool = False) -> str:
    """The text of an element; in HTML empty elements are written as browsers read them."""
    return tostring(root, encoding="unicode", method="html" if as_html else "xml")


def _add(parent: Element, child: Child) -> None:
    if isinstance(child, Element):
        parent.append(child)
    elif child is not None and len(parent):
        parent[-1].tail = (parent[-1].tail or "") + _text(child)
    elif child is not None:
        parent.text = (parent.text or "") + _text(child)


def _text(value: Any) -> str:
    said = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
    return visible(said)
