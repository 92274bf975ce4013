"""What a share costs, by Alpha Vantage (alphavantage.co; a key of one's own in ALPHAVANTAGE_API_KEY).

FORETHOUGHT_FINANCE_URL is another address of the service. The price is the last one known, not of this second.
"""

from functools import partial
from typing import Any

from typing_extensions import TypedDict

from state.context import env
from state.errors import ToolFailed, shorten
from tools.online import Service, ask, reachable
from tools.settings import ToolSettings
from tools.tool import Tool, read

KEY = "ALPHAVANTAGE_API_KEY"
_KEYS_AT = "https://www.alphavantage.co/support/#api-key"


class Quote(TypedDict):
    """A price, in the currency of the exchange, on the last day of trading."""

    symbol: str
    price: float
    day: str
    previous: float
    change: float
    volume: int


def tools(settings: ToolSettings) -> list[Tool]:
    """The finance tool."""
    advice = f"check {KEY}; keys are at {_KEYS_AT}"
    service = Service("Alpha Vantage", settings.finance_url, "FORETHOUGHT_FINANCE_URL", advice)

    async def stock_quote(symbol: str) -> Quote:
        """Gives the last price of a share by its symbol, such as IBM, with the day and the change."""
        name = symbol.strip().upper()
        if not name or len(name) > 20 or any(letter.isspace() for letter in name):
            raise ToolFailed(f"{shorten(symbol)!r} is no symbol; right would be for example IBM", "invalid_arguments")
        key = (env(KEY) or "").strip()
        if not key:
            raise ToolFailed(f"stock_quote needs a key and {KEY} is not set; keys are at {_KEYS_AT}", "auth")
        params = {"function": "GLOBAL_QUOTE", "symbol": name, "apikey": key}
        return _quote(await ask(service, "/query", params=params), name, key)

    return [read(stock_quote, untrusted=True, key_variable=KEY, probe=partial(reachable, service))]


def _quote(reply: dict[str, Any], symbol: str, key: str) -> Quote:
    """The service answers 200 to everything, and says what went wrong in a field."""
    for field, cls in (("Error Message", "invalid_arguments"), ("Note", "rate_limit"), ("Information", "rate_limit")):
        if reply.get(field):
            said = shorten(str(reply[field]).replace(key, "…"), 200)
            raise ToolFailed(f"Alpha Vantage gives no quote: {said}", cls)  # type: ignore[arg-type]
    row = reply.get("Global Quote")
    if not row:
        raise ToolFailed(f"there is no share with the symbol {symbol!r}", "not_found")
    try:
        return {
            "symbol": str(row["01. symbol"]),
            "price": float(row["05. price"]),
            "day": str(row["07. latest trading day"]),
            "previous": float(row["08. previous close"]),
            "change": float(row["09. change"]),
            "volume": int(row["06. volume"]),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ToolFailed("Alpha Vantage gave a quote that can't be read", "unusable_reply") from error
