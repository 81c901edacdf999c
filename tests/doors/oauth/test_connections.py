"""A connection: bound to app, person, organisation and access, for as long as all of them stand."""

from datetime import timedelta

import orjson
import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import update_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.identity.authenticate import InvalidToken, actor_of_bearer, reread_actor
from mainstay.identity.clients import delete_unapproved
from mainstay.identity.connections import list_connections, revoke_connection
from mainstay.identity.last_used import LastUsed
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from mainstay.vocabulary.actor import Door, operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.browser_session import emails_to
from support.cast import EMAILS, Cast
from support.mcp_client import call_legacy, call_tool, make_legacy_call, post_call
from support.oauth_app import OAuthApp, register_app, sign_in_cast_member
from support.servers import RunningServer
from support.stored_state import operations_on, read_trail
from support.waiting import wait_until

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def connect_app(
    server: RunningServer, cast: Cast, role: Role = Role.OWNER, access: str = "read"
) -> tuple[OAuthApp, str]:
    app = register_app(server)
    tokens = app.connect(sign_in_cast_member(server, cast, role), cast.organisation, access)
    return app, tokens["access_token"]


def ping_status(server: RunningServer, token: str) -> int:
    return post_call(server, token, make_legacy_call("ping")).status_code


def test_an_app_acts_as_its_person(server: RunningServer, cast: Cast) -> None:
    _, token = connect_app(server, cast, Role.OFFICE, "write")
    me = call_tool(server, token, "get_me")["structuredContent"]
    assert me["person"] == {"id": cast.people[Role.OFFICE], "name": "Orla Office"}
    assert (me["role"], me["access"], me["client"]["name"]) == ("office", "write", "Test app")
    assert "invite_person" not in [tool["name"] for tool in call_legacy(server, token, "tools/list")["tools"]]
    refused = call_tool(server, token, "invite_person", name="X", email="x@x.example", role="member")
    assert refused["isError"] is True


def test_what_an_app_changes_carries_the_person_and_the_app(server: RunningServer, cast: Cast) -> None:
    _, token = connect_app(server, cast, Role.ADMIN, "write")
    changed = call_tool(server, token, "update_organisation", phone="5")["structuredContent"]["updatedBy"]
    assert changed["person"]["name"] == "Adam Admin"
    assert (changed["via"]["door"], changed["via"]["client"]["name"]) == ("agent", "Test app")


def test_a_reading_app_changes_nothing_even_for_an_owner(server: RunningServer, cast: Cast) -> None:
    _, token = connect_app(server, cast, Role.OWNER, "read")
    assert all(tool["annotations"]["readOnlyHint"] for tool in call_legacy(server, token, "tools/list")["tools"])
    assert call_tool(server, token, "update_organisation", phone="5")["isError"] is True


def test_a_member_sees_no_costs_through_an_app(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], costRate="33.33")
    _, token = connect_app(server, cast, Role.MEMBER)
    assert "33.33" not in orjson.dumps(call_tool(server, token, "list_people")).decode()
    person = call_tool(server, token, "get_person", personId=cast.people[Role.MEMBER])
    assert person["structuredContent"]["costRate"] is None


def test_a_role_that_no_longer_writes_makes_the_connection_read_only_while_it_lasts(
    server: RunningServer, cast: Cast
) -> None:
    _, token = connect_app(server, cast, Role.OFFICE, "write")
    office = cast.people[Role.OFFICE]
    cast.perform(change_role, personId=office, role="member", confirmed=True)
    assert call_tool(server, token, "get_me")["structuredContent"]["access"] == "read"
    cast.perform(change_role, personId=office, role="office", confirmed=True)
    assert call_tool(server, token, "get_me")["structuredContent"]["access"] == "write"


def test_who_becomes_a_subcontractor_or_leaves_loses_the_connection_for_good(server: RunningServer, cast: Cast) -> None:
    app, token = connect_app(server, cast, Role.OFFICE)
    office = cast.people[Role.OFFICE]
    cast.perform(change_role, personId=office, role="subcontractor", confirmed=True)
    assert ping_status(server, token) == 401
    cast.perform(change_role, personId=office, role="office", confirmed=True)
    assert ping_status(server, token) == 401

    refresh = app.connect(sign_in_cast_member(server, cast, Role.MEMBER), cast.organisation)
    preview = cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    assert any("Apps connected by Mia Member" in effect for effect in preview["effects"])
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert ping_status(server, refresh["access_token"]) == 401
    assert app.refresh_tokens(refresh["refresh_token"]).json()["error"] == "invalid_grant"
    cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Mia Member",
        email="mia@cast.example",
        role="member",
        password="unused by this account",
    )
    assert ping_status(server, refresh["access_token"]) == 401


def test_the_first_exchange_of_a_connection_stands_in_the_trail_and_later_ones_do_not(
    server: RunningServer, cast: Cast
) -> None:
    app = register_app(server)
    tokens = app.connect(sign_in_cast_member(server, cast), cast.organisation)
    [connection] = (str(one["id"]) for one in cast.perform(list_connections)["data"])
    assert operations_on(cast, connection) == ["approve_connection", "start_connection"]
    [begun] = [act for act in read_trail(cast) if act["operation"] == "start_connection"]
    assert begun["actor"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200
    assert operations_on(cast, connection) == ["approve_connection", "start_connection"]


def list_ended_connections(cast: Cast) -> list[dict[str, object]]:
    return [act for act in read_trail(cast) if act["operation"] == "end_connection"]


def test_what_an_app_gives_back_and_what_a_second_use_ends_stands_in_the_trail(
    server: RunningServer, cast: Cast
) -> None:
    app = register_app(server)
    person = sign_in_cast_member(server, cast)
    given_back, reused = (app.connect(person, cast.organisation) for _ in range(2))
    newer, older = (str(one["id"]) for one in cast.perform(list_connections)["data"])

    answer = app.revoke_token(given_back["access_token"])
    [act] = list_ended_connections(cast)
    assert act["given"] == {"connectionId": older, "reason": "The app gave its access back."}
    assert act["actor"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert act["requestId"] == answer.headers["X-Request-Id"]
    assert operations_on(cast, older)[-1] == "end_connection"

    app.refresh_tokens(reused["refresh_token"])
    app.refresh_tokens(reused["refresh_token"])
    [_, act] = list_ended_connections(cast)
    assert act["given"] == {
        "connectionId": newer,
        "reason": "One of its codes or refresh tokens was used twice.",
    }
    # What has ended is not ended again.
    app.refresh_tokens(reused["refresh_token"])
    app.revoke_token(given_back["refresh_token"])
    assert len(list_ended_connections(cast)) == 2


def test_whoever_has_become_a_subcontractor_is_kept_out_by_each_fence(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    tokens = app.connect(sign_in_cast_member(server, cast, Role.OFFICE), cast.organisation, "write")
    code = sign_in_cast_member(server, cast, Role.OFFICE).approve(app.make_authorize_url(), cast.organisation, "write")[
        "code"
    ]
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        acting = actor_of_bearer(db, tokens["access_token"], Door.AGENT, cast.performer.clock())
    # Not as it is done by an operation, which ends the connections first.
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE person SET role = 'subcontractor' WHERE organisation_id = :organisation AND id = :id",
            id=cast.people[Role.OFFICE],
        )
    assert ping_status(server, tokens["access_token"]) == 401
    assert app.refresh_tokens(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert app.redeem_code(code).json()["error"] == "invalid_grant"
    with pytest.raises(InvalidToken), cast.performer.database.write_transaction(cast.organisation) as db:
        reread_actor(db, acting, cast.performer.clock())


def test_a_lapsed_subscription_still_gives_tokens_that_read(server: RunningServer, cast: Cast) -> None:
    cast.lapse()
    _, token = connect_app(server, cast, Role.OWNER, "write")
    assert call_tool(server, token, "get_organisation")["isError"] is False
    assert call_tool(server, token, "update_organisation", phone="5")["isError"] is True


def test_two_approvals_are_two_connections(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    person = sign_in_cast_member(server, cast)
    first, second = (app.connect(person, cast.organisation) for _ in range(2))
    assert app.revoke_token(first["access_token"]).status_code == 200
    assert ping_status(server, first["access_token"]) == 401
    assert ping_status(server, second["access_token"]) == 200


def test_a_connection_is_listed_and_owners_are_told_from_its_first_exchange(server: RunningServer, cast: Cast) -> None:
    name = f"Listed app {cast.organisation}"
    app = register_app(server, client_name=name)
    code = sign_in_cast_member(server, cast, Role.OFFICE).approve(app.make_authorize_url(), cast.organisation)["code"]
    assert cast.perform(list_connections)["data"] == []
    tokens = app.redeem_code(code).json()
    [listed] = cast.perform(list_connections)["data"]
    assert (listed["clientName"], listed["personName"], listed["access"]) == (name, "Orla Office", "read")
    app.refresh_tokens(tokens["refresh_token"])

    def find_emails() -> list[str] | None:
        """What the owner was told, once nothing waits any more."""
        with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            if db.one("SELECT 1 FROM outbox WHERE organisation_id = :org", org=cast.organisation):
                return None
        return [mail for mail in emails_to(server, EMAILS[Role.OWNER]) if name in mail]

    (mail,) = wait_until(find_emails)
    assert "Orla Office has connected the app" in mail


def test_the_news_of_a_connection_is_about_that_app_and_person(server: RunningServer, cast: Cast) -> None:
    names = {}
    for role in (Role.ADMIN, Role.OFFICE, Role.MEMBER):
        names[role] = f"App of {role} {cast.organisation}"
        register_app(server, client_name=names[role]).connect(
            sign_in_cast_member(server, cast, role), cast.organisation
        )

    def find_emails() -> list[str] | None:
        found = [mail for mail in emails_to(server, EMAILS[Role.OWNER]) if cast.organisation in mail]
        return found if len(found) == len(names) else None

    mails = wait_until(find_emails)
    for role, person in ((Role.ADMIN, "Adam Admin"), (Role.OFFICE, "Orla Office"), (Role.MEMBER, "Mia Member")):
        assert [f'{person} has connected the app "{names[role]}"' in mail for mail in mails].count(True) == 1


def test_owners_and_admins_see_and_end_all_others_their_own(server: RunningServer, cast: Cast) -> None:
    _, of_owner = connect_app(server, cast, Role.OWNER)
    _, of_office = connect_app(server, cast, Role.OFFICE)
    assert len(cast.perform(list_connections, Role.ADMIN)["data"]) == 2
    [own] = cast.perform(list_connections, Role.OFFICE)["data"]
    assert own["personId"] == cast.people[Role.OFFICE]
    [owners] = [found for found in cast.perform(list_connections)["data"] if found["id"] != own["id"]]
    with pytest.raises(NotFound):
        cast.perform(revoke_connection, Role.OFFICE, connectionId=owners["id"])
    cast.perform(revoke_connection, Role.OFFICE, connectionId=own["id"])
    assert (ping_status(server, of_office), ping_status(server, of_owner)) == (401, 200)
    cast.lapse()
    cast.perform(revoke_connection, Role.ADMIN, connectionId=owners["id"])
    assert ping_status(server, of_owner) == 401
    assert cast.perform(list_connections)["data"] == []


def test_the_last_use_of_a_connection_is_kept(server: RunningServer, cast: Cast) -> None:
    connect_app(server, cast)
    [listed] = cast.perform(list_connections)["data"]
    noted = LastUsed(cast.performer.database)
    now = cast.performer.clock()
    noted.note_use(cast.organisation, listed["id"], now)
    noted.write_uses()
    assert cast.perform(list_connections)["data"][0]["lastUsedAt"] == moment_text(now)


def test_a_connection_has_its_own_limit(server: RunningServer, cast: Cast) -> None:
    _, token = connect_app(server, cast)
    key = cast.make_key()
    assert ping_status(server, token) == 200
    assert server.request("GET", "/api/v1/organisation", key).headers["RateLimit-Remaining"] == "599"


def test_clients_never_approved_are_forgotten_after_a_day(server: RunningServer, cast: Cast) -> None:
    approved, never = register_app(server), register_app(server)
    approved.connect(sign_in_cast_member(server, cast), cast.organisation)
    for hours, gone in ((23, False), (25, True)):
        with cast.performer.database.write_transaction(ALL_ORGANISATIONS, keep=False) as db:
            delete_unapproved(db, cast.performer.clock() + timedelta(hours=hours))
            kept = [
                str(row[0])
                for row in db.all(
                    "SELECT id FROM oauth_client WHERE id IN (:a, :b)", a=approved.client_id, b=never.client_id
                )
            ]
        assert approved.client_id in kept
        assert (never.client_id not in kept) is gone
