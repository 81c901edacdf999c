"""What a program may not undo waits for its person, who confirms it in the office: once, and with the rights of now."""

from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.jobs.operations import create_job, get_job
from mainstay.business.people.operations import get_person
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.operations import get_visit
from mainstay.identity.connections import revoke_connection, update_connection
from mainstay.identity.keys import revoke_key, update_key
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.mcp_client import call_tool
from support.raw_http import PEOPLE
from support.servers import RunningServer
from support.stored_state import actor_through_app, actor_with_key, read_trail
from support.visits import plan_test_visit

pytestmark = pytest.mark.engines("sqlite", "postgresql")

SUMMARY = "Adam Admin (admin) will be removed from the organisation."


@pytest.fixture
def key(cast: Cast) -> str:
    """A key of the owner, who confirms in the office."""
    key = cast.make_key()
    cast.perform(update_key, keyId=actor_with_key(cast, key).credential, confirmsInOffice=True)
    return key


@pytest.fixture
def owner(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.OWNER)


def request_removal(server: RunningServer, cast: Cast, key: str, **given: Any) -> str:
    """Let a tool remove the admin, and return the path of the page that confirms it."""
    given = {"personId": cast.people[Role.ADMIN], "confirmed": True, **given}
    answer = call_tool(server, key, "remove_person", **given)["structuredContent"]
    assert answer["status"] == "confirmation"
    return str(answer["confirmation"]["url"]).removeprefix(server.url)


def status_of_admin(cast: Cast) -> str:
    return str(cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"])


def test_a_tool_answers_where_the_person_confirms(server: RunningServer, cast: Cast, key: str) -> None:
    given = {"personId": cast.people[Role.ADMIN]}
    # Previews are as ever.
    assert call_tool(server, key, "remove_person", **given)["structuredContent"]["status"] == "preview"
    assert (
        call_tool(server, key, "remove_person", **given, confirmed=True, dryRun=True)["structuredContent"]["status"]
        == "preview"
    )
    answer = call_tool(server, key, "remove_person", **given, confirmed=True)
    assert answer["isError"] is False
    confirmation = answer["structuredContent"]["confirmation"]
    assert confirmation.keys() == {"object", "id", "url", "expiresAt", "preview"}
    assert confirmation["preview"]["summary"] == SUMMARY
    text = answer["content"][0]["text"]
    assert text.startswith("Nothing has happened yet. Olivia Owner has to confirm it on the website by ")
    assert text.endswith(f": {server.url}/confirm/{confirmation['id']}")
    assert status_of_admin(cast) == "active"


def test_the_api_answers_202(server: RunningServer, cast: Cast, key: str) -> None:
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}/remove"
    answer = server.request("POST", path, key, json={"confirmed": True})
    assert (answer.status_code, answer.json()["object"]) == (202, "confirmation")
    assert status_of_admin(cast) == "active"
    # What is not possible is refused as ever.
    refused = server.request("POST", f"{PEOPLE}/{cast.people[Role.OWNER]}/remove", key, json={"confirmed": True})
    assert refused.status_code == 409
    # What can be changed again waits for nobody.
    assert server.request("POST", "/api/v1/customers", key, json={"name": "Hartley"}).status_code == 201


def test_the_person_confirms_and_the_program_has_done_it(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    path = request_removal(server, cast, key)
    page = owner.get(path)
    assert page.status_code == 200
    assert f"Requested by owner write. Nothing has changed yet. {SUMMARY}" in visible_text(page.text)
    done = owner.submit_page(page.text, path)
    assert "You confirmed this. It's done." in visible_text(owner.follow_redirect(done).text)
    assert status_of_admin(cast) == "left"
    by = read_trail(cast)[-1]["actor"]
    assert (by["person"]["name"], by["via"]["door"], by["via"]["client"]["name"]) == (
        "Olivia Owner",
        "agent",
        "owner write",
    )


def test_what_exceeds_the_limit_of_a_program_waits_although_it_can_be_undone(
    server: RunningServer, cast: Cast, owner: BrowserSession
) -> None:
    key = cast.make_key()
    cast.perform(update_key, keyId=actor_with_key(cast, key).credential, amountLimit="500.00")
    given = {"customerId": cast.perform(create_customer, name="Hartley")["id"], "method": "bank"}
    assert call_tool(server, key, "record_payment", **given, amount="500.00")["structuredContent"]["amount"] == "500.00"
    answer = call_tool(server, key, "record_payment", **given, amount="500.01")["structuredContent"]
    assert (answer["status"], len(cast.perform(list_payments)["data"])) == ("confirmation", 1)
    api = server.request("POST", "/api/v1/payments", key, json=given | {"amount": "1,000"})
    assert api.status_code == 422
    api = server.request("POST", "/api/v1/payments", key, json=given | {"amount": 1000})
    assert (api.status_code, api.json()["object"]) == (202, "confirmation")

    path = str(answer["confirmation"]["url"]).removeprefix(server.url)
    page = owner.get(path)
    assert "Requested by owner write. Nothing has changed yet." in visible_text(page.text)
    assert len(cast.perform(list_payments)["data"]) == 1
    done = owner.submit_page(page.text, path)
    assert "You confirmed this. It's done." in visible_text(owner.follow_redirect(done).text)
    owner.submit_page(page.text, path)
    assert [one["amount"] for one in cast.perform(list_payments)["data"]] == ["500.01", "500.00"]


def test_a_program_that_loses_the_area_meanwhile_is_not_confirmed(
    server: RunningServer, cast: Cast, owner: BrowserSession
) -> None:
    key = cast.make_key()
    credential = actor_with_key(cast, key).credential
    cast.perform(update_key, keyId=credential, amountLimit="0")
    given = {"customerId": cast.perform(create_customer, name="Hartley")["id"], "method": "bank", "amount": "5"}
    answer = call_tool(server, key, "record_payment", **given)["structuredContent"]
    path = str(answer["confirmation"]["url"]).removeprefix(server.url)
    page = owner.get(path).text
    cast.perform(update_key, keyId=credential, toolsets=["jobs"])
    assert owner.submit_page(page, path).status_code == 403
    assert cast.perform(list_payments)["data"] == []


def test_it_counts_once(server: RunningServer, cast: Cast, key: str, owner: BrowserSession) -> None:
    path = request_removal(server, cast, key)
    page = owner.get(path).text
    owner.submit_page(page, path)
    before = read_trail(cast)
    again = owner.submit_page(page, path)
    assert "You confirmed this. It's done." in visible_text(again.text)
    assert read_trail(cast) == before


def test_only_the_person_of_the_program_opens_the_page(server: RunningServer, cast: Cast, key: str) -> None:
    path = request_removal(server, cast, key)
    admin = sign_in_cast(server, cast, Role.ADMIN)
    assert admin.get(path).status_code == 404
    assert admin.submit_page(admin.get("/").text, path).status_code == 404
    assert BrowserSession(server).get(path).status_code == 303
    assert sign_in_cast(server, cast, Role.OWNER).get("/confirm/confirmation_unknown").status_code == 404
    assert status_of_admin(cast) == "active"


def test_without_the_token_of_the_form_nothing_happens(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    path = request_removal(server, cast, key)
    assert owner.post(path, {"other": "x"}).status_code == 403
    assert status_of_admin(cast) == "active"


def test_if_it_would_differ_the_page_shows_it_again(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    path = request_removal(server, cast, key)
    page = owner.get(path).text
    cast.make_key(role=Role.ADMIN)
    different = owner.submit_page(page, path)
    assert different.status_code == 409
    assert "API keys created by Adam Admin" in visible_text(different.text)
    assert status_of_admin(cast) == "active"
    owner.submit_page(different.text, path)
    assert status_of_admin(cast) == "left"


def test_it_expires(server: RunningServer, cast: Cast, key: str, owner: BrowserSession) -> None:
    path = request_removal(server, cast, key)
    page = owner.get(path).text
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE confirmation SET expires_at = '2026' WHERE organisation_id = :organisation")
    assert owner.get(path).status_code == 404
    assert owner.submit_page(page, path).status_code == 404
    assert status_of_admin(cast) == "active"


def test_the_rights_are_those_of_now(server: RunningServer, cast: Cast, key: str, owner: BrowserSession) -> None:
    path = request_removal(server, cast, key)
    page = owner.get(path).text
    cast.lapse()
    assert owner.submit_page(page, path).status_code == 402
    cast.renew()
    cast.perform(revoke_key, keyId=actor_with_key(cast, key).credential)
    refused = owner.submit_page(page, path)
    assert refused.status_code == 409
    assert "The access of the program has ended." in visible_text(refused.text)
    assert status_of_admin(cast) == "active"


def test_a_repeat_with_the_same_key_gets_the_answer_once_it_is_confirmed(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    path = request_removal(server, cast, key, idempotencyKey="one")
    owner.submit_page(owner.get(path).text, path)
    given = {"personId": cast.people[Role.ADMIN], "confirmed": True, "idempotencyKey": "one"}
    repeated = call_tool(server, key, "remove_person", **given)["structuredContent"]
    assert (repeated["status"], repeated["result"]["status"]) == ("done", "left")


def test_a_connected_app_waits_as_well(cast: Cast) -> None:
    app = actor_through_app(cast, Role.OWNER)
    cast.perform(update_connection, connectionId=app.credential, confirmsInOffice=True)
    request = RequestDetails("req_1")
    given = {"personId": cast.people[Role.ADMIN], "confirmed": True}
    assert cast.answer(remove_person, app, request=request, **given).awaits_confirmation
    assert status_of_admin(cast) == "active"
    cast.perform(update_connection, connectionId=app.credential, confirmsInOffice=False)
    assert not cast.answer(remove_person, app, request=request, **given).awaits_confirmation
    assert status_of_admin(cast) == "left"


def test_an_app_is_changed_by_its_person_or_who_manages_apps(cast: Cast) -> None:
    app = actor_through_app(cast, Role.OFFICE)
    for role in (Role.OFFICE, Role.ADMIN):
        cast.perform(update_connection, role, connectionId=app.credential, confirmsInOffice=True)
    with pytest.raises(NotFound):
        cast.perform(update_connection, Role.MEMBER, connectionId=app.credential, confirmsInOffice=False)
    cast.perform(revoke_connection, connectionId=app.credential)
    with pytest.raises(Conflict):
        cast.perform(update_connection, connectionId=app.credential, confirmsInOffice=False)


@pytest.mark.parametrize("kind", ["keys", "mcp"])
def test_the_switch_is_on_the_page_of_the_key_or_app(cast: Cast, owner: BrowserSession, kind: str) -> None:
    record = (
        actor_with_key(cast, cast.make_key()) if kind == "keys" else actor_through_app(cast, Role.OWNER)
    ).credential
    path = f"/settings/developer/{kind}/{record}"
    assert "Confirm on the website No" in visible_text(owner.get(path).text)
    form = owner.get(f"{path}/edit").text
    assert 'name="confirmsInOffice"' in form
    saved = owner.submit_page(form, f"{path}/edit", confirmsInOffice="yes")
    assert "Confirm on the website Yes" in visible_text(owner.follow_redirect(saved).text)
    cleared = owner.submit_form(f"{path}/edit")
    assert "Confirm on the website No" in visible_text(owner.follow_redirect(cleared).text)


def make_job_with_change(cast: Cast, by: Actor | Role = Role.OFFICE) -> tuple[str, str]:
    """Create a job, which is undone by cancelling it; return its id and that of the change."""
    customer = cast.perform(create_customer, name="Hartley")["id"]
    answer = cast.answer(create_job, by, customerId=customer, title="Boiler")
    return orjson.loads(answer.body)["id"], str(answer.undoable_change)


def is_cancelled(cast: Cast, job: str) -> bool:
    return bool(cast.perform(get_job, jobId=job)["status"] == "cancelled")


def test_an_undo_of_what_a_colleague_did_waits_if_it_is_irreversible(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    job, change = make_job_with_change(cast)
    answer = server.request("POST", "/api/v1/changes/undo", key, json={"changeIds": [change]})
    assert (answer.status_code, answer.json()["object"], is_cancelled(cast, job)) == (202, "confirmation", False)
    path = str(answer.json()["url"]).removeprefix(server.url)
    page = owner.get(path)
    text = visible_text(page.text)
    assert "Requested by owner write. Nothing has changed yet." in text
    assert "Boiler will be cancelled: Created by mistake" in text
    # What the page showed is what is done.
    refused = owner.submit_page(page.text, path, previewToken="another")
    assert (refused.status_code, is_cancelled(cast, job)) == (409, False)
    done = owner.submit_page(page.text, path)
    assert "You confirmed this. It's done." in visible_text(owner.follow_redirect(done).text)
    assert is_cancelled(cast, job)
    assert read_trail(cast)[-1]["actor"]["via"]["client"]["name"] == "owner write"


def test_several_that_are_undone_together_are_all_named(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    made = [make_job_with_change(cast) for _ in range(2)]
    answer = call_tool(server, key, "undo_change", changeIds=[change for _, change in made])["structuredContent"]
    assert answer["status"] == "confirmation"
    assert answer["confirmation"]["preview"]["summary"] == "Undo change."
    effects = answer["confirmation"]["preview"]["effects"]
    assert sum("Boiler will be cancelled: Created by mistake" in effect for effect in effects) == 2
    path = str(answer["confirmation"]["url"]).removeprefix(server.url)
    owner.submit_page(owner.get(path).text, path)
    assert [is_cancelled(cast, job) for job, _ in made] == [True, True]


def test_what_a_program_did_without_its_person_it_undoes_without_them(
    server: RunningServer, cast: Cast, key: str
) -> None:
    job, change = make_job_with_change(cast, actor_with_key(cast, key))
    assert call_tool(server, key, "undo_change", changeIds=[change])["structuredContent"]["changeIds"] == [change]
    assert is_cancelled(cast, job)
    # What a colleague did, and can be changed again, waits for nobody either.
    customer = cast.perform(create_customer, name="Calder")["id"]
    renamed = cast.answer(update_customer, Role.OFFICE, customerId=customer, name="Calder Ltd").undoable_change
    call_tool(server, key, "undo_change", changeIds=[str(renamed)])
    assert cast.perform(get_customer, customerId=customer)["name"] == "Calder"


def test_what_the_person_has_confirmed_is_not_undone_without_them(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession
) -> None:
    visits = [plan_test_visit(cast), plan_test_visit(cast, times=("13:00", "14:00"))]
    changes = [{"change": "cancel", "visitId": visit["id"]} for visit in visits]
    planned = call_tool(server, key, "plan_schedule", changes=changes, confirmed=True)["structuredContent"]
    path = str(planned["confirmation"]["url"]).removeprefix(server.url)
    owner.submit_page(owner.get(path).text, path)
    change = read_trail(cast)[-1]["sequence"]
    answer = call_tool(server, key, "undo_change", changeIds=[str(change)])["structuredContent"]
    assert answer["status"] == "confirmation"
    assert [cast.perform(get_visit, visitId=visit["id"])["status"] for visit in visits] == ["cancelled"] * 2


def test_a_program_cannot_have_ever_more_operations_waiting(
    server: RunningServer, cast: Cast, key: str, owner: BrowserSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.changes.confirmations.MAX_WAITING", 2)
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}/remove"

    def ask(with_key: str = key) -> tuple[int, dict[str, Any]]:
        answer = server.request("POST", path, with_key, json={"confirmed": True})
        return answer.status_code, answer.json()

    first = ask()[1]["url"].removeprefix(server.url)
    assert ask()[0] == 202
    refused = ask()
    assert refused[0] == 409
    assert refused[1]["error"].startswith("2 operations already wait until their person confirms them on the website.")
    # Another program of the same person may still ask, and so may this one when the person has confirmed.
    other = cast.make_key()
    cast.perform(update_key, keyId=actor_with_key(cast, other).credential, confirmsInOffice=True)
    assert ask(other)[0] == 202
    owner.submit_page(owner.get(first).text, first)
    assert status_of_admin(cast) == "left"
    path = f"{PEOPLE}/{cast.people[Role.OFFICE]}/remove"
    assert ask()[0] == 202
    assert ask()[0] == 409
