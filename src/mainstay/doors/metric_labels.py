"""The labels by which the metrics count requests."""

from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.routes import endpoints_of
from mainstay.doors.office.routes import page_names

# The first label is for requests without a route. The operations of the HTTP API follow in the order of their numbers.
_API_LABELS = ("none", *(endpoint.operation.name for endpoint in endpoints_of(CATALOGUE.operations)), "mcp")
# Doors with a single path, by that path.
SINGLE_PATHS = (
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
STATIC_LABEL = "static"
# The links of programs, whose paths end with a secret.
UPLOAD_LABEL, DOWNLOAD_LABEL = "upload link", "download link"
# Static files come right before the pages, as the door of the pages counts them.
METRIC_LABELS = (*_API_LABELS, *SINGLE_PATHS, UPLOAD_LABEL, DOWNLOAD_LABEL, STATIC_LABEL, *page_names())
