import re

import pytest

from apps import Person, register
from cast import Cast
from mainstay.business.people.standing import change_role
from mainstay.identity.keys import list_keys
from mainstay.terms.rights import Role
from running import RunningServer
from visiting import Visit, somebody, visit, words

KEYS, MCP = "/settings/developer/keys", "/settings/developer/mcp"
NEW = f"{KEYS}/new"
ORGANISATION = "/api/v1/organisation"


def made_key(page: str) -> str:
    shown = re.search(r'id="secret">(svc_sk_[\w-]{43})<', page)
    assert shown, page
    return shown[1]


def test_a_key_is_made_shown_once_used_and_revoked(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    answer = visiting.submit(NEW, name="Website", access="read")
    shown = visiting.follow(answer)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    key = made_key(shown.text)
    assert server.request("GET", ORGANISATION, key).status_code == 200
    assert server.request("PATCH", ORGANISATION, key, json={"name": "New"}).status_code == 403

    page = visiting.get(KEYS).text
    assert key not in page
    assert key[-4:] in page
    assert f"Website Read only · … {key[-4:]} Active Sara Someone" in words(page)

    (kept,) = cast.perform(list_keys)["data"]
    one = f"{KEYS}/{kept['id']}"
    # It is asked once more, in the list and on its page.
    for path in (KEYS, one):
        assert f'href="{one}/revoke"' in visiting.get(path).text
        assert f'action="{one}/revoke"' not in visiting.get(path).text
    assert "This cannot be undone" in visiting.get(f"{one}/revoke").text
    answer = visiting.submit(f"{one}/revoke")
    assert answer.headers["Location"] == f"{one}?done=revoke_key"
    assert server.request("GET", ORGANISATION, key).status_code == 401
    page = visiting.get(answer.headers["Location"]).text
    assert "The API key is revoked." in page
    assert f"{one}/revoke" not in page


def test_a_key_for_writing_writes(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.ADMIN)
    shown = visiting.follow(visiting.submit(NEW, name="Sync", access="write"))
    changed = server.request("PATCH", ORGANISATION, made_key(shown.text), json={"name": "Changed by key"})
    assert changed.json()["name"] == "Changed by key"


def test_what_is_wrong_with_a_key_is_said_beside_the_field(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit(NEW, name="", access="everything")
    assert answer.status_code == 422
    assert "Name is empty." in words(answer.text)
    assert "Access is not one of" in words(answer.text)
    assert 'aria-invalid="true"' in answer.text
    assert cast.perform(list_keys)["data"] == []


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_keys_are_for_owners_and_admins_only(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    for path in (KEYS, NEW):
        page = visiting.get(path)
        assert page.status_code == 403
        assert f"The role {role} may not do this" in page.text
    home = visiting.get("/").text
    assert KEYS not in home
    assert visiting.answer(home, NEW, name="Mine", access="read").status_code == 403
    assert cast.perform(list_keys)["data"] == []


def test_a_key_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    stranger.key()
    (foreign,) = stranger.perform(list_keys)["data"]
    visiting = visit(server, cast)
    assert foreign["id"] not in visiting.get(KEYS).text
    one = f"{KEYS}/{foreign['id']}"
    assert [visiting.get(path).status_code for path in (one, f"{one}/revoke")] == [404, 404]
    assert visiting.submit(NEW, f"{one}/revoke").status_code == 404
    assert stranger.perform(list_keys)["data"][0]["revokedAt"] is None


def test_while_lapsed_keys_are_revoked_but_not_made(server: RunningServer, cast: Cast) -> None:
    key = cast.key()
    person = somebody(cast)
    cast.lapse()
    visiting = Visit(server)
    visiting.sign_in(person)
    page = visiting.get(KEYS).text
    assert "The subscription is inactive." in page
    assert NEW not in page
    assert visiting.get(NEW).status_code == 402
    assert visiting.answer(page, NEW, name="New", access="read").status_code == 402
    (kept,) = cast.perform(list_keys)["data"]
    assert visiting.submit(f"{KEYS}/{kept['id']}/revoke").status_code == 303
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


def page_of(visiting: Visit) -> str:
    """The address of the only connected app that a visitor sees."""
    (path,) = set(re.findall(rf'href="({MCP}/connection_\w+)"', visiting.get(MCP).text))
    return str(path)


def test_connected_apps_are_listed_with_what_they_may_do_and_disconnected(server: RunningServer, cast: Cast) -> None:
    owner, office = visit(server, cast), visit(server, cast, Role.OFFICE)
    token = connect(server, cast, office, "write", "Helpful Agent")
    for visiting in (owner, office):
        assert "Helpful Agent Read and write · approved by Sara Someone Active" in words(visiting.get(MCP).text)
        page = words(visiting.get(page_of(visiting)).text)
        for said in ("Approved by Sara Someone", "Their role Office", "Access Read and write", "tools offered"):
            assert said in page
        assert "get_organisation" in page
        assert "create_key" not in page
    one = page_of(owner)
    assert f'action="{one}/revoke"' not in owner.get(MCP).text
    answer = owner.submit(f"{one}/revoke")
    assert answer.headers["Location"] == f"{one}?done=revoke_connection"
    assert "The app's access is revoked." in words(owner.get(answer.headers["Location"]).text)
    assert server.request("POST", "/mcp", token, json={}).status_code == 401
    assert "No apps connected" in owner.get(MCP).text


def test_a_role_that_no_longer_writes_is_said_beside_the_access(server: RunningServer, cast: Cast) -> None:
    person = somebody(cast, Role.OFFICE)
    visiting = Visit(server)
    visiting.sign_in(person)
    connect(server, cast, visiting, "write", "Helpful Agent")
    assert "update_person" in visiting.get(page_of(visiting)).text
    cast.perform(change_role, personId=person.id, role="member", confirmed=True)
    page = words(visiting.get(page_of(visiting)).text)
    assert "Approved access Read and write Access Read only" in page
    assert "update_person" not in page


def test_only_owners_and_admins_see_the_apps_of_others(server: RunningServer, cast: Cast) -> None:
    office = visit(server, cast, Role.OFFICE)
    connect(server, cast, office, "read", "Private Agent")
    one = page_of(office)
    for role in (Role.OFFICE, Role.MEMBER):
        other = visit(server, cast, role)
        assert "Private Agent" not in other.get(MCP).text
        assert [other.get(path).status_code for path in (one, f"{one}/revoke")] == [404, 404]
        assert other.submit(MCP, f"{one}/revoke").status_code == 404
    assert "Private Agent" in words(visit(server, cast, Role.ADMIN).get(MCP).text)
    assert office.submit(f"{one}/revoke").status_code == 303


def test_a_subcontractor_is_shown_no_way_to_connect_apps(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.SUBCONTRACTOR)
    for path in ("/", "/settings", "/settings/account"):
        assert "/settings/developer" not in visiting.get(path).text
    assert "does not connect apps" in visiting.get("/settings/developer").text
    assert visiting.get(MCP).status_code == 403


def test_developer_leads_to_the_first_page_that_is_of_use(server: RunningServer, cast: Cast) -> None:
    for role, first in ((Role.OWNER, KEYS), (Role.OFFICE, MCP), (Role.MEMBER, MCP)):
        assert visit(server, cast, role).get("/settings/developer").headers["Location"] == first
