"""Who may come in by the HTTP API: keys, and nothing else."""

from urllib.parse import urlencode

import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.routes import endpoints_of
from mainstay.identity.keys import list_keys, revoke_key
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Access, Role
from rules.examples_any import make_example_input
from support.cast import EMAILS, PASSWORD, Cast, temporary_cast
from support.oauth_app import register_app, sign_in_cast_member
from support.raw_http import JSON, NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer

NOT_VALID = "This API key is not valid. It may have been revoked."
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def test_the_organisation_is_the_one_the_key_belongs_to(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    for each in (cast, other_cast):
        answer = server.request("GET", ORGANISATION, each.make_key(Access.READ))

        assert answer.status_code == 200
        shown = answer.json()
        assert shown["id"] == each.organisation
        assert shown["subscription"] == {"status": "active"}
        assert set(shown) == {
            *("object", "id", "name", "legalName", "taxNumber", "address", "email", "phone", "country", "currency"),
            *("timeZone", "subscription", "createdAt", "createdBy", "updatedAt", "updatedBy", "version", "url"),
            *("registrationNumber", "bank", "eInvoiceAddress", "availableActions"),
        }
        assert shown["object"] == "organisation"


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/", ORGANISATION, PEOPLE, "/api/v1/openapi.json", "/api/v1/no/x"])
def test_every_path_under_the_api_needs_a_key_whatever_the_method(server: RunningServer, path: str) -> None:
    for method in METHODS:
        answer = server.request(method, path)

        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        if method != "HEAD":
            assert check_refusal(answer, 401) == NOT_VALID


def test_the_scheme_may_be_written_in_any_case(server: RunningServer, cast: Cast) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        answer = server.request("GET", ORGANISATION, headers={"Authorization": f"{scheme} {cast.make_key()}"})

        assert answer.status_code == 200


def test_a_key_counts_in_the_header_only(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    for name in ("access_token", "key", "api_key", "token"):
        check_refusal(server.request("GET", f"{ORGANISATION}?{name}={key}"), 401)
    check_refusal(server.request("GET", ORGANISATION, headers={"Cookie": f"session={key}; key={key}"}), 401)
    check_refusal(server.request("GET", ORGANISATION, headers={"X-Api-Key": key}), 401)
    check_refusal(server.request("POST", PEOPLE, json={"key": key, **NEW_PERSON}), 401)


def test_an_access_token_and_an_office_session_open_no_path_of_the_api(server: RunningServer, cast: Cast) -> None:
    person = sign_in_cast_member(server, cast)
    token = register_app(server).connect(person, cast.organisation, "write")["access_token"]
    assert token.startswith("svc_at_")

    for path in (ORGANISATION, "/api/v1/me", "/api/v1/nowhere"):
        assert check_refusal(server.request("GET", path, token), 401) == NOT_VALID
        assert check_refusal(server.request("GET", path, headers={"Cookie": person.cookie}), 401) == NOT_VALID


def test_a_revoked_key_is_refused_from_the_next_request_on_by_every_worker(server: RunningServer, cast: Cast) -> None:
    revoked, kept = cast.make_key(), cast.make_key()
    assert server.request("GET", ORGANISATION, revoked).status_code == 200
    [_, record_id] = [key["id"] for key in cast.perform(list_keys)["data"]]

    cast.perform(revoke_key, keyId=record_id)

    # Each request has a connection of its own, so that both workers are asked.
    for _ in range(20):
        assert check_refusal(server.request("GET", ORGANISATION, revoked), 401) == NOT_VALID
    assert server.request("GET", ORGANISATION, kept).status_code == 200


def test_a_key_ends_when_its_maker_leaves_and_does_not_come_back_with_them(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    assert server.request("GET", ORGANISATION, key).status_code == 200

    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    assert check_refusal(server.request("GET", ORGANISATION, key), 401) == NOT_VALID

    cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Adam Admin",
        email=EMAILS[Role.ADMIN],
        role="admin",
        password=PASSWORD,
    )
    check_refusal(server.request("GET", ORGANISATION, key), 401)
    assert server.request("GET", ORGANISATION, cast.make_key(role=Role.ADMIN)).status_code == 200


@pytest.mark.parametrize("role", ["office", "member", "subcontractor"])
def test_a_key_ends_when_its_maker_is_no_longer_owner_or_admin(server: RunningServer, cast: Cast, role: str) -> None:
    key = cast.make_key(role=Role.ADMIN)

    cast.perform(change_role, personId=cast.people[Role.ADMIN], role=role, confirmed=True)
    assert check_refusal(server.request("GET", ORGANISATION, key), 401) == NOT_VALID

    cast.perform(change_role, personId=cast.people[Role.ADMIN], role="admin", confirmed=True)
    check_refusal(server.request("GET", ORGANISATION, key), 401)


@pytest.mark.parametrize("change", ["role = 'office'", "role = 'member'", "status = 'left'", "status = 'invited'"])
def test_a_key_is_refused_by_what_its_maker_is_however_that_came_to_be(
    server: RunningServer, cast: Cast, change: str
) -> None:
    key = cast.make_key(role=Role.ADMIN)

    # Nobody has ended the key: the person's own row is enough.
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            f"UPDATE person SET {change} WHERE organisation_id = :organisation AND id = :id",
            id=cast.people[Role.ADMIN],
        )

    assert check_refusal(server.request("GET", ORGANISATION, key), 401) == NOT_VALID


def test_a_key_has_the_rights_its_maker_has_now(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(role=Role.OWNER)
    second = cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Otto Owner",
        email="otto@cast.example",
        role="owner",
        password=PASSWORD,
    )
    path = f"{PEOPLE}/{second['id']}"
    assert server.request("PATCH", path, key, json={"phone": "1"}).status_code == 200

    cast.perform(change_role, personId=cast.people[Role.OWNER], role="admin", confirmed=True)

    assert server.request("GET", "/api/v1/me", key).json()["role"] == "admin"
    assert check_refusal(server.request("PATCH", path, key, json={"phone": "2"}), 403).startswith("Only an owner")


def test_what_a_key_changes_carries_its_makers_name(server: RunningServer, cast: Cast) -> None:
    answer = server.request("POST", PEOPLE, cast.make_key(role=Role.ADMIN), json=NEW_PERSON)

    stamp = answer.json()["createdBy"]
    assert stamp["person"] == {"id": cast.people[Role.ADMIN], "name": "Adam Admin"}
    assert stamp["via"]["door"] == "api"
    assert stamp["via"]["client"]["name"] == "admin write"


def test_a_read_only_key_may_call_every_get(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(Access.READ)
    gets = [endpoint for endpoint in endpoints_of(CATALOGUE.operations) if endpoint.method == "GET"]
    assert len(gets) >= 4

    for endpoint in gets:
        with temporary_cast(cast.performer) as alone:
            key = alone.make_key(Access.READ)
            given = make_example_input(alone, endpoint.operation) or {"personId": alone.people[Role.OWNER]}
            if endpoint.operation.name != "get_person" and "personId" in given:
                given = {}
            path = endpoint.path.format(**given)
            query = urlencode({name: value for name, value in given.items() if name not in endpoint.path_parameters})
            assert server.request("GET", f"/api/v1{path}?{query}", key).status_code == 200
    assert server.request("GET", "/api/v1/openapi.json", key).status_code == 200


def test_a_read_only_key_may_make_no_change_also_when_the_subscription_has_lapsed(
    server: RunningServer, cast: Cast
) -> None:
    key = cast.make_key(Access.READ)
    writes = [endpoint for endpoint in endpoints_of(CATALOGUE.operations) if endpoint.method != "GET"]
    assert len(writes) >= 4

    for lapse in (False, True):
        if lapse:
            cast.lapse()
        for endpoint in writes:
            path = endpoint.path.format(**dict.fromkeys(endpoint.path_parameters, cast.people[Role.MEMBER]))
            assert "read only" in check_refusal(
                server.request(endpoint.method, f"/api/v1{path}", key, headers=JSON, content=b"{}"), 403
            )


def test_a_lapsed_subscription_closes_writes_and_leaves_reads_open(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    cast.lapse()

    assert "subscription" in check_refusal(server.request("POST", PEOPLE, key, json=NEW_PERSON), 402)
    assert check_refusal(server.request("PATCH", ORGANISATION, key, json={"name": "Other"}), 402)
    for path in (ORGANISATION, PEOPLE, "/api/v1/me", f"{PEOPLE}/{cast.people[Role.OWNER]}"):
        assert server.request("GET", path, key).status_code == 200
    assert server.request("GET", ORGANISATION, key).json()["subscription"] == {"status": "inactive"}

    cast.renew()
    assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201


def test_the_header_may_name_the_keys_own_organisation_and_no_other(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    key = cast.make_key()
    assert server.request("GET", ORGANISATION, key, headers={"X-Organisation-Id": cast.organisation}).is_success

    texts = {
        check_refusal(server.request("GET", ORGANISATION, key, headers={"X-Organisation-Id": other}), 404)
        for other in (other_cast.organisation, "org_00000000000000000000000000", "nonsense", "")
    }
    assert len(texts) == 1
    made = server.request("POST", PEOPLE, key, headers={"X-Organisation-Id": other_cast.organisation}, json=NEW_PERSON)
    check_refusal(made, 404)
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 5
    assert len(server.request("GET", PEOPLE, other_cast.make_key()).json()["data"]) == 5
