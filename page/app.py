"""The web application that `langgraph.json` names: the page at /page/, its data, and the guard of the whole server.

Everything here only reads. What acts (start, answer, stop, delete) the page asks of LangGraph's own API.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from langgraph_sdk.errors import APIStatusError

import graphs
from graphs._picture import page_of
from page.artefact import artefact_of
from page.guard import Guard
from page.live import follow
from page.looks import states_css
from page.odd import OddState, readable
from page.runs import list_runs, stamp_of
from page.seen import Seen
from page.server import api_of, read_thread
from state.errors import ForethoughtError

STATIC = Path(__file__).parent / "static"

app = FastAPI(title="forethought", docs_url=None, redoc_url=None)
app.add_middleware(Guard)


@app.exception_handler(APIStatusError)
async def _as_the_server_says(request: Request, error: APIStatusError) -> Response:
    return JSONResponse({"detail": str(error)}, error.status_code)


@app.exception_handler(OddState)
async def _as_odd(request: Request, error: OddState) -> Response:
    return JSONResponse({"detail": str(error)}, 422)


@app.exception_handler(ForethoughtError)
async def _as_one_line(request: Request, error: ForethoughtError) -> Response:
    ours = request.url.path.startswith("/page/")  # else it is the server's own API, such as an edit of a state
    return JSONResponse({"detail": str(error)}, 404 if ours else 400)


@app.get("/page", include_in_schema=False)
async def without_slash() -> Response:
    """Links in the page are relative to its folder."""
    return RedirectResponse("page/")


@app.get("/page/data/runs")
async def runs(request: Request) -> list[dict[str, Any]]:
    """The runs of this server, the newest first."""
    return await list_runs(api_of(request))


@app.get("/page/data/runs/{thread}/stamp")
async def stamp(request: Request, thread: str) -> str:
    """What changes when the thread does."""
    return await stamp_of(api_of(request), thread)


@app.get("/page/data/runs/{thread}/live")
async def live(request: Request, thread: str) -> Response:
    """A run as a stream of server-sent events: what is new of its page, until nothing goes on."""
    api = api_of(request)
    first = await read_thread(api, thread)
    with readable():
        seen = Seen(first)
        begin = seen.patch()

    async def events() -> AsyncIterator[str]:
        async for patch in follow(api, seen, begin):
            yield f"data: {json.dumps(patch)}\n\n" if patch else ": still here\n\n"

    return StreamingResponse(events(), media_type="text/event-stream", headers={"cache-control": "no-store"})


@app.get("/page/data/runs/{thread}/report.html")
async def report(request: Request, thread: str) -> Response:
    """The run as one page that needs nothing else, as the command `report` writes it."""
    values = (await read_thread(api_of(request), thread)).values
    if not values.get("report"):
        return JSONResponse({"detail": "this run has no report yet"}, 404)
    with readable():
        html = (await asyncio.to_thread(page_of, values, thread=thread)).html
    return HTMLResponse(
        html, headers={"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
    )


@app.get("/page/data/runs/{thread}/artefacts/{handle}")
async def artefact(request: Request, thread: str, handle: str) -> Response:
    """A large result of this run, whole, as a file to keep."""
    name, data = await artefact_of(await read_thread(api_of(request), thread), handle)
    headers = {"content-disposition": f'attachment; filename="{name}"', "content-security-policy": "sandbox"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@app.get("/page/data/patterns/{name}.svg")
async def pattern(name: str) -> Response:
    """How a pattern is wired."""
    svg = await asyncio.to_thread(lambda: graphs.picture(graphs.load(name)).svg)
    csp = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    return Response(svg, media_type="image/svg+xml", headers={"content-security-policy": csp})


@app.get("/page/states.css")
async def states() -> Response:
    """Colours and signs of the states, the same as in every drawing."""
    return Response(states_css(), media_type="text/css")


app.mount("/page", StaticFiles(directory=STATIC, html=True), name="page")
