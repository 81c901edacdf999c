"""What the meters count requests by."""

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.routes import endpoints_of
from mainstay.doors.office.routes import page_names

# The first is for requests that found no route; the operations of the HTTP API come in the order of their numbers.
_OPERATIONS = ("none", *(endpoint.operation.name for endpoint in endpoints_of(CATALOGUE.operations)), "mcp")
# Doors that are one path, by that path.
SINGLE = (
    "/oauth/register",
    "/oauth/authorize",
    "/oauth/token",
    "/oauth/revoke",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/openapi.json",
    "/developers",
    "/healthz",
    "/readyz",
)
STATIC = "static"
METERED = (*_OPERATIONS, *SINGLE, STATIC, *page_names())
