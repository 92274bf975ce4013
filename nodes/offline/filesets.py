"""Phrases that name several files ("all md files in docs", `*.txt`, docs里的所有文件) become a list_files step."""

from collections.abc import Sequence

from nodes.offline.draft import Draft, NotUnderstood, Value
from nodes.offline.tokens import Token

_KINDS = {
    "md": "*.md", "markdown": "*.md", "txt": "*.txt", "text": "*.txt", "文本": "*.txt", "html": "*.html",
    "csv": "*.csv", "json": "*.json", "pdf": "*.pdf", "py": "*.py", "python": "*.py",
    "log": "*.log", "xml": "*.xml", "yaml": "*.yaml", "yml": "*.yml", "toml": "*.toml", "zip": "*.zip",
}  # fmt: skip
_HERE = {"current", "here", "working", "root", "当前", "根"}


def file_set(tokens: Sequence[Token], at: int, draft: Draft) -> tuple[Value, int] | None:
    """The list of files that a phrase starting here names and where it ends, or None if it names no set of files."""
    phrase = Phrase(tokens, at)
    if not phrase.parse() or (phrase.bare_each and any(value.is_list for value in draft.values)):
        return None
    tool = draft.tool("list_files", "list files")
    args = {"pattern": phrase.pattern or "*", "folder": phrase.folder or "."}
    args = {name: value for name, value in args.items() if name in tool.parameters}
    if phrase.pattern and "pattern" not in args:
        raise NotUnderstood("the tool list_files takes no pattern")
    each, draft.each = draft.each, None
    value = draft.add(tool, args, noun="list")
    draft.each = each
    if phrase.each:
        draft.each = value
        value = draft.item()
    return value, phrase.at


class Phrase:
    """One pass over a phrase, in either word order."""

    def __init__(self, tokens: Sequence[Token], at: int) -> None:
        self.tokens, self.at = tokens, at
        self.pattern = self.folder = ""
        self.each = self.many = self.noun = False

    def parse(self) -> bool:
        """Whether the tokens from here name a set of files."""
        start = self.at
        self._front_folder()
        self._quantity()
        self._kind()
        self._noun()
        if not (self.noun or self.pattern) or not (self.many or self.each or self.pattern or self.folder):
            self.at = start
            return False
        if self._next_is("path", "quote") and self.noun and not self.pattern and not self.folder:
            self.at = start
            return False
        self._back_folder()
        return bool(self.pattern or self.folder or self.noun)

    @property
    def bare_each(self) -> bool:
        """ "each file" without a folder or a pattern: the list before it, if there is one."""
        return self.each and not self.pattern and not self.folder

    def _token(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _next_is(self, *kinds: str) -> bool:
        token = self._token()
        return token is not None and token.kind in kinds

    def _take(self, *concepts: str) -> bool:
        token = self._token()
        if token is not None and token.means(*concepts):
            self.at += 1
            return True
        return False

    def _front_folder(self) -> None:
        """docs/里的…, docs文件夹中的…: the folder stands in front, as in Chinese."""
        start = self.at
        self._take("in")
        token = self._token()
        if token is None or token.kind not in ("path", "word", "quote") or token.means("the", "all", "each", "file"):
            self.at = start
            return
        self.at += 1
        self._take("folder")
        inside = self._take("in") | self._take("poss")
        after = self._token()
        if inside and after is not None and _may_follow(after):
            self.folder = _folder(token)
            self._take("poss")
        else:
            self.at = start

    def _quantity(self) -> None:
        while True:
            if self._take("each"):
                self.each = True
            elif self._take("all"):
                self.many = True
            elif not self._take("the", "of", "poss"):
                return

    def _kind(self) -> None:
        token, after = self._token(), self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if token is not None and token.kind == "path" and "*" in token.value:
            self.at += 1
            folder, _, name = str(token.value).rpartition("/")
            self.pattern = token.value if "*" in folder else name
            self.folder = self.folder or ("" if "*" in folder else folder)
            return
        if token is not None and token.text == "." and after is not None and after.text.lower() in _KINDS:
            self.at += 1
            token, after = after, self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if (
            token is not None
            and token.text.lower() in _KINDS
            and after is not None
            and after.means("file", "documents")
        ):
            self.at += 1
            self.pattern = _KINDS[token.text.lower()]

    def _noun(self) -> None:
        token = self._token()
        if token is not None and token.means("file"):
            self.at += 1
            self.noun = True
            self.many = self.many or token.text.lower().endswith("files")

    def _back_folder(self) -> None:
        start = self.at
        if not self._take("in", "from"):
            return
        self._take("the")
        token = self._token()
        if token is not None and token.kind in ("path", "quote"):
            self.at += 1
            self._take("folder")
            self.folder = _folder(token)
        elif token is not None and token.kind == "word" and (named := self._named(token)):
            self.folder = named
        else:
            self.at = start

    def _named(self, token: Token) -> str:
        if token.means("it", "them", "each", "file"):
            return ""
        self.at += 1
        if token.means("folder"):
            after = self._token()
            if after is None or after.kind not in ("word", "path", "quote"):
                return "."
            token = after
            self.at += 1
        self._take("folder")
        return "." if token.text.lower() in _HERE else _folder(token)


def _may_follow(token: Token) -> bool:
    return (
        token.means("all", "each", "file")
        or token.text.lower() in _KINDS
        or (token.kind == "path" and "*" in token.value)
    )


def _folder(token: Token) -> str:
    text = token.value if token.kind == "quote" else token.text
    return str(text).rstrip("/") or "/"
