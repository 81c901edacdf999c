import re

import pytest

from apps import Person, register
from cast import Cast
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.operations import update_person
from mainstay.identity.keys import list_keys
from mainstay.kernel.rights import Role
from running import RunningServer
from visiting import Visit, somebody, visit, words

KEYS, MCP = "/settings/developer/keys", "/settings/developer/mcp"
ORGANISATION = "/api/v1/organisation"


def made_key(page: str) -> str:
    shown = re.search(r'id="new-key">(svc_sk_[\w-]{43})<', page)
    assert shown, page
    return shown[1]


def test_a_key_is_made_shown_once_used_and_revoked(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    answer = visiting.submit(KEYS, name="Website", access="read")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    key = made_key(answer.text)
    assert server.request("GET", ORGANISATION, key).status_code == 200
    assert server.request("PATCH", ORGANISATION, key, json={"name": "New"}).status_code == 403

    page = visiting.get(KEYS).text
    assert key not in page
    assert key[-4:] in page
    assert "Website … " in words(page)
    assert "Read only" in words(page)

    (kept,) = cast.perform(list_keys)["data"]
    answer = visiting.submit(KEYS, f"{KEYS}/{kept['id']}/revoke")
    assert answer.headers["Location"] == f"{KEYS}?done=revoked"
    assert server.request("GET", ORGANISATION, key).status_code == 401
    assert "The API key is revoked." in visiting.get(f"{KEYS}?done=revoked").text


def test_a_key_for_writing_writes(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast, Role.ADMIN).submit(KEYS, name="Sync", access="write")
    assert "Read and write" in words(answer.text)
    changed = server.request("PATCH", ORGANISATION, made_key(answer.text), json={"name": "Changed by key"})
    assert changed.json()["name"] == "Changed by key"


def test_what_is_wrong_with_a_key_is_said_beside_the_field(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit(KEYS, name="", access="everything")
    assert answer.status_code == 422
    assert "Name is empty." in words(answer.text)
    assert "Access is not one of" in words(answer.text)
    assert 'aria-invalid="true"' in answer.text
    assert cast.perform(list_keys)["data"] == []


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_keys_are_for_owners_and_admins_only(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    assert visiting.get("/settings/developer").headers["Location"] == MCP
    page = visiting.get(KEYS)
    assert page.status_code == 403
    assert f"The role {role} may not do this" in page.text
    assert visiting.submit("/", KEYS, name="Mine", access="read").status_code == 403
    assert cast.perform(list_keys)["data"] == []


def test_a_key_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    stranger.key()
    (foreign,) = stranger.perform(list_keys)["data"]
    visiting = visit(server, cast)
    assert foreign["id"] not in visiting.get(KEYS).text
    assert visiting.submit(KEYS, f"{KEYS}/{foreign['id']}/revoke").status_code == 404
    assert stranger.perform(list_keys)["data"][0]["revokedAt"] is None


def test_while_lapsed_keys_are_revoked_but_not_made(server: RunningServer, cast: Cast) -> None:
    key = cast.key()
    person = somebody(cast)
    cast.lapse()
    visiting = Visit(server)
    visiting.sign_in(person)
    page = visiting.get(KEYS).text
    assert "The subscription is inactive." in page
    assert "Create the key" not in page
    assert visiting.submit(KEYS, name="New", access="read").status_code == 402
    (kept,) = cast.perform(list_keys)["data"]
    assert visiting.submit(KEYS, f"{KEYS}/{kept['id']}/revoke").status_code == 303
    assert server.request("GET", ORGANISATION, key).status_code == 401


def test_the_address_and_snippets_are_ready_to_copy(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast, Role.MEMBER).get(MCP).text
    assert f'id="mcp-address">{server.url}/mcp<' in page
    assert f"claude mcp add --transport http mainstay {server.url}/mcp" in words(page)
    for client in ("Claude Desktop", "Cursor", "VS Code", "curl"):
        assert client in page
    assert page.count("data-copy=") == 7


def connect(server: RunningServer, cast: Cast, visiting: Visit, access: str, name: str) -> str:
    """Connect an app in the name of a visitor; its access token."""
    app = register(server, client_name=name)
    tokens = app.connect(Person(server, f"mainstay={visiting.cookies['mainstay']}"), cast.organisation, access)
    return str(tokens["access_token"])


def test_connected_apps_are_listed_with_what_they_may_do_and_disconnected(server: RunningServer, cast: Cast) -> None:
    owner, office = visit(server, cast), visit(server, cast, Role.OFFICE)
    token = connect(server, cast, office, "write", "Helpful Agent")
    for visiting in (owner, office):
        page = words(visiting.get(MCP).text)
        for said in ("Helpful Agent", "Sara Someone", "Office", "Read and write", "tools offered", "get_organisation"):
            assert said in page
    revoke = re.search(rf'"({MCP}/connection_\w+/revoke)"', owner.get(MCP).text)
    assert revoke
    assert owner.submit(MCP, revoke[1]).headers["Location"] == f"{MCP}?done=disconnected"
    assert server.request("POST", "/mcp", token, json={}).status_code == 401
    assert "No apps connected" in owner.get(MCP).text


def test_a_role_that_no_longer_writes_is_said_beside_the_access(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast, Role.OFFICE)
    visiting = Visit(server)
    visiting.sign_in(person)
    connect(server, cast, visiting, "write", "Helpful Agent")
    cast.perform(update_person, personId=person.id, role="member")
    page = words(visiting.get(MCP).text)
    assert "Read only approved as Read and write, but the role allows reading only" in page
    assert "invite_person" not in page


def test_only_owners_and_admins_see_the_apps_of_others(server: RunningServer, cast: Cast) -> None:
    office = visit(server, cast, Role.OFFICE)
    connect(server, cast, office, "read", "Private Agent")
    revoke = re.search(rf'"({MCP}/connection_\w+/revoke)"', office.get(MCP).text)
    assert revoke
    for role in (Role.OFFICE, Role.MEMBER):
        other = visit(server, cast, role)
        assert "Private Agent" not in other.get(MCP).text
        assert other.submit(MCP, revoke[1]).status_code == 404
    seen = words(visit(server, cast, Role.ADMIN).get(MCP).text)
    assert "Private Agent" in seen
    assert f"Office of {cast.perform(get_organisation)['name']}" in seen
    assert office.submit(MCP, revoke[1]).status_code == 303


def test_a_subcontractor_is_told_that_they_connect_no_apps(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast, Role.SUBCONTRACTOR).get(MCP)
    assert page.status_code == 200
    assert "Your role does not connect apps." in page.text
    assert "Server address" not in page.text
