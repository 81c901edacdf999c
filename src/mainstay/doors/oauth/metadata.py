"""Discovery: RFC 9728 (protected resource) and RFC 8414 (authorization server)."""

from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.doors.cors import ANY_ORIGIN, answer_preflight
from mainstay.doors.http import Request, Response, error_response
from mainstay.doors.oauth.register import AUTH_METHODS

SCOPE = "mcp"


@dataclass(frozen=True, slots=True)
class WellKnown:
    """Answers with the discovery documents under `/.well-known`."""

    documents: dict[str, bytes]

    async def __call__(self, request: Request) -> Response:
        """Answer with one of the documents, for pages of any origin."""
        if request.method == "OPTIONS":
            return answer_preflight(request, "GET")
        document = self.documents.get(request.path)
        if document is None:
            return error_response(404, "There is nothing at this address.", ANY_ORIGIN)
        if request.method not in {"GET", "HEAD"}:
            return error_response(405, "This method is not allowed here.", (("allow", "GET, HEAD"), *ANY_ORIGIN))
        return Response(200, document, ANY_ORIGIN)


def build_well_known(base_url: str, *, fetches_client_documents: bool) -> WellKnown:
    """Build the documents of an installation. The issuer is the base address, exactly the same everywhere."""
    resource = orjson.dumps(_describe_resource(base_url))
    described = _describe_server(base_url) | {"client_id_metadata_document_supported": fetches_client_documents}
    server = orjson.dumps(described)
    return WellKnown(
        {
            "/.well-known/oauth-protected-resource": resource,
            "/.well-known/oauth-protected-resource/mcp": resource,
            "/.well-known/oauth-authorization-server": server,
        }
    )


def _describe_resource(base_url: str) -> dict[str, Any]:
    return {
        "resource": f"{base_url}/mcp",
        "authorization_servers": [base_url],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Mainstay",
    }


def _describe_server(base_url: str) -> dict[str, Any]:
    return {
        "issuer": base_url,
        "authorization_endpoint": f"{base_url}/oauth/authorize",
        "token_endpoint": f"{base_url}/oauth/token",
        "registration_endpoint": f"{base_url}/oauth/register",
        "revocation_endpoint": f"{base_url}/oauth/revoke",
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "revocation_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
