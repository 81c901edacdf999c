import re

import pytest

from mainstay.business.people.roles import change_role
from mainstay.identity.keys import list_keys
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, add_new_person, sign_in_new_person, visible_text
from support.cast import Cast
from support.oauth_app import SignedInPerson, register_app
from support.servers import RunningServer

KEYS, MCP = "/settings/developer/keys", "/settings/developer/mcp"
NEW_KEY = f"{KEYS}/new"
ORGANISATION = "/api/v1/organisation"


def read_key(page: str) -> str:
    shown = re.search(r'id="secret">(svc_sk_[\w-]{43})<', page)
    assert shown, page
    return shown[1]


def test_a_key_is_made_shown_once_used_and_revoked(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    answer = session.submit_form(NEW_KEY, name="Website", access="read")
    shown = session.follow_redirect(answer)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "no-store")
    key = read_key(shown.text)
    assert server.request("GET", ORGANISATION, key).status_code == 200
    assert server.request("PATCH", ORGANISATION, key, json={"name": "New"}).status_code == 403

    page = session.get(KEYS).text
    assert key not in page
    assert key[-4:] in page
    assert f"Website Read only · … {key[-4:]} Active Sara Someone" in visible_text(page)

    (kept,) = cast.perform(list_keys)["data"]
    one = f"{KEYS}/{kept['id']}"
    # It is asked once more, in the list and on its page.
    for path in (KEYS, one):
        assert f'href="{one}/revoke"' in session.get(path).text
        assert f'action="{one}/revoke"' not in session.get(path).text
    assert "The key stops working at once" in session.get(f"{one}/revoke").text
    answer = session.submit_form(f"{one}/revoke")
    assert answer.headers["Location"] == f"{one}?done=revoke_key"
    assert server.request("GET", ORGANISATION, key).status_code == 401
    page = session.get(answer.headers["Location"]).text
    assert "Website revoked." in visible_text(page)
    assert f"{one}/revoke" not in page


def test_a_key_for_writing_writes(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    shown = session.follow_redirect(session.submit_form(NEW_KEY, name="Sync", access="write"))
    changed = server.request("PATCH", ORGANISATION, read_key(shown.text), json={"name": "Changed by key"})
    assert changed.json()["name"] == "Changed by key"


def test_what_is_wrong_with_a_key_is_said_beside_the_field(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).submit_form(NEW_KEY, name="", access="everything")
    assert answer.status_code == 422
    assert "Enter a name." in visible_text(answer.text)
    assert "Choose Read or Write for access." in visible_text(answer.text)
    assert 'aria-invalid="true"' in answer.text
    assert cast.perform(list_keys)["data"] == []


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_keys_are_for_owners_and_admins_only(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    for path in (KEYS, NEW_KEY):
        page = session.get(path)
        assert page.status_code == 403
        assert "Ask an owner or admin." in page.text
    home = session.get("/").text
    assert KEYS not in home
    assert session.submit_page(home, NEW_KEY, name="Mine", access="read").status_code == 403
    assert cast.perform(list_keys)["data"] == []


def test_a_key_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    other_cast.make_key()
    (foreign,) = other_cast.perform(list_keys)["data"]
    session = sign_in_new_person(server, cast)
    assert foreign["id"] not in session.get(KEYS).text
    one = f"{KEYS}/{foreign['id']}"
    assert [session.get(path).status_code for path in (one, f"{one}/revoke")] == [404, 404]
    assert session.submit_form(NEW_KEY, f"{one}/revoke").status_code == 404
    assert other_cast.perform(list_keys)["data"][0]["revokedAt"] is None


def test_while_lapsed_keys_are_revoked_but_not_made(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    person = add_new_person(cast)
    cast.lapse()
    session = BrowserSession(server)
    session.sign_in(person)
    page = session.get(KEYS).text
    assert "Your subscription is inactive." in page
    assert NEW_KEY not in page
    assert session.get(NEW_KEY).status_code == 402
    assert session.submit_page(page, NEW_KEY, name="New", access="read").status_code == 402
    (kept,) = cast.perform(list_keys)["data"]
    assert session.submit_form(f"{KEYS}/{kept['id']}/revoke").status_code == 303
    assert server.request("GET", ORGANISATION, key).status_code == 401


def test_the_address_and_snippets_are_ready_to_copy(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast, Role.MEMBER).get(MCP).text
    assert f'id="mcp-address">{server.url}/mcp<' in page
    assert f"claude mcp add --transport http mainstay {server.url}/mcp" in visible_text(page)
    for client in ("Claude Desktop", "Cursor", "VS Code", "curl"):
        assert client in page
    assert page.count("data-copy=") == 7


def connect_app(server: RunningServer, cast: Cast, session: BrowserSession, access: str, name: str) -> str:
    """Connect an app in the name of a visitor; its access token."""
    app = register_app(server, client_name=name)
    tokens = app.connect(SignedInPerson(server, f"mainstay={session.cookies['mainstay']}"), cast.organisation, access)
    return str(tokens["access_token"])


def find_connection_page(session: BrowserSession) -> str:
    """The address of the only connected app that a visitor sees."""
    (path,) = set(re.findall(rf'href="({MCP}/connection_\w+)"', session.get(MCP).text))
    return str(path)


def test_connected_apps_are_listed_with_what_they_may_do_and_disconnected(server: RunningServer, cast: Cast) -> None:
    owner, office = sign_in_new_person(server, cast), sign_in_new_person(server, cast, Role.OFFICE)
    token = connect_app(server, cast, office, "write", "Helpful Agent")
    for session in (owner, office):
        assert "Helpful Agent Read and write · approved by Sara Someone Active" in visible_text(session.get(MCP).text)
        page = visible_text(session.get(find_connection_page(session)).text)
        for said in (
            "Approved by Sara Someone",
            "Role of the approver Office",
            "Access Read and write",
            " tools",
        ):
            assert said in page
        assert "get_organisation" in page
        assert "create_key" not in page
    one = find_connection_page(owner)
    assert f'action="{one}/revoke"' not in owner.get(MCP).text
    answer = owner.submit_form(f"{one}/revoke")
    assert answer.headers["Location"] == f"{one}?done=revoke_connection"
    assert "App disconnected." in visible_text(owner.get(answer.headers["Location"]).text)
    assert server.request("POST", "/mcp", token, json={}).status_code == 401
    assert "No connected apps yet." in owner.get(MCP).text


def test_a_role_that_no_longer_writes_is_said_beside_the_access(server: RunningServer, cast: Cast) -> None:
    person = add_new_person(cast, Role.OFFICE)
    session = BrowserSession(server)
    session.sign_in(person)
    connect_app(server, cast, session, "write", "Helpful Agent")
    assert "update_person" in session.get(find_connection_page(session)).text
    cast.perform(change_role, personId=person.id, role="member", confirmed=True)
    page = visible_text(session.get(find_connection_page(session)).text)
    assert "Approved access Read and write Access Read only" in page
    assert "update_person" not in page


def test_only_owners_and_admins_see_the_apps_of_others(server: RunningServer, cast: Cast) -> None:
    office = sign_in_new_person(server, cast, Role.OFFICE)
    connect_app(server, cast, office, "read", "Private Agent")
    one = find_connection_page(office)
    for role in (Role.OFFICE, Role.MEMBER):
        other = sign_in_new_person(server, cast, role)
        assert "Private Agent" not in other.get(MCP).text
        assert [other.get(path).status_code for path in (one, f"{one}/revoke")] == [404, 404]
        assert other.submit_form(MCP, f"{one}/revoke").status_code == 404
    assert "Private Agent" in visible_text(sign_in_new_person(server, cast, Role.ADMIN).get(MCP).text)
    assert office.submit_form(f"{one}/revoke").status_code == 303


def test_a_subcontractor_is_shown_no_way_to_connect_apps(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    for path in ("/", "/settings", "/settings/account"):
        assert "/settings/developer" not in session.get(path).text
    assert "have access to developer settings. Ask an owner or admin." in session.get("/settings/developer").text
    assert session.get(MCP).status_code == 403


def test_developer_leads_to_the_first_page_that_is_of_use(server: RunningServer, cast: Cast) -> None:
    for role, first in ((Role.OWNER, KEYS), (Role.OFFICE, MCP), (Role.MEMBER, MCP)):
        assert sign_in_new_person(server, cast, role).get("/settings/developer").headers["Location"] == first
