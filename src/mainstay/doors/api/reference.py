"""The reference page of the HTTP API: every operation, with an example in curl and in Python."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from mainstay.doors.api.openapi import area_of, areas_of
from mainstay.doors.api.routes import Endpoint, endpoints_of
from mainstay.doors.compression import compress
from mainstay.doors.http import Request, Response, error_response
from mainstay.doors.pages.rendering import render_template
from mainstay.doors.schemas import Schema, input_schema
from mainstay.kernel.catalogue import Catalogue


class ReferenceField(NamedTuple):
    """A field of an operation's input, as the page shows it."""

    name: str
    place: str
    required: bool
    about: str


class ReferenceEntry(NamedTuple):
    """An operation, as the page shows it."""

    endpoint: Endpoint
    fields: list[ReferenceField]
    curl: str
    python: str


@dataclass(frozen=True)
class ReferencePage:
    """Answers with the reference page, which is rendered at the first request and cached."""

    catalogue: Catalogue
    base_url: str

    async def __call__(self, request: Request) -> Response:
        """Answer a request for the page."""
        if request.method not in {"GET", "HEAD"}:
            return error_response(405, "This method is not allowed here.", (("allow", "GET, HEAD"),))
        page = self._rendered_page
        return Response(
            200, page.body, page.headers, content_type=page.content_type, quiet=True, gzipped_body=self._gzipped_page
        )

    @cached_property
    def _gzipped_page(self) -> bytes | None:
        body, content_type = self._rendered_page.body, self._rendered_page.content_type
        return compress(body, content_type, reused=True) if isinstance(body, bytes) else None

    @cached_property
    def _rendered_page(self) -> Response:
        endpoints = endpoints_of(self.catalogue.operations)
        address = f"{self.base_url}/api/v1"
        areas = [
            {
                "name": area,
                "about": about,
                "entries": [
                    (_anchor_of(endpoint, endpoints), build_entry(endpoint, address))
                    for endpoint in endpoints
                    if area_of(endpoint.operation) == area
                ],
            }
            for area, about in areas_of(endpoints).items()
        ]
        return render_template("reference.html", areas=areas, events=self.catalogue.events, address=address)


def _anchor_of(endpoint: Endpoint, endpoints: Sequence[Endpoint]) -> str:
    """Return the anchor of an operation on the page: its name, and for its second route also the method."""
    name = endpoint.operation.name
    first = next(candidate for candidate in endpoints if candidate.operation.name == name)
    return name if endpoint is first else f"{name}-{endpoint.method.lower()}"


def build_entry(endpoint: Endpoint, address: str) -> ReferenceEntry:
    """Build the entry of an operation on the page."""
    schema = input_schema(endpoint.operation)
    other_place = "body" if endpoint.operation.changes else "query"
    fields = [
        ReferenceField(
            name,
            "path" if name in endpoint.path_parameters else other_place,
            name in endpoint.path_parameters or name in schema.get("required", ()),
            part.get("description", ""),
        )
        for name, part in schema["properties"].items()
        if name in endpoint.path_parameters or name not in endpoint.path_only_fields
    ]
    path = endpoint.path
    for name in endpoint.path_parameters:
        path = path.replace(f"{{{name}}}", _id_placeholder(name))
    body = build_example_body(endpoint) if endpoint.operation.changes else None
    return ReferenceEntry(
        endpoint,
        fields,
        _render_curl(endpoint.method, address + path, body),
        _render_python(endpoint.method, path, body),
    )


def build_example_body(endpoint: Endpoint) -> Schema:
    """Build an example body: the required fields or, if a change requires none, its first field."""
    schema = input_schema(endpoint.operation)
    body_fields = [name for name in schema["properties"] if name not in endpoint.path_only_fields]
    required = [name for name in body_fields if name in schema.get("required", ())]
    if endpoint.operation.creates_without_id and not endpoint.path_parameters:
        # For a new record, show the fields that cannot be cleared.
        required = [name for name in body_fields if "anyOf" not in schema["properties"][name]]
    output_fields = endpoint.operation.output.model_fields.values()
    examples = {field.alias: field.examples[0] for field in output_fields if field.examples}
    chosen = required or ([] if endpoint.operation.is_irreversible else body_fields[:1])
    input_examples = {name: part["examples"][0] for name, part in schema["properties"].items() if "examples" in part}
    examples |= input_examples
    return {name: examples.get(name) or _example_value(name, schema["properties"][name]) for name in chosen}


def _example_value(name: str, schema: Schema) -> Any:
    """Return an example value for a schema; for the id of a record, one whose prefix fits the field name."""
    options = [option for option in schema.get("anyOf", (schema,)) if option != {"type": "null"}]
    option = options[0]
    if examples := schema.get("examples") or option.get("examples"):
        return examples[0]
    if match := re.search(r"([A-Z]?[a-z]+)Id$", name):
        return f"{match[1].lower()}_01KA41T9YB7C5D3E1F9G8H6J4K"
    if "enum" in option:
        return option["enum"][0]
    if option.get("format") == "email":
        return "kim@example.com"
    return {"boolean": True, "integer": 1, "array": [], "object": {}}.get(option.get("type", ""), "Hartley & Daughters")


def _id_placeholder(name: str) -> str:
    """Return the placeholder for an id in an example: `PERSON_ID` for personId."""
    return "".join(f"_{char}" if char.isupper() else char for char in name).upper()


def _render_curl(method: str, address: str, body: Schema | None) -> str:
    # The default method of curl is POST with a body and GET without one.
    method_option = "" if method == ("GET" if body is None else "POST") else f"-X {method} "
    lines = [f"curl {method_option}{address}", '-H "Authorization: Bearer $MAINSTAY_KEY"']
    if body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d {shlex.quote(orjson.dumps(body).decode())}"]
    return " \\\n  ".join(lines)


def _render_python(method: str, path: str, body: Schema | None) -> str:
    json_argument = "" if body is None else f", json={body!r}"
    return f'answer = api.{method.lower()}("{path}"{json_argument})\nprint(answer.json())'
