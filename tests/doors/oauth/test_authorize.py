"""The authorization endpoint and the approval screen."""

from pathlib import Path
from typing import Any

import pytest

from mainstay.identity.clients import is_same_redirect
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import read_settings
from mainstay.vocabulary.permissions import Role
from support.browser_session import add_new_person
from support.cast import Cast
from support.in_process import run_in_process
from support.oauth_app import (
    CALLBACK,
    OAuthApp,
    SignedInPerson,
    hidden_value,
    redirect_parameters,
    register_app,
    sign_in_cast_member,
)
from support.servers import RunningServer


@pytest.fixture
def app(server: RunningServer) -> OAuthApp:
    return register_app(server)


def test_an_unknown_client_or_address_gets_a_page_and_never_a_redirect(
    server: RunningServer, cast: Cast, app: OAuthApp
) -> None:
    person = sign_in_cast_member(server, cast)
    for address in (
        app.make_authorize_url(client_id="client_nobody"),
        app.make_authorize_url(client_id=None),
        app.make_authorize_url(redirect_uri=None),
        app.make_authorize_url(redirect_uri=f"{CALLBACK}/"),
        app.make_authorize_url(redirect_uri=f"{CALLBACK}?x=1"),
        app.make_authorize_url(redirect_uri="http://localhost:9998/callback"),
        app.make_authorize_url(redirect_uri="https://evil.example/"),
        app.make_authorize_url() + "&redirect_uri=https%3A%2F%2Fevil.example",
        app.make_authorize_url() + "&client_id=x",
    ):
        answer = person.open(address)
        assert answer.status_code == 400
        assert answer.headers["Content-Type"].startswith("text/html")
        assert "Location" not in answer.headers


def test_someone_not_signed_in_is_sent_to_sign_in_before_any_other_fault(server: RunningServer, app: OAuthApp) -> None:
    for address in (app.make_authorize_url(), app.make_authorize_url(scope="other")):
        answer = server.request("GET", address)
        assert answer.status_code == 303
        assert answer.headers["Location"].startswith("/sign-in")
        assert "redirect" not in answer.headers["Location"]


REGISTERED_URI = "http://127.0.0.1:1111/cb"


# Whether the port may differ is decided before any database matters: the embedded one will do.
@pytest.mark.parametrize(("ports", "status"), [("exact", 400), ("any", 303)])
def test_a_setting_says_whether_the_port_of_the_loopback_may_change(tmp_path: Path, ports: str, status: int) -> None:
    settings = read_settings({"MAINSTAY_DATA": str(tmp_path), "MAINSTAY_LOOPBACK_PORTS": ports})
    with run_in_process(settings) as server:
        app = register_app(server, redirect_uris=[REGISTERED_URI])
        authorize_address = app.make_authorize_url(redirect_uri="http://127.0.0.1:2222/cb")
        assert server.request("GET", authorize_address).status_code == status


@pytest.mark.parametrize("given", ["http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", "http://127.0.0.1/cb"])
def test_the_port_of_the_loopback_may_change_where_it_is_allowed(given: str) -> None:
    assert is_same_redirect(given, REGISTERED_URI, any_loopback_port=True)
    assert not is_same_redirect(given, REGISTERED_URI, any_loopback_port=False)


@pytest.mark.parametrize(
    "given",
    [
        "http://127.0.0.1:65536/cb",
        "http://127.0.0.1:0/cb",
        "http://127.0.0.1:٣/cb",
        "http://127.0.0.1:2222/other",
        "http://localhost:1111/cb",
        "http://127.0.0.1:2222@elsewhere.example/cb",
        "http://elsewhere.example:1111/cb",
    ],
)
def test_nothing_but_the_port_of_the_loopback_may_change(given: str) -> None:
    assert not is_same_redirect(given, REGISTERED_URI, any_loopback_port=True)
    assert not is_same_redirect(
        given.replace("http", "https"), REGISTERED_URI.replace("http", "https"), any_loopback_port=True
    )


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "x" * 42}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1/mcp"}, "invalid_target"),
    ],
)
def test_other_faults_go_back_to_the_app(
    server: RunningServer, cast: Cast, app: OAuthApp, changes: dict[str, Any], error: str
) -> None:
    answer = sign_in_cast_member(server, cast).open(app.make_authorize_url(**changes))
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(f"{CALLBACK}?")
    words = redirect_parameters(answer)
    assert (words["error"], words["state"], words["iss"]) == (error, "the state", server.url)


def test_before_it_is_approved_an_app_on_the_device_is_not_started(server: RunningServer, cast: Cast) -> None:
    app = register_app(server, redirect_uris=["cursor://anysphere.cursor-mcp/oauth"])
    app.redirect_uri = "cursor://anysphere.cursor-mcp/oauth"
    person = sign_in_cast_member(server, cast)

    for changes in ({"response_type": "token"}, {"scope": "admin"}, {"resource": "https://other.example/mcp"}):
        answer = person.open(app.make_authorize_url(**changes))
        assert (answer.status_code, "Location" in answer.headers) == (400, False)
        assert "was not connected" in answer.text
    screen = person.open(app.make_authorize_url()).text
    denied = person.decide(
        app.make_authorize_url(), screen, organisation=cast.organisation, access="read", decision="deny"
    )
    assert (denied.status_code, "Location" in denied.headers) == (400, False)

    assert person.approve(app.make_authorize_url(), cast.organisation)["code"]


def test_an_address_that_was_registered_when_it_still_could_be_is_not_used(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run(
            "UPDATE oauth_client SET metadata = REPLACE(metadata, :old, :new) WHERE id = :id",
            old=CALLBACK,
            new="ms-msdt:x",
            id=app.client_id,
        )
    app.redirect_uri = "ms-msdt:x"

    answer = sign_in_cast_member(server, cast).open(app.make_authorize_url())

    assert (answer.status_code, "Location" in answer.headers) == (400, False)


def test_a_parameter_twice_goes_back_to_the_app(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    answer = sign_in_cast_member(server, cast).open(app.make_authorize_url() + "&state=other")
    assert redirect_parameters(answer)["error"] == "invalid_request"


def test_scope_and_resource_may_be_left_out_and_other_scopes_are_dropped(
    server: RunningServer, cast: Cast, app: OAuthApp
) -> None:
    person = sign_in_cast_member(server, cast)
    for changes in ({"scope": None}, {"resource": None}, {"scope": "openid mcp offline_access"}):
        assert person.open(app.make_authorize_url(**changes)).status_code == 200


def test_the_screen_shows_what_is_asked_and_keeps_its_headers(server: RunningServer, cast: Cast) -> None:
    app = register_app(server, client_name="Nice <b>app</b>")
    answer = sign_in_cast_member(server, cast).open(app.make_authorize_url())
    assert "Nice &lt;b&gt;app&lt;/b&gt;" in answer.text
    assert "localhost:9999" in answer.text
    assert 'value="read" checked' in answer.text
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action" not in policy
    assert "Cross-Origin-Opener-Policy" not in answer.headers
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_subcontractor_cannot_connect(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    # Someone with an account of their own: the cast's people are in the organisations of other tests too.
    person = sign_in_cast_member(server, cast, email=add_new_person(cast, Role.SUBCONTRACTOR).email)
    answer = person.open(app.make_authorize_url())
    assert redirect_parameters(answer)["error"] == "access_denied"


def test_a_member_is_offered_reading_only_and_cannot_take_more(
    server: RunningServer, cast: Cast, app: OAuthApp
) -> None:
    person = sign_in_cast_member(server, cast, email=add_new_person(cast, Role.MEMBER).email)
    screen = person.open(app.make_authorize_url()).text
    assert 'value="write"' not in screen
    choices = {"organisation": cast.organisation, "access": "write", "decision": "approve"}
    refused = person.decide(app.make_authorize_url(), screen, **choices)
    assert refused.status_code == 403
    assert "Location" not in refused.headers


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_office_people_may_grant_writing(server: RunningServer, cast: Cast, app: OAuthApp, role: Role) -> None:
    words = sign_in_cast_member(server, cast, role).approve(app.make_authorize_url(), cast.organisation, "write")
    assert words["code"].startswith("svc_ac_")
    assert (words["state"], words["iss"]) == ("the state", server.url)


def test_denying_tells_the_app(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person = sign_in_cast_member(server, cast)
    screen = person.open(app.make_authorize_url()).text
    answer = person.decide(
        app.make_authorize_url(), screen, organisation=cast.organisation, access="read", decision="deny"
    )
    assert (answer.status_code, redirect_parameters(answer)["error"]) == (303, "access_denied")


def test_an_answer_counts_once(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person = sign_in_cast_member(server, cast)
    screen = person.open(app.make_authorize_url()).text
    choices = {"organisation": cast.organisation, "access": "read", "decision": "approve"}
    assert person.decide(app.make_authorize_url(), screen, **choices).status_code == 303
    again = person.decide(app.make_authorize_url(), screen, **choices)
    assert again.status_code == 400
    assert "Location" not in again.headers


def test_an_answer_belongs_to_its_session_and_its_request(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person, other = sign_in_cast_member(server, cast), sign_in_cast_member(server, cast, Role.ADMIN)
    screen = person.open(app.make_authorize_url()).text
    choices = {"organisation": cast.organisation, "access": "read", "decision": "approve"}
    assert other.decide(app.make_authorize_url(), screen, **choices).status_code == 403
    assert person.decide(app.make_authorize_url(state="other"), screen, **choices).status_code == 400
    without_ticket = screen.replace('name="ticket"', 'name="other"')
    assert person.decide(app.make_authorize_url(), without_ticket, **choices).status_code == 400
    headers = {"Cookie": person.cookie, "Origin": "http://localhost:1"}
    assert server.request("POST", app.make_authorize_url(), form=choices, headers=headers).status_code == 403


def test_a_foreign_organisation_cannot_be_chosen(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person = sign_in_cast_member(server, cast)
    screen = person.open(app.make_authorize_url()).text
    choices = {"organisation": "org_01M7FEP0578J3HG4TG3KEGCVB7", "access": "read", "decision": "approve"}
    assert person.decide(app.make_authorize_url(), screen, **choices).status_code == 400


def test_looking_at_the_screen_changes_nothing(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person = sign_in_cast_member(server, cast)

    def counts() -> list[object]:
        with cast.performer.database.read_transaction(cast.organisation) as db:
            return [
                db.one(f"SELECT count(*) FROM {table}")
                for table in ("connection", "oauth_code", "oauth_ticket", "audit")
            ]

    before = counts()
    person.open(app.make_authorize_url())
    assert counts() == before


def test_whoever_answers_too_late_signs_in_and_gets_the_screen_again(
    server: RunningServer, cast: Cast, app: OAuthApp
) -> None:
    address = app.make_authorize_url()
    screen = sign_in_cast_member(server, cast).open(address).text
    answer = SignedInPerson(server, "mainstay=gone").decide(
        address, screen, organisation=cast.organisation, decision="approve"
    )
    assert answer.status_code == 303
    sign_in = server.request("GET", answer.headers["Location"])
    assert "Your session ended" in sign_in.text
    # People who are signed in go on at once to where the ticket leads.
    back = sign_in_cast_member(server, cast).open(server.url + answer.headers["Location"])
    assert server.url + back.headers["Location"] == address


def test_an_access_that_the_role_does_not_allow_shows_the_screen_again(
    server: RunningServer, cast: Cast, app: OAuthApp
) -> None:
    person, address = sign_in_cast_member(server, cast, Role.MEMBER), app.make_authorize_url()
    refused = person.decide(
        address, person.open(address).text, organisation=cast.organisation, access="write", decision="approve"
    )
    assert (refused.status_code, "You can connect apps with read access only" in refused.text) == (403, True)
    answer = person.decide(address, refused.text, organisation=cast.organisation, access="read", decision="approve")
    assert "code" in redirect_parameters(answer)


def test_an_answer_without_an_access_shows_the_screen_again(server: RunningServer, cast: Cast, app: OAuthApp) -> None:
    person, address = sign_in_cast_member(server, cast), app.make_authorize_url()
    answer = person.decide(address, person.open(address).text, organisation=cast.organisation, decision="approve")
    assert (answer.status_code, hidden_value(answer.text, "ticket") != "") == (400, True)
