"""From the name of a city to the one place that is meant, by Open-Meteo's list of places.

One of several places of that name is meant if it has more than twice the people of any other. A name that the list
knows only as another or a longer one (München, Lond) is believed for a large city. Otherwise nothing is guessed.
"""

import re
import unicodedata
from typing import Any

from typing_extensions import TypedDict

from state.errors import ToolFailed, shorten
from tools.online import Service, ask

_LARGE = 100_000
_CLEARLY = 2
_CODES = {"usa": "us", "u.s.": "us", "uk": "gb", "u.k.": "gb", "uae": "ae"}
_ENDING = re.compile(r"(?<=.{2})[市县区]$")


class Place(TypedDict):
    """A place; people is 0 where the number is not known."""

    name: str
    region: str
    country: str
    code: str
    latitude: float
    longitude: float
    people: int


async def found(service: Service, city: str, language: str) -> Place:
    """The place that is meant, also as "Springfield, Illinois"; raises `not_found` with names that are near."""
    name, *within = [part.strip() for part in re.split("[,，]", city) if part.strip()] or [""]
    if len(name) < 2:
        raise ToolFailed(f"city {shorten(city)!r} is no name of a city", "invalid_arguments")
    if places := await _search(service, ", ".join((name, *within)), language):
        return _meant(city, name, [place for place in places if _lies_in(place, within)] or places)
    shorter = _ENDING.sub("", name)
    near = await _search(service, shorter, language) if within or shorter != name else []
    if places := [place for place in near if _lies_in(place, within)]:
        return _meant(city, name, places)
    raise _unknown(city, near or await _search(service, name[: max(3, len(name) // 2)], language))


def _meant(city: str, name: str, places: list[Place]) -> Place:
    same = [place for place in places if _plain(place["name"]) == _plain(name)]
    if not same:
        if places[0]["people"] >= _LARGE:
            return places[0]
        raise _unknown(city, places)
    first, *others = sorted(same, key=lambda place: -place["people"])
    rivals = [other for other in others if _where(other) != _where(first)]
    if rivals and first["people"] <= _CLEARLY * rivals[0]["people"]:
        which = " or ".join(_label(place) for place in (first, *rivals[:3]))
        raise ToolFailed(f"there are several cities {shorten(city)!r}: {which}; say which", "not_found")
    return first


async def _search(service: Service, name: str, language: str) -> list[Place]:
    """Places that the list has for a name; towns and cities only, if there are any among them."""
    params = {"name": name, "count": 20, "language": language, "format": "json"}
    reply = await ask(service, "/v1/search", params=params)
    results = reply.get("results") or []
    try:
        populated = [item for item in results if str(item.get("feature_code", "")).startswith("PPL")]
        return [_place(item) for item in populated or results]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"{service.name} answered in another form than expected; check {service.url_variable}"
        raise ToolFailed(message, "unusable_reply") from error


def _place(item: dict[str, Any]) -> Place:
    return {
        "name": str(item["name"]), "region": str(item.get("admin1") or ""), "country": str(item.get("country") or ""),
        "code": str(item.get("country_code") or ""), "latitude": float(item["latitude"]),
        "longitude": float(item["longitude"]), "people": int(item.get("population") or 0),
    }  # fmt: skip


def _unknown(city: str, near: list[Place]) -> ToolFailed:
    names = list(dict.fromkeys(_label(place) for place in near))[:3]
    offer = f"did you mean {' or '.join(names)}?" if names else "check the spelling, or name a larger city near it"
    return ToolFailed(f"there is no city {shorten(city)!r}; {offer}", "not_found")


def _lies_in(place: Place, within: list[str]) -> bool:
    """Whether each part is the place's region, country or its code; a beginning is enough (Ill, 伊利诺伊)."""
    names = (_plain(place["country"]), _plain(place["region"]))
    parts = [_CODES.get(_plain(part), _plain(part)) for part in within]
    return all(part == place["code"].lower() or any(name.startswith(part) for name in names) for part in parts)


def _where(place: Place) -> tuple[str, str]:
    return place["country"], place["region"]


def _label(place: Place) -> str:
    return ", ".join(filter(None, (place["name"], place["region"], place["country"])))


def _plain(name: str) -> str:
    """Without case, accents and the Chinese ending for a city."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return _ENDING.sub("", "".join(letter for letter in letters if not unicodedata.combining(letter)).strip())
