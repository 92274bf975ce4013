"""Text in words and passages, where Chinese, Japanese and Korean have no spaces between words."""

import re
from collections.abc import Iterator

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_SENTENCE_END = re.compile(r"(?<=[.!?]\s)|(?<=[。！？；])")


def words(text: str) -> int:
    """How many words a text has: between spaces, and each character of Chinese, Japanese or Korean for itself."""
    count = 0
    for word in text.split():
        single = len(CJK.findall(word))
        rest = [part for part in CJK.split(word) if any(map(str.isalnum, part))]
        count += single + len(rest) if single else 1
    return count


def spaced(text: str) -> str:
    """The text with every such character standing alone, so that an index by words finds it."""
    return CJK.sub(lambda match: f" {match[0]} ", text)


def passages(text: str, size: int = 800) -> Iterator[str]:
    """Paragraphs joined up to `size` characters; a longer paragraph is cut between sentences, at worst anywhere."""
    return filter(None, _joined(text, size))


def _joined(text: str, size: int) -> Iterator[str]:
    passage = ""
    for piece in _pieces(text, size):
        if len(passage) + len(piece) > size:
            yield passage.strip()
            passage = ""
        passage += piece
    yield passage.strip()


def _pieces(text: str, size: int) -> Iterator[str]:
    for paragraph in filter(str.strip, re.split(r"\n\s*\n", text)):
        for sentence in _SENTENCE_END.split(paragraph.strip() + "\n\n"):
            yield from (sentence[start : start + size] for start in range(0, len(sentence), size))
