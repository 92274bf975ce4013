"""`graphs.picture` and `graphs.show`: plans, runs and patterns that show themselves, drawn on this machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from graphs import load
from graphs._drawing import Drawing, drawing_of_pattern, drawing_of_plan, drawing_of_report
from graphs._drawn_text import dot, mermaid
from graphs._markup import written
from graphs._page import page
from graphs._svg import svg_of
from graphs._timeline import timeline_lines, timeline_svg
from state.errors import InputError, SetupError, shorten
from state.events import Event
from state.extras import extra
from state.report import Report
from state.result import Result

_FORMATS: dict[str, Callable[[Any], str | bytes]] = {
    "mermaid": lambda drawn: drawn.mermaid, "dot": lambda drawn: drawn.dot, "text": str,
    "svg": lambda drawn: drawn.svg, "png": lambda drawn: drawn.png,
}  # fmt: skip
ENDINGS = {".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg", ".png": "png"}


def by_ending(name: str) -> str | None:
    """The format that the name of a file says; a name without an ending says none."""
    ending = Path(name).suffix.lower()
    if ending and ending not in ENDINGS:
        raise InputError(
            f"{shorten(name)}: what {ending} holds is not drawn here; right would be: {', '.join(ENDINGS)}"
        )
    return ENDINGS.get(ending)


class Drawn:
    """What every drawing can be; as the last line of a notebook's cell it is shown."""

    formats: ClassVar[tuple[str, ...]] = ("svg", "png")
    """What it can be written as, the usual one first."""

    def as_format(self, name: str) -> str | bytes:
        """The drawing in a format; raises `InputError` for one that does not fit."""
        if name not in self.formats:
            right = ", ".join(self.formats)
            raise InputError(f"format {name} does not fit what is drawn here; right would be: {right}")
        return _FORMATS[name](self)

    def save(self, path: str | Path) -> None:
        """Writes it in the format that the ending of the file says; a file that is there is replaced."""
        drawn = self.as_format(by_ending(str(path)) or self.formats[0])
        Path(path).write_bytes(drawn if isinstance(drawn, bytes) else drawn.encode())

    def _element(self, dark: bool) -> Element:
        raise NotImplementedError

    @property
    def svg(self) -> str:
        """An image that needs nothing else."""
        return written(self._element(dark=True))

    @property
    def png(self) -> bytes:
        """The same in pixels, light; needs the extra `png`."""
        return png_of(written(self._element(dark=False)))

    @property
    def html(self) -> str:
        """The image as a part of a page."""
        return f'<div style="overflow-x:auto">{written(self._element(dark=True), as_html=True)}</div>'

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.html

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": str(self), "image/svg+xml": self.svg, "text/html": self.html}


@dataclass(frozen=True, repr=False)
class Picture(Drawn):
    """A plan or a pattern: boxes and lines."""

    drawing: Drawing
    formats = ("mermaid", "dot", "svg", "png")

    def _element(self, dark: bool) -> Element:
        return svg_of(self.drawing, dark)

    @property
    def mermaid(self) -> str:
        """As text for Mermaid."""
        return mermaid(self.drawing)

    @property
    def dot(self) -> str:
        """As text for Graphviz."""
        return dot(self.drawing)

    def __str__(self) -> str:
        return self.mermaid


@dataclass(frozen=True, repr=False)
class TimeLine(Drawn):
    """When each step ran."""

    results: Sequence[Result]
    formats = ("text", "svg", "png")

    def _element(self, dark: bool) -> Element:
        return timeline_svg(self.results, dark=dark)

    def __str__(self) -> str:
        return "\n".join(timeline_lines(self.results)) + "\n"


@dataclass(frozen=True)
class Page:
    """A run as one page of HTML."""

    html: str

    def save(self, path: str | Path) -> None:
        """Writes the page; a file that is there is replaced."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """In a frame, so that its style stays its own."""
        frame = 'sandbox="" style="width:100%;height:640px;border:1px solid #8884"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame}></iframe>'


def picture_of(shown: Any, version: int | None = None) -> Picture:
    """Of a plan, a report, what a pattern returned, a pattern or its name."""
    if isinstance(shown, str):
        shown = load(shown)
    if hasattr(shown, "get_graph"):
        return Picture(drawing_of_pattern(shown.get_name(), shown.get_graph()))
    if isinstance(shown, Mapping) and "steps" in shown and "version" in shown:
        return Picture(drawing_of_plan(shown))  # type: ignore[arg-type]
    report = report_in(shown)
    known = [plan["version"] for plan in report["plans"]]
    if version is not None and version not in known:
        said = ", ".join(map(str, known)) or "none"
        raise InputError(f"there is no plan {version} in this run; there are: {said}")
    return Picture(drawing_of_report(report, version))


def page_of(shown: Any, events: Sequence[Event] = (), thread: str = "") -> Page:
    """Of a report, or of what a pattern returned, which has the events too."""
    if not events and isinstance(shown, Mapping):
        events = shown.get("events") or ()
    return Page(page(report_in(shown), events, thread))


def report_in(shown: Any) -> Report:
    """The report itself, or that in what a pattern returned."""
    found = shown.get("report", shown) if isinstance(shown, Mapping) else None
    if not isinstance(found, Mapping) or not {"plans", "results", "stop"} <= found.keys():
        raise InputError(
            f"{shorten(shown)} can't be drawn: give a report, what invoke() returned, a plan of report['plans'], "
            "a pattern or its name"
        )
    return found  # type: ignore[return-value]


def png_of(svg: str) -> bytes:
    """Pixels, two for each of the image's own."""
    try:
        import resvg_py
    except ImportError as error:
        raise SetupError(f"PNG needs {extra('png')}; svg needs nothing") from error
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=2))


def in_a_notebook(shown: Mapping[Any, Any]) -> str | None:
    """How a notebook shows a dict: a plan and a report are drawn, any other stays as it is."""
    plan = {"steps", "version", "change", "goal"} <= shown.keys()
    report = {"plans", "results", "stop", "answer"} <= shown.keys()
    return picture_of(shown).html if plan else page_of(shown)._repr_html_() if report else None
