"""Discovery documents: RFC 9728 and RFC 8414."""

from support.servers import RunningServer


def test_both_resource_documents_name_the_tool_server(server: RunningServer) -> None:
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        document = server.request("GET", path).json()
        assert document["resource"] == f"{server.url}/mcp"
        assert document["authorization_servers"] == [server.url]
        assert document["scopes_supported"] == ["mcp"]


def test_the_authorization_server_tells_what_it_takes(server: RunningServer) -> None:
    document = server.request("GET", "/.well-known/oauth-authorization-server").json()
    assert document["issuer"] == server.url
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["token_endpoint_auth_methods_supported"] == ["none", "client_secret_post", "client_secret_basic"]
    assert document["scopes_supported"] == ["mcp"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    assert document["authorization_endpoint"] == f"{server.url}/oauth/authorize"
    assert document["token_endpoint"] == f"{server.url}/oauth/token"
    assert document["registration_endpoint"] == f"{server.url}/oauth/register"
    assert document["revocation_endpoint"] == f"{server.url}/oauth/revoke"


def test_other_well_known_addresses_are_not_found_in_json(server: RunningServer) -> None:
    for path in ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/mcp", "/.well-known/x"):
        answer = server.request("GET", path, headers={"Accept": "text/html"})
        assert answer.status_code == 404
        assert set(answer.json()) == {"error"}


def test_any_origin_may_read_them(server: RunningServer) -> None:
    path = "/.well-known/oauth-protected-resource/mcp"
    answer = server.request("GET", path, headers={"Origin": "http://localhost:3000"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert server.request("OPTIONS", path).status_code == 204
    assert server.request("POST", path).status_code == 405
