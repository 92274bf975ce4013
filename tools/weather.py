"""The weather of a city today or on a day near to it, by Open-Meteo (open-meteo.com; no key, free of charge for
non-commercial use, data under CC BY 4.0).

FORETHOUGHT_WEATHER_URL and FORETHOUGHT_GEOCODING_URL are other addresses of the service, such as one's own server.
Leaves out: hours, history, and the key of paying customers.
"""

import re
from datetime import date as Date
from functools import partial
from typing import Any

from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.online import Service, ask, reachable
from tools.places import Place, found
from tools.settings import ToolSettings
from tools.text import CJK
from tools.tool import Tool, read
from tools.weather_codes import in_words

_DAYS = {
    -1: ("yesterday", "昨天", "昨日"), 0: ("today", "now", "tonight", "今天", "今日", "现在", "当前", ""),
    1: ("tomorrow", "明天", "明日"), 2: ("the day after tomorrow", "day after tomorrow", "后天"),
}  # fmt: skip
_OFFSETS = {word: offset for offset, words in _DAYS.items() for word in words}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_NOW = "temperature_2m,weather_code,wind_speed_10m"
_DAILY = "weather_code,temperature_2m_max,temperature_2m_min,wind_speed_10m_max,precipitation_sum"


class Weather(TypedDict):
    """temperature_c and wind_kmh are the present ones today, the day's highest on other days."""

    city: str
    region: str
    country: str
    date: str
    condition: str
    temperature_c: float
    highest_c: float
    lowest_c: float
    wind_kmh: float | None
    rain_mm: float | None


def tools(settings: ToolSettings) -> list[Tool]:
    """The weather tool."""
    places = Service("Open-Meteo's list of places", settings.geocoding_url, "FORETHOUGHT_GEOCODING_URL")
    forecast = Service("Open-Meteo", settings.weather_url, "FORETHOUGHT_WEATHER_URL")

    async def weather(city: str, date: str = "today") -> Weather:
        """Gives a city's weather today, tomorrow or on a date such as 2030-05-31, at most 16 days ahead."""
        day = _day(date)
        language = "zh" if CJK.search(city) else "en"
        place = await found(places, city, language)
        where = {"latitude": place["latitude"], "longitude": place["longitude"]}
        span = {"past_days": 1, "forecast_days": 3} if isinstance(day, int) else {"start_date": day, "end_date": day}
        params = {**where, **span, "current": _NOW, "daily": _DAILY, "timezone": "auto"}
        return _weather(await ask(forecast, "/v1/forecast", params=params), place, day, language)

    return [read(weather, timeout=50.0, probe=partial(reachable, places, forecast))]


def _day(date: str) -> int | str:
    """A distance in days from the city's today, or a date."""
    text = " ".join(date.lower().split())
    if text in _OFFSETS:
        return _OFFSETS[text]
    try:
        if _ISO.fullmatch(text):
            return Date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    right = "today, tomorrow, or a date as 2030-05-31"
    raise ToolFailed(f"date {shorten(date)!r} is none that the weather is known for; right would be {right}",
                     "invalid_arguments")  # fmt: skip


def _weather(reply: dict[str, Any], place: Place, day: int | str, language: str) -> Weather:
    """Reads the reply; `day` 0 is the second day in it, since one day past was asked for."""
    try:
        daily, now = reply["daily"], reply.get("current") or {}
        at = day + 1 if isinstance(day, int) else daily["time"].index(day)
        row = {name: daily[name][at] for name in ("time", *_DAILY.split(","))}
        present = day == 0 or row["time"] == str(now.get("time"))[:10]
        temperature = now["temperature_2m"] if present else row["temperature_2m_max"]
        code = int(now["weather_code"] if present else row["weather_code"])
        values = [float(value) for value in (temperature, row["temperature_2m_max"], row["temperature_2m_min"])]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        message = f"Open-Meteo has no weather of {place['name']} for {shorten(day)}; ask for another day"
        raise ToolFailed(message, "unusable_reply") from error
    return {
        "city": place["name"], "region": place["region"], "country": place["country"], "date": str(row["time"]),
        "condition": in_words(code, language), "temperature_c": values[0], "highest_c": values[1],
        "lowest_c": values[2], "wind_kmh": now.get("wind_speed_10m") if present else row["wind_speed_10m_max"],
        "rain_mm": row["precipitation_sum"],
    }  # fmt: skip
