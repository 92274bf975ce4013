"""The parts of a request around its verb: object, target, recipient; in English and in Chinese word order."""

from collections.abc import Mapping

from nodes.offline.tokens import Token

OBJECT = "object"


def slots(tokens: list[Token], verbs: tuple[str, ...], marks: Mapping[str, str]) -> dict[str, list[Token]] | None:
    """Tokens by slot, or None if none of the verbs is there; what stands before the verb (把它) is an object too."""
    tokens = [token for token in tokens if not token.means("also")]
    at = next((n for n, token in enumerate(tokens) if token.means(*verbs)), None)
    if at is None or (tokens[at].text.isascii() and not only(tokens[:at], "obj", "the", "what")):
        return None
    found = _fill(tokens[:at], marks)
    first = marks.get("to", OBJECT) if tokens[at].text.endswith(tuple("成为到入进")) else OBJECT
    for slot, part in _fill(tokens[at + 1 :], marks, first).items():
        found[slot] = found.get(slot, []) + part
    return found


def _fill(tokens: list[Token], marks: Mapping[str, str], slot: str = OBJECT) -> dict[str, list[Token]]:
    found: dict[str, list[Token]] = {}
    for token in tokens:
        if token.kind == "word" and str(token.value) in marks:
            slot = marks[str(token.value)]
            found.setdefault(slot, [])
        elif not token.means("obj"):
            found.setdefault(slot, []).append(token)
    return found


def without(tokens: list[Token], *concepts: str) -> list[Token]:
    """Tokens less those with one of these meanings."""
    return [token for token in tokens if not token.means(*concepts)]


def only(tokens: list[Token], *concepts: str) -> bool:
    """Whether there is nothing but words with these meanings, and marks."""
    return all(token.means(*concepts) or (token.kind == "mark" and not token.text.isalnum()) for token in tokens)
