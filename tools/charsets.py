"""From the bytes of a page to text: by its mark, by what the server or the page names, else by what fits."""

import codecs

from bs4.dammit import EncodingDetector

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_MEANT = {
    "ascii": "utf-8", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949",
}  # fmt: skip
"""What pages that name the one are really written in, nearly always a larger set (WHATWG's Encoding Standard)."""
_NO_PAGE = {"idna", "punycode", "unicode_escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}


def decoded(data: bytes, named: str | None = None) -> str:
    """The text. Nothing fails: where a name is wrong another is tried, at worst single characters become �."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    known = _known(named) or _known(_in_page(data))
    for encoding in (known or "utf-8", "utf-8", *([] if known else ["gb2312"])):
        try:
            return data.decode(encoding)
        except UnicodeError:
            continue
    return data.decode(known or "cp1252", "replace")


def _in_page(data: bytes) -> str | None:
    """What the page itself names; as this could be read, it is none of the encodings with two bytes a letter."""
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    return "utf-8" if declared and declared.lower().startswith(("utf-16", "utf-32")) else declared


def _known(name: str | None) -> str | None:
    """The codec of that name, if it is one for texts."""
    try:
        found = codecs.lookup(name) if name else None
    except (LookupError, ValueError):
        return None
    if found is None or found.name in _NO_PAGE or not getattr(found, "_is_text_encoding", True):
        return None
    return _MEANT.get(found.name, found.name)
