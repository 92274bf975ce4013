"""The states' colours and signs for the style sheet of the page, from those of every other drawing."""

from urllib.parse import quote

from graphs._drawing import LOOKS, Look

_LIVE = {
    "running": Look("#0b5cad", "#79c0ff", "", "M3.5 2 10 6 3.5 10Z"),
    "next": Look("#0b5cad", "#79c0ff", "1 3", "M2.5 6H9.5"),
    "waits": Look("#57606a", "#9aa4af", "1 3", "M2.5 6H9.5"),
}
"""While a run goes on."""


def states_css() -> str:
    """A class `s-STATE` for each, which sets the colour, the kind of the frame and the sign."""
    return "\n".join(_rule(state, look) for state, look in {**LOOKS, **_LIVE}.items() if state) + "\n"


def _rule(state: str, look: Look) -> str:
    sign = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 12 12' fill='none' stroke='black' stroke-width='1.8'>"
        f"<path d='{look.sign}'/></svg>"
    )
    frame = "solid" if not look.dashes else "dotted" if look.dashes[0] in "12" else "dashed"
    name = state.replace(" ", "-")
    return (
        f".s-{name}{{--state:light-dark({look.light},{look.dark});--frame:{frame};"
        f'--sign:url("data:image/svg+xml,{quote(sign)}")}}'
    )
