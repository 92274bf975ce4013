import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from state.context import make_context
from state.errors import ToolFailed
from tools.settings import ToolSettings, tool_settings
from tools.tool import ToolEnv
from tools.weather import tools

TODAY = "2031-03-09"
DAYS = ["2031-03-08", TODAY, "2031-03-10", "2031-03-11"]
FORECAST = {
    "latitude": 48.86,
    "longitude": 2.3399963,
    "generationtime_ms": 0.1,
    "utc_offset_seconds": 3600,
    "timezone": "Europe/Paris",
    "timezone_abbreviation": "GMT+1",
    "elevation": 43.0,
    "current_units": {"time": "iso8601", "interval": "seconds", "temperature_2m": "°C", "wind_speed_10m": "km/h"},
    "current": {"time": f"{TODAY}T14:15", "interval": 900, "temperature_2m": 12.0, "weather_code": 3,
                "wind_speed_10m": 9.4},
    "daily_units": {"time": "iso8601", "weather_code": "wmo code", "temperature_2m_max": "°C"},
    "daily": {
        "time": DAYS,
        "weather_code": [0, 61, 95, 71],
        "temperature_2m_max": [9.9, 13.1, 14.5, 1.5],
        "temperature_2m_min": [1.0, 6.2, 7.0, -4.0],
        "wind_speed_10m_max": [5.0, 18.0, 30.6, 12.0],
        "precipitation_sum": [0.0, 1.2, 8.4, None],
    },
}  # fmt: skip


def place(name: str, region: str, country: str, code: str, people: int | None, **more: Any) -> dict[str, Any]:
    """A result as the list of places gives it, where empty fields are missing."""
    found = {"id": 1, "name": name, "latitude": 48.85341, "longitude": 2.3488, "elevation": 42.0,
             "feature_code": "PPL", "country_code": code, "timezone": "Europe/Paris", "country_id": 2,
             "country": country, "admin1": region, "population": people}  # fmt: skip
    return {key: value for key, value in (found | more).items() if value is not None}


PARIS = place("Paris", "Île-de-France", "France", "FR", 2138551, feature_code="PPLC")
PARIS_TEXAS = place("Paris", "Texas", "United States", "US", 24782, latitude=33.66, longitude=-95.55)
SPRINGFIELDS = [
    place("Springfield", "Missouri", "United States", "US", 170188),
    place("Springfield", "Massachusetts", "United States", "US", 155929),
    place("Springfield", "Illinois", "United States", "US", 114394, latitude=39.8),
]
BERLIN = place("Berlin", "Land Berlin", "Deutschland", "DE", 3426354, feature_code="PPLC")
PLACES = {
    ("paris", "en"): [PARIS_TEXAS, PARIS],
    ("巴黎", "zh"): [place("巴黎", "法兰西岛", "法国", "FR", 2138551)],
    ("北京", "zh"): [place("北京", "北京市", "中国", "CN", 18960744)],
    ("springfield", "en"): SPRINGFIELDS,
    ("springfield, ohio", "en"): [place("Springfield", "Ohio", "United States", "US", 59357)],
    ("münchen", "en"): [place("Munich", "Bavaria", "Germany", "DE", 1260391)],
    ("pariss", "en"): [place("Parissac", "Bretagne", "France", "FR", 310),
                       place("Parisso", "Liguria", "Italy", "IT", 40)],
    ("lon", "en"): [place("London", "England", "United Kingdom", "GB", 8961989)],
    ("new york", "en"): [place("New York", "", "United States", "US", 19274244, feature_code="ADM1"),
                         place("New York", "New York", "United States", "US", 8804190)],
    ("san jose", "en"): [place("San José", "San José", "Costa Rica", "CR", 335007),
                         place("San Jose", "California", "United States", "US", 997368)],
}  # fmt: skip


class OpenMeteo:
    """The two servers, which keep what they were asked for."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("").rstrip("/")
        self.asked: list[Request] = []
        server.expect_request("/v1/search").respond_with_handler(self.search)
        server.expect_request("/v1/forecast").respond_with_handler(self.forecast)

    def search(self, request: Request) -> Response:
        self.asked.append(request)
        found = PLACES.get((request.args["name"].lower(), request.args["language"]))
        reply = {"generationtime_ms": 0.5} | ({"results": found} if found else {})
        return Response(json.dumps(reply), content_type="application/json; charset=utf-8")

    def forecast(self, request: Request) -> Response:
        self.asked.append(request)
        reply: dict[str, Any] = FORECAST
        if day := request.args.get("start_date"):
            if not "2030-12-07" <= day <= "2031-03-25":
                reason = "Parameter 'start_date' is out of allowed range from 2030-12-07 to 2031-03-25"
                return Response(json.dumps({"error": True, "reason": reason}), 400, content_type="application/json")
            reply = FORECAST | {"daily": {key: values[2:3] for key, values in FORECAST["daily"].items()}}  # type: ignore[attr-defined]
            reply["daily"]["time"] = [day]
        return Response(json.dumps(reply), content_type="application/json; charset=utf-8")


@pytest.fixture
def server(loopback: HTTPServer) -> Iterator[HTTPServer]:
    yield loopback
    loopback.clear()


@pytest.fixture
def open_meteo(server: HTTPServer) -> OpenMeteo:
    return OpenMeteo(server)


async def weather(url: str, city: str = "Paris", **more: Any) -> Any:
    (tool,) = tools(ToolSettings(weather_url=url, geocoding_url=url))
    return await tool.run({"city": city, **more}, ToolEnv())


async def failed(url: str, city: str = "Paris", **more: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await weather(url, city, **more)
    assert "\n" not in str(caught.value)
    return caught.value


async def test_todays_weather_is_the_present_one(open_meteo: OpenMeteo) -> None:
    assert await weather(open_meteo.url) == {
        "city": "Paris", "region": "Île-de-France", "country": "France", "date": TODAY, "condition": "overcast",
        "temperature_c": 12.0, "highest_c": 13.1, "lowest_c": 6.2, "wind_kmh": 9.4, "rain_mm": 1.2,
    }  # fmt: skip
    search, forecast = open_meteo.asked
    assert search.args.to_dict() == {"name": "Paris", "count": "20", "language": "en", "format": "json"}
    assert (forecast.args["latitude"], forecast.args["timezone"]) == ("48.85341", "auto")


@pytest.mark.parametrize("word, day", [("tomorrow", 2), ("明天", 2), ("Day after  tomorrow", 3), ("yesterday", 0)])
async def test_another_day_has_its_own_highest_temperature_and_wind(open_meteo: OpenMeteo, word: str, day: int) -> None:
    found, daily = await weather(open_meteo.url, date=word), FORECAST["daily"]
    assert isinstance(daily, dict)
    assert (found["date"], found["temperature_c"]) == (DAYS[day], daily["temperature_2m_max"][day])
    assert (found["wind_kmh"], found["rain_mm"]) == (daily["wind_speed_10m_max"][day], daily["precipitation_sum"][day])


async def test_a_date_is_asked_for_as_it_is(open_meteo: OpenMeteo) -> None:
    found = await weather(open_meteo.url, date="2031-03-20")
    assert (found["date"], found["condition"]) == ("2031-03-20", "thunderstorm")
    assert open_meteo.asked[-1].args["start_date"] == open_meteo.asked[-1].args["end_date"] == "2031-03-20"


async def test_a_city_in_chinese_is_answered_in_chinese(open_meteo: OpenMeteo) -> None:
    found = await weather(open_meteo.url, "巴黎")
    assert (found["city"], found["country"], found["condition"]) == ("巴黎", "法国", "阴")


async def test_a_chinese_city_is_found_with_and_without_its_ending(open_meteo: OpenMeteo) -> None:
    assert (
        (await weather(open_meteo.url, "北京市"))["city"] == (await weather(open_meteo.url, "北京"))["city"] == "北京"
    )


async def test_of_places_with_one_name_the_clearly_largest_is_meant(open_meteo: OpenMeteo) -> None:
    assert (await weather(open_meteo.url, "paris"))["country"] == "France"
    assert (await weather(open_meteo.url, "San Jose"))["country"] == "United States"


async def test_a_city_is_preferred_to_a_state_of_that_name(open_meteo: OpenMeteo) -> None:
    assert (await weather(open_meteo.url, "New York"))["region"] == "New York"


async def test_several_large_places_with_one_name_are_named_and_not_guessed(open_meteo: OpenMeteo) -> None:
    error = await failed(open_meteo.url, "Springfield")
    assert error.failure == "not_found"
    assert "Springfield, Missouri, United States or Springfield, Massachusetts" in str(error)


@pytest.mark.parametrize("city, region", [
    ("Springfield, Illinois", "Illinois"), ("Springfield, Ohio", "Ohio"), ("Paris, Texas", "Texas"),
    ("Paris, FR", "Île-de-France"), ("Paris, USA", "Texas"), ("巴黎，法国", "法兰西岛"),
])  # fmt: skip
async def test_a_region_or_country_says_which_city_is_meant(open_meteo: OpenMeteo, city: str, region: str) -> None:
    assert (await weather(open_meteo.url, city))["region"] == region


async def test_a_large_city_is_found_by_its_name_in_another_language(open_meteo: OpenMeteo) -> None:
    assert (await weather(open_meteo.url, "München"))["city"] == "Munich"


@pytest.mark.parametrize("city, offer", [
    ("Pariss", "did you mean Parissac, Bretagne, France or Parisso, Liguria, Italy?"),
    ("Londno", "did you mean London, England, United Kingdom?"),
    ("Springfield, Bavaria", "did you mean Springfield, Missouri"),
    ("Qqqqzz", "check the spelling"),
])  # fmt: skip
async def test_an_unknown_city_is_not_found_and_near_names_are_offered(
    open_meteo: OpenMeteo, city: str, offer: str
) -> None:
    error = await failed(open_meteo.url, city)
    assert error.failure == "not_found"
    assert f"there is no city '{city}'; {offer}" in str(error)


@pytest.mark.parametrize("city", ["", " ", "X", ","])
async def test_what_is_no_name_of_a_city_is_refused_before_anything_is_asked(open_meteo: OpenMeteo, city: str) -> None:
    assert (await failed(open_meteo.url, city)).failure == "invalid_arguments"
    assert open_meteo.asked == []


@pytest.mark.parametrize("date", ["next summer", "2031-02-30", "09.03.2031", "20310309"])
async def test_a_date_that_is_none_is_refused_with_what_would_be_right(open_meteo: OpenMeteo, date: str) -> None:
    error = await failed(open_meteo.url, date=date)
    assert error.failure == "invalid_arguments"
    assert "right would be today, tomorrow, or a date as 2030-05-31" in str(error)


async def test_a_date_too_far_away_says_what_the_service_allows(open_meteo: OpenMeteo) -> None:
    error = await failed(open_meteo.url, date="2031-08-01")
    assert error.failure == "invalid_arguments"
    assert "out of allowed range from 2030-12-07 to 2031-03-25" in str(error)


def answer(server: HTTPServer, reply: Any, status: int = 200, **headers: str) -> str:
    """A service that answers everything in one way; its address."""
    data = reply if isinstance(reply, str) else json.dumps(reply)
    server.clear()
    server.expect_request("/v1/search").respond_with_data(data, status, headers, "application/json")
    return server.url_for("").rstrip("/")


@pytest.mark.parametrize("period, wait, spoken", [
    ("Minutely API request limit exceeded. Please try again in one minute.", 60, "1 min"),
    ("Hourly API request limit exceeded. Please try again in the next hour.", 3600, "1 h"),
    ("Daily API request limit exceeded. Please try again tomorrow.", 86400, "24 h"),
])  # fmt: skip
async def test_a_spent_quota_says_when_it_comes_back(server: HTTPServer, period: str, wait: int, spoken: str) -> None:
    error = await failed(answer(server, {"error": True, "reason": period}, 429))
    assert (error.failure, error.retry_after) == ("rate_limit", wait)
    assert "limit exceeded" in str(error) and f"use another tool; it may work again in {spoken}" in str(error)


async def test_an_error_with_status_200_is_an_error(server: HTTPServer) -> None:
    url = answer(server, {"error": True, "reason": "Daily API request limit exceeded. Please try again tomorrow."})
    assert (await failed(url)).failure == "rate_limit"


async def test_the_server_says_how_long_to_wait_in_seconds_or_by_a_date(server: HTTPServer) -> None:
    error = await failed(answer(server, "slow down", 429, **{"Retry-After": "7"}))
    assert (error.failure, error.retry_after) == ("rate_limit", 7)
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    waits = (await failed(answer(server, "slow down", 429, **{"Retry-After": later}))).retry_after
    assert waits is not None and 90 < waits <= 100
    assert (await failed(answer(server, "slow down", 429, **{"Retry-After": "soon"}))).retry_after is None


@pytest.mark.parametrize("status, cls, advice", [
    (400, "invalid_arguments", "change the arguments"), (401, "auth", "a proxy or firewall"), (403, "auth", "a proxy"),
    (404, "not_found", "check FORETHOUGHT_GEOCODING_URL"), (408, "timeout", "try again later"),
    (500, "transient", "try again later, or use another tool"), (502, "transient", "try again later"),
    (503, "transient", "try again later"), (302, "permanent", "check FORETHOUGHT_GEOCODING_URL"),
])  # fmt: skip
async def test_a_status_has_a_class_and_an_advice(server: HTTPServer, status: int, cls: str, advice: str) -> None:
    error = await failed(answer(server, "<html>no</html>", status))
    assert error.failure == cls
    assert f"answered {status}; {advice}" in str(error)


@pytest.mark.parametrize("reply, form", [
    ("<!DOCTYPE html><p>Please log in", "a web page"), ("{'results'", "something else"), ("[]", "something else"),
    ("", "something else"),
])  # fmt: skip
async def test_what_is_no_json_object_is_no_answer(server: HTTPServer, reply: str, form: str) -> None:
    error = await failed(answer(server, reply))
    assert error.failure == "unusable_reply"
    assert f"answered with {form} instead of JSON" in str(error) and "FORETHOUGHT_GEOCODING_URL" in str(error)


@pytest.mark.parametrize("reply", [{"results": [{"name": "Paris"}]}, {"results": "Paris"}, {"results": [3]}])
async def test_places_in_another_form_are_no_answer(server: HTTPServer, reply: Any) -> None:
    assert (await failed(answer(server, reply))).failure == "unusable_reply"


@pytest.mark.parametrize("change", [
    {"daily": None}, {"current": {}}, {"daily": {"time": []}},
    {"current": {**FORECAST["current"], "temperature_2m": None}},  # type: ignore[dict-item]
])  # fmt: skip
async def test_a_forecast_without_values_is_no_answer(server: HTTPServer, change: Any) -> None:
    url = answer(server, {"results": [PARIS]})
    server.expect_request("/v1/forecast").respond_with_json(FORECAST | change)
    error = await failed(url)
    assert error.failure == "unusable_reply"
    assert "has no weather of Paris" in str(error)


async def test_an_endless_answer_is_cut_off(server: HTTPServer) -> None:
    error = await failed(answer(server, {"results": "x" * 3_000_000}))
    assert error.failure == "permanent"
    assert "more than 2 MB" in str(error)


async def test_a_service_that_is_not_there_is_said_in_one_line() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        error = await failed(f"http://127.0.0.1:{probe.getsockname()[1]}")
    assert error.failure == "transient"
    assert "Open-Meteo's list of places can't be reached" in str(error) and "try again later" in str(error)


async def test_a_network_that_is_down_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    error = await failed("http://geocoding.test")
    assert error.failure == "transient"
    assert "the network may be down; try again later" in str(error)


async def test_a_service_that_does_not_answer_is_given_up(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.online._SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await failed(f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert error.failure == "timeout"
    assert "did not answer in time" in str(error)


@pytest.mark.parametrize("url", ["", "open-meteo", "ftp://127.0.0.1", "http://host:port"])
async def test_a_wrong_address_of_the_service_names_the_variable(url: str) -> None:
    error = await failed(url)
    assert error.failure == "permanent"
    assert "check FORETHOUGHT_GEOCODING_URL" in str(error)


async def test_the_way_goes_through_the_proxy_that_is_set(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, open_meteo: OpenMeteo
) -> None:
    monkeypatch.setenv("HTTP_PROXY", open_meteo.url)
    assert (await weather("http://open-meteo.test"))["city"] == "Paris"
    assert {urlsplit(request.url).hostname for request in open_meteo.asked} == {"open-meteo.test"}


async def test_a_proxy_that_can_not_be_used_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://user:pa55@127.0.0.1:70")
    error = await failed("http://open-meteo.test")
    assert "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY" in str(error) and "pa55" not in str(error)


def test_the_addresses_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_WEATHER_URL", "http://one.test")
    monkeypatch.setenv("FORETHOUGHT_GEOCODING_URL", "http://two.test")
    found = tool_settings(make_context())
    assert (found.weather_url, found.geocoding_url) == ("http://one.test", "http://two.test")
    assert found.search_url == "https://google.serper.dev"
