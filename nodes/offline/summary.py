"""Summaries without a model: the sentences whose words the text uses most, in their order (after Luhn 1958).

Works for English and Chinese. Leaves out: writing anything that does not stand in the text.
"""

import re
from collections import Counter

from nodes.offline.stopwords import STOP
from tools.stems import stem

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？]+[”’」』]?|[.!?]+[\"'”’)]*(?=\s|$)|\n{1,}|$)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")


def sentences(text: str) -> list[str]:
    """The sentences of a text; headings and list items count as sentences."""
    found = (" ".join(match[0].split()) for match in _SENTENCE.finditer(text))
    return [sentence for sentence in found if re.search(r"\w", sentence)]


def terms(text: str) -> list[str]:
    """What a sentence is about: stems of its words, and pairs of Chinese characters."""
    words = [stem(word) for word in _WORD.findall(text) if word.lower() not in STOP and len(word) > 1]
    pairs = [run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)]
    return words + pairs


def summary(text: str, count: int) -> str:
    """The `count` most telling sentences in the order of the text."""
    found = sentences(text)
    if len(found) <= count:
        return _joined(found)
    said = [terms(sentence) for sentence in found]
    weight = Counter(term for sentence in said for term in set(sentence))
    scores = [_score(sentence, weight) for sentence in said]
    best = sorted(range(len(found)), key=lambda at: (-scores[at], at))[:count]
    return _joined([found[at] for at in sorted(best)])


def _score(sentence: list[str], weight: Counter[str]) -> float:
    """Mean weight of its terms; very short sentences say too little."""
    if len(sentence) < 3:
        return 0.0
    return sum(weight[term] for term in sentence) / len(sentence) * min(1.0, len(sentence) / 8)


def _joined(found: list[str]) -> str:
    text = " ".join(found)
    return re.sub(r"(?<=[。！？”」』]) (?=\S)", "", text)
