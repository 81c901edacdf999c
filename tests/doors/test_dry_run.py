"""A dry run of a write says what would happen, with the access that the write needs, and does nothing."""

import pytest

from mainstay.business.customers.operations import create_customer, get_customer, list_customers
from mainstay.business.jobs.operations import create_job
from mainstay.vocabulary.permissions import Access
from support.cast import Cast
from support.customers import make_customer
from support.mcp_client import call_tool
from support.raw_http import PEOPLE, check_refusal
from support.servers import RunningServer
from support.stored_state import read_rows_of

DRY_RUN = {"Prefer": "dry-run"}
CUSTOMERS, JOBS = "/api/v1/customers", "/api/v1/jobs"


def test_a_record_is_not_created(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    answer = server.request("POST", CUSTOMERS, key, json={"name": "Hartley"}, headers=DRY_RUN)
    assert answer.status_code == 200
    assert answer.headers["Preference-Applied"] == "dry-run"
    assert "ETag" not in answer.headers
    assert answer.json() == {
        "object": "preview",
        "operation": "create_customer",
        "summary": f"{create_customer.title}.",
        "effects": [],
        "warnings": [],
        "blockers": [],
        "email": None,
    }
    assert cast.perform(list_customers)["data"] == []


def test_a_change_names_the_fields_that_would_change(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    before = cast.perform(get_customer, customerId=customer)
    body = {"phone": "+44 20 7946 0000", "name": before["name"]}
    answer = server.request("PATCH", f"{CUSTOMERS}/{customer}", key, json=body, headers=DRY_RUN)
    assert answer.json()["effects"] == [f"{customer} will be changed: phone."]
    assert cast.perform(get_customer, customerId=customer) == before


def test_no_number_and_no_idempotency_key_is_used(server: RunningServer, cast: Cast) -> None:
    key, body = cast.make_key(), {"customerId": make_customer(cast), "title": "Roof"}
    before = read_rows_of(cast)
    tried = server.request("POST", JOBS, key, json=body, headers={**DRY_RUN, "Idempotency-Key": "one"})
    assert tried.json()["object"] == "preview"
    # The worker writes to other tables at the same time.
    assert [name for name in ("job", "event", "replay") if read_rows_of(cast)[name] != before[name]] == []
    done = server.request("POST", JOBS, key, json=body, headers={"Idempotency-Key": "one"})
    assert (done.status_code, "Preference-Applied" in done.headers) == (201, False)
    assert "Idempotent-Replayed" not in done.headers
    assert done.json()["number"].endswith("1")


def test_it_needs_the_access_that_the_change_needs(server: RunningServer, cast: Cast) -> None:
    reading, writing = cast.make_key(Access.READ), cast.make_key()
    check_refusal(server.request("POST", CUSTOMERS, reading, json={"name": "H"}, headers=DRY_RUN), 403)
    check_refusal(server.request("POST", CUSTOMERS, writing, json={}, headers=DRY_RUN), 422)
    check_refusal(server.request("POST", f"{PEOPLE}/nobody/remove", writing, json={}, headers=DRY_RUN), 404)
    cast.lapse()
    check_refusal(server.request("POST", CUSTOMERS, writing, json={"name": "H"}, headers=DRY_RUN), 402)
    refused = call_tool(server, writing, "create_customer", name="H", dryRun=True)
    assert refused["isError"]


def test_what_is_irreversible_is_not_done_even_if_confirmed(server: RunningServer, cast: Cast) -> None:
    key, (person, *_) = cast.make_key(), [one for role, one in cast.people.items() if role == "member"]
    answer = server.request(
        "POST", f"{PEOPLE}/{person}/remove", key, json={"confirmed": True}, headers={"Prefer": "wait=5, Dry-Run; x=1"}
    )
    assert answer.json()["object"] == "preview"
    assert server.request("GET", f"{PEOPLE}/{person}", key).json()["status"] == "active"


@pytest.mark.parametrize("prefer", ["", "wait=10", "return=minimal", "no-dry-run", "x; dry-run"])
def test_other_preferences_are_ignored(server: RunningServer, cast: Cast, prefer: str) -> None:
    answer = server.request("POST", CUSTOMERS, cast.make_key(), json={"name": "Hartley"}, headers={"Prefer": prefer})
    assert answer.status_code == 201


def test_a_read_ignores_the_preference(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", CUSTOMERS, cast.make_key(), headers=DRY_RUN)
    assert (answer.status_code, answer.json()["object"]) == (200, "list")
    assert "Preference-Applied" not in answer.headers


def test_a_tool_is_tried(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    tried = call_tool(server, key, "create_customer", name="Hartley", dryRun=True)
    assert tried["structuredContent"]["status"] == "preview"
    assert tried["structuredContent"]["preview"]["operation"] == "create_customer"
    assert tried["content"][0]["text"].endswith("To do it, call create_customer again without dryRun.")
    assert cast.perform(list_customers)["data"] == []
    done = call_tool(server, key, "create_customer", name="Hartley", dryRun=False)
    assert done["structuredContent"]["object"] == "customer"


def test_a_tool_names_what_is_against_it(server: RunningServer, cast: Cast) -> None:
    key, customer = cast.make_key(), make_customer(cast)
    job = cast.perform(create_job, customerId=customer, title="Roof")
    tried = call_tool(server, key, "archive_customer", customerId=customer, dryRun=True)
    assert tried["isError"] is False
    assert tried["structuredContent"]["preview"]["blockers"]
    assert job["number"] in tried["content"][0]["text"] or "job" in tried["content"][0]["text"]


@pytest.mark.parametrize("wrong", ["true", 1, None])
def test_only_a_boolean_is_taken(server: RunningServer, cast: Cast, wrong: object) -> None:
    refused = call_tool(server, cast.make_key(), "create_customer", name="Hartley", dryRun=wrong)
    assert refused["content"][0]["text"].startswith("dryRun: is not true or false")


def test_a_tool_that_reads_takes_none(server: RunningServer, cast: Cast) -> None:
    refused = call_tool(server, cast.make_key(), "get_me", dryRun=True)
    assert refused["content"][0]["text"].startswith("dryRun: is not known here")
