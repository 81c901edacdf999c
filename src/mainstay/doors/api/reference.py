"""The reference of the HTTP API for people: every operation with an example in curl and in Python."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from mainstay.doors.api.openapi import area_of, areas_of
from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.doors.http import Request, Response, error
from mainstay.doors.packing import packed
from mainstay.doors.pages.render import render
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.catalogue import Catalogue


class Field(NamedTuple):
    """One field that an operation takes."""

    name: str
    place: str
    required: bool
    about: str


class Documented(NamedTuple):
    """One operation."""

    endpoint: Endpoint
    fields: list[Field]
    curl: str
    python: str


@dataclass(frozen=True)
class Reference:
    """The page; made when it is first asked for, and kept."""

    catalogue: Catalogue
    base_url: str

    async def __call__(self, request: Request) -> Response:
        """Answer a request for it."""
        if request.method not in {"GET", "HEAD"}:
            return error(405, "This address is not used in that way.", (("allow", "GET, HEAD"),))
        page = self._page
        return Response(200, page.body, page.headers, content_type=page.content_type, quiet=True, packed=self._packed)

    @cached_property
    def _packed(self) -> bytes | None:
        body = self._page.body
        return packed(body, once=True) if isinstance(body, bytes) else None

    @cached_property
    def _page(self) -> Response:
        endpoints = endpoints_of(self.catalogue.operations)
        address = f"{self.base_url}/api/v1"
        areas = [
            {
                "name": area,
                "about": about,
                "entries": [
                    (_anchor(endpoint, endpoints), entry(endpoint, address))
                    for endpoint in endpoints
                    if area_of(endpoint.operation) == area
                ],
            }
            for area, about in areas_of(endpoints).items()
        ]
        return render("reference.html", areas=areas, events=self.catalogue.events, address=address)


def _anchor(endpoint: Endpoint, endpoints: Sequence[Endpoint]) -> str:
    """Where an operation stands on the page: by its name, and what has a second address there by its method."""
    name = endpoint.operation.name
    first = next(one for one in endpoints if one.operation.name == name)
    return name if endpoint is first else f"{name}-{endpoint.method.lower()}"


def entry(endpoint: Endpoint, address: str) -> Documented:
    """An operation as the page shows it."""
    schema = input_schema(endpoint.operation)
    rest = "body" if endpoint.operation.changes else "query"
    fields = [
        Field(
            name,
            "path" if name in endpoint.parameters else rest,
            name in endpoint.parameters or name in schema.get("required", ()),
            part.get("description", ""),
        )
        for name, part in schema["properties"].items()
        if name in endpoint.parameters or name not in endpoint.elsewhere
    ]
    path = endpoint.path
    for name in endpoint.parameters:
        path = path.replace(f"{{{name}}}", _id_of(name))
    body = example_body(endpoint) if endpoint.operation.changes else None
    return Documented(
        endpoint, fields, _curl(endpoint.method, address + path, body), _python(endpoint.method, path, body)
    )


def example_body(endpoint: Endpoint) -> Schema:
    """A body that the operation takes: what it must be given, and for a change of fields the first of them."""
    schema = input_schema(endpoint.operation)
    own = [name for name in schema["properties"] if name not in endpoint.elsewhere]
    needed = [name for name in own if name in schema.get("required", ())]
    if endpoint.operation.makes and not endpoint.parameters:
        # What cannot be cleared is what a new one has.
        needed = [name for name in own if "anyOf" not in schema["properties"][name]]
    shown = endpoint.operation.output.model_fields.values()
    known = {field.alias: field.examples[0] for field in shown if field.examples}
    chosen = needed or ([] if endpoint.operation.is_irreversible else own[:1])
    told = {name: part["examples"][0] for name, part in schema["properties"].items() if "examples" in part}
    known |= told
    return {name: known.get(name) or _value(name, schema["properties"][name]) for name in chosen}


def _value(name: str, schema: Schema) -> Any:
    """Some value that a schema allows; for the id of a record, one of the kind that the name ends with."""
    kinds = [kind for kind in schema.get("anyOf", (schema,)) if kind != {"type": "null"}]
    kind = kinds[0]
    if examples := schema.get("examples") or kind.get("examples"):
        return examples[0]
    if named := re.search(r"([A-Z]?[a-z]+)Id$", name):
        return f"{named[1].lower()}_01KA41T9YB7C5D3E1F9G8H6J4K"
    if "enum" in kind:
        return kind["enum"][0]
    if kind.get("format") == "email":
        return "kim@example.com"
    return {"boolean": True, "integer": 1, "array": [], "object": {}}.get(kind.get("type", ""), "Hartley & Daughters")


def _id_of(name: str) -> str:
    """What stands for the id of a record in an example: `PERSON_ID` for personId."""
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()


def _curl(method: str, address: str, body: Schema | None) -> str:
    # With a body, curl posts unless it is told otherwise; without one it gets.
    verb = "" if method == ("GET" if body is None else "POST") else f"-X {method} "
    lines = [f"curl {verb}{address}", '-H "Authorization: Bearer $MAINSTAY_KEY"']
    if body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d {shlex.quote(orjson.dumps(body).decode())}"]
    return " \\\n  ".join(lines)


def _python(method: str, path: str, body: Schema | None) -> str:
    sent = "" if body is None else f", json={body!r}"
    return f'answer = api.{method.lower()}("{path}"{sent})\nprint(answer.json())'
