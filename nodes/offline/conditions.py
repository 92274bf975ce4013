"""What stands before a request: "if it is more than 100, …" guards its step, "for each file in docs, …" repeats it."""

from nodes.offline.counting import counted
from nodes.offline.draft import Draft, NotUnderstood
from nodes.offline.nouns import values
from nodes.offline.tokens import Token

_WORDS = {
    ">": "> more greater larger bigger above over exceeds 大于 超过 多于 高于",
    "<": "< less smaller fewer below under 小于 少于 低于",
    "==": "= equal equals 等于",
    ">=": ">=",
    "<=": "<=",
}
_SIGNS = {word: sign for sign, words in _WORDS.items() for word in words.split()}
_IFS = ("if", "如果", "若", "假如", "要是")
_SMALL = ("is", "than", "to", "it", "there", "are")


def for_each(clause: list[Token], draft: Draft) -> bool:
    """Takes "for each file in docs" that stands alone before a comma: the next request is about each of them."""
    if not clause or not clause[0].means("each") or clause[-1].means("each"):
        return False
    kept = draft.mark()
    try:
        found = values(clause, draft)
    except NotUnderstood:
        draft.back_to(kept)
        return False
    draft.topic = found[0] if len(found) == 1 and found[0].item else None
    if draft.topic is None:
        draft.back_to(kept)
    return draft.topic is not None


def condition(clause: list[Token], draft: Draft) -> bool:
    """Takes an "if" that stands alone before a comma; raises `NotUnderstood` for any other."""
    at = next((n for n, t in enumerate(clause) if t.means("if")), None)
    if at is None or (clause[at].text.lower() == "when" and at and clause[at - 1].means("remainder")):
        return False
    rest = counted(clause[at + 1 :], draft)
    parts = [t for t in rest if t.text in _SIGNS or not (t.kind == "value" or _is_small(t))]
    number = ""
    if not at and clause[at].text.lower() in _IFS and _compares(parts):
        value = next((token.value for token in rest if token.kind == "value"), None) or draft.last()
        number = value.argument("number") if value.step else ""
    if not number:
        said = " ".join(token.text for token in clause)
        raise NotUnderstood(f"the condition “{said}” is not understood; understood is: if it is more than 100, …")
    draft.when = f"{number.removeprefix('${').removesuffix('}')} {_SIGNS[parts[0].text.lower()]} {parts[1].value}"
    return True


def _is_small(token: Token) -> bool:
    return token.text.lower() in _SMALL or token.means("it", "the", "also", "what")


def _compares(parts: list[Token]) -> bool:
    """A comparison and a number."""
    return len(parts) == 2 and parts[0].text.lower() in _SIGNS and parts[1].kind == "number"
