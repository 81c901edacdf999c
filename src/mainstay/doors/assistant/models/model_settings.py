"""Which model answers, and how it is reached."""

import re
from dataclasses import dataclass, field

from mainstay.business.organisation.assistant_settings import ModelDialect


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model and the address of its server, as the operator or an organisation entered them."""

    url: str
    dialect: ModelDialect
    model: str
    key: str | None = field(repr=False)
    # Whether the server may be in a private network or without TLS: only the operator's own may.
    allows_private: bool


def find_endpoint(url: str, path: str, *, is_versioned_later: bool) -> str:
    """Return the address to post to, for any address that the documents of model servers name.

    It may be the address of the server (`http://localhost:11434`), of its API (`…/v1`, `…/v1beta/openai`), or already
    the one to post to. A query stays as it is. `is_versioned_later` says that the protocol's clients add the version,
    also to an address with a path such as `https://api.example.com/anthropic`.
    """
    address, mark, query = url.strip().partition("?")
    address = address.rstrip("/")
    if not address.endswith(f"/{path}"):
        has_path = "/" in address.partition("://")[2]
        needs_version = not _VERSION.search(address) if is_versioned_later else not has_path
        address += f"/v1/{path}" if needs_version else f"/{path}"
    return f"{address}{mark}{query}"


_VERSION = re.compile(r"/v[0-9]+[a-z0-9]*$")
