"""A page of HTML as its title and its text: blocks on lines of their own, scripts and styles left out."""

import re

from bs4 import BeautifulSoup

_BLOCKS = re.compile("^(p|div|br|li|tr|td|th|h[1-6]|section|article|blockquote|pre|table|[uod]l|d[td]|header|footer)$")
_SILENT = re.compile("^(script|style|noscript|template|svg|head)$")
_PROLOG = re.compile(r"^\s*<\?xml[^>]*>")


def title_and_text(html: str) -> tuple[str, str]:
    """Both may be empty. Raises what the parser raises: `ParserRejectedMarkup`, `RecursionError`."""
    soup = BeautifulSoup(_PROLOG.sub("", html), "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    for silent in soup(_SILENT):
        silent.decompose()
    for block in soup(_BLOCKS):
        block.insert_before("\n\n" if block.name != "br" else "\n")
        block.append("\n")
    lines = (" ".join(line.split()) for line in soup.get_text().splitlines())
    return title, "\n".join(lines)
