from typing import Any

import pytest

from mainstay.business.customers import customer_changed as moved
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, get_customer, list_customers
from mainstay.business.customers.sites_and_contacts import get_contact, get_site, list_contacts, list_sites
from mainstay.business.invoices.drafting.operations import get_invoice
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.quotes.operations import get_quote
from mainstay.business.records.history import get_history
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import list_task_kinds, make_contact, make_customer, make_job, make_site, run_all_tasks
from support.invoices import issue_invoice, make_invoice
from support.quotes import issue_quote, make_quote
from support.stored_state import list_events_of, operations_on, read_rows_of, records_in_trail


def merge(cast: Cast, ended: str, stays: str, *, confirmed: bool = True, role: Role = Role.ADMIN) -> dict[str, Any]:
    return cast.perform(merge_customers, role, customerId=ended, intoCustomerId=stays, confirmed=confirmed)


def test_everything_goes_over_and_the_one_that_ends_is_archived(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn", phone="1")
    contact, site, job = make_contact(cast, ended), make_site(cast, ended), make_job(cast, ended)["id"]
    merged = merge(cast, ended, stays)
    assert (merged["id"], merged["name"], merged["phone"], merged["status"]) == (stays, "Ryburn", "1", "active")
    assert cast.perform(get_contact, contactId=contact)["customerId"] == stays
    assert cast.perform(get_site, siteId=site)["customerName"] == "Ryburn"
    moved = cast.perform(get_job, jobId=job)
    assert (moved["customerId"], moved["customerName"], moved["version"]) == (stays, "Ryburn", 2)
    gone = cast.perform(get_customer, customerId=ended)
    assert (gone["status"], gone["mergedIntoId"]) == ("archived", stays)
    for record in (ended, stays, contact, site, job):
        assert operations_on(cast, record)[-1] == "merge_customers"


def test_the_trail_names_all_that_went_over_however_much_and_a_history_some_of_it(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    sites = [make_site(cast, ended) for _ in range(120)]
    merge(cast, ended, stays)
    assert {operations_on(cast, site)[-1] for site in sites} == {"merge_customers"}
    assert set(records_in_trail(cast)[-1]) == {ended, stays, *sites}
    newest = cast.perform(get_history, recordId=stays)["data"][0]
    assert (newest["operation"], newest["records"]) == ("merge_customers", [ended, stays, *sites][:100])


def test_who_was_merged_before_is_in_the_trail_as_well(cast: Cast) -> None:
    first, second, third = (make_customer(cast, name) for name in ("Calder", "Ryburn", "Colne"))
    merge(cast, first, second)
    merge(cast, second, third)
    assert operations_on(cast, first) == ["create_customer", "merge_customers", "merge_customers"]
    assert set(records_in_trail(cast)[-1]) == {first, second, third}


def test_lists_of_either_show_it(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    make_contact(cast, ended), make_site(cast, ended), make_job(cast, ended)
    merge(cast, ended, stays)
    for operation in (list_jobs, list_sites, list_contacts):
        assert len(cast.perform(operation, customerId=stays)["data"]) == 1
        assert cast.perform(operation, customerId=ended)["data"] == []


def test_members_see_the_customer_that_has_their_job_now(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    make_job(cast, ended, Role.MEMBER)
    merge(cast, ended, stays)
    assert [customer["id"] for customer in cast.perform(list_customers, Role.MEMBER)["data"]] == [stays]
    assert len(cast.perform(list_jobs, Role.MEMBER, customerId=stays)["data"]) == 1
    with pytest.raises(NotFound):
        cast.perform(get_customer, Role.MEMBER, customerId=ended)


def test_a_preview_tells_what_would_happen_and_does_nothing(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    make_contact(cast, ended), make_site(cast, ended), make_site(cast, ended)
    make_job(cast, ended, Role.MEMBER)
    before = read_rows_of(cast)
    preview = merge(cast, ended, stays, confirmed=False)
    assert preview.pop("previewToken")
    assert preview == {
        "object": "preview",
        "operation": "merge_customers",
        "summary": "Calder Property will be merged into Ryburn.",
        "effects": [
            "1 contact will move to Ryburn.",
            "2 sites will move to Ryburn.",
            "1 job will move to Ryburn.",
            "Calder Property will be archived for good.",
        ],
        "warnings": [],
        "blockers": [],
        "email": None,
    }
    assert read_rows_of(cast) == before


def test_what_they_had_is_found_by_the_other_s_name_then(only_cast: Cast) -> None:
    ended, stays = make_customer(only_cast), make_customer(only_cast, "Ryburn Estates")
    contact, site, job = make_contact(only_cast, ended), make_site(only_cast, ended), make_job(only_cast, ended)["id"]
    merge(only_cast, ended, stays)
    run_all_tasks(only_cast)
    for operation, record in ((list_contacts, contact), (list_sites, site), (list_jobs, job)):
        assert [one["id"] for one in only_cast.perform(operation, text="ryburn")["data"]] == [record]
        assert only_cast.perform(operation, text="calder")["data"] == []


def test_each_job_that_went_over_is_told_of_once_with_the_customer_before(
    only_cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moved, "_BATCH_SIZE", 2)
    ended, stays = make_customer(only_cast), make_customer(only_cast, "Ryburn Estates")
    jobs = [make_job(only_cast, ended)["id"] for _ in range(5)]
    untouched = make_job(only_cast, stays)["id"]
    run_all_tasks(only_cast)
    before = len(list_events_of(only_cast))
    merge(only_cast, ended, stays)
    # The merge does not wait for these events, however many there are: some are emitted at a time.
    assert len(list_events_of(only_cast)) == before
    assert list_task_kinds(only_cast).count("tell_of_moved_jobs") == 3
    run_all_tasks(only_cast)
    new_events = list_events_of(only_cast)[before:]
    assert [event["type"] for event in new_events] == ["job.updated"] * 5
    assert sorted(event["data"]["object"]["id"] for event in new_events) == sorted(jobs)
    for event in new_events:
        now = event["data"]["object"]
        assert (now["customerId"], now["customerName"], now["version"]) == (stays, "Ryburn Estates", 2)
        assert event["data"]["previous"] == {"customerId": ended, "customerName": "Calder Property"}
    assert operations_on(only_cast, jobs[0])[-1] == "tell_of_moved_jobs"
    assert operations_on(only_cast, untouched)[-1] == "create_job"


def test_each_quote_and_invoice_that_went_over_is_told_of_in_whatever_state_it_is(only_cast: Cast) -> None:
    ended, stays = make_customer(only_cast, email="c@calder.example"), make_customer(only_cast, "Ryburn Estates")
    quotes = [
        make_quote(only_cast, customerId=ended)["id"],
        issue_quote(only_cast, make_quote(only_cast, customerId=ended))["id"],
    ]
    invoices = [
        make_invoice(only_cast, customerId=ended)["id"],
        issue_invoice(only_cast, make_invoice(only_cast, customerId=ended))["id"],
    ]
    run_all_tasks(only_cast)
    before = len(list_events_of(only_cast))
    merge(only_cast, ended, stays)
    assert len(list_events_of(only_cast)) == before
    run_all_tasks(only_cast)
    new_events = list_events_of(only_cast)[before:]
    found = sorted((event["type"], event["data"]["object"]["id"]) for event in new_events)
    assert found == sorted([("quote.updated", one) for one in quotes] + [("invoice.updated", one) for one in invoices])
    for event in new_events:
        now = event["data"]["object"]
        assert (now["customerId"], now["customerName"]) == (stays, "Ryburn Estates")
        assert event["data"]["previous"] == {"customerId": ended, "customerName": "Calder Property"}
        read = get_quote if event["type"].startswith("quote") else get_invoice
        kept = only_cast.perform(read, **{f"{now['object']}Id": now["id"]})
        assert (kept["version"], kept["updatedAt"]) == (now["version"], now["updatedAt"])
    assert operations_on(only_cast, quotes[0])[-1] == "tell_of_moved_quotes"
    assert operations_on(only_cast, invoices[1])[-1] == "tell_of_moved_invoices"


def test_into_itself_is_refused(cast: Cast) -> None:
    customer = make_customer(cast)
    with pytest.raises(Conflict, match=r"^A customer can't be merged into itself\. Choose another one\.$"):
        merge(cast, customer, customer)


def test_into_an_archived_one_is_refused_and_the_preview_says_why(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    cast.perform(archive_customer, customerId=stays)
    with pytest.raises(Blocked, match=r"^Ryburn is archived\. Restore the customer first\.$"):
        merge(cast, ended, stays)
    assert merge(cast, ended, stays, confirmed=False)["blockers"] == ["Ryburn is archived. Restore the customer first."]


def test_a_chain_of_mergers_leaves_the_last(cast: Cast) -> None:
    first, second, third = (make_customer(cast, name) for name in ("Calder", "Ryburn", "Colne"))
    job = make_job(cast, first)["id"]
    merge(cast, first, second)
    merge(cast, second, third)
    assert cast.perform(get_job, jobId=job)["customerId"] == third
    # Each who ended names the one that is left.
    assert {cast.perform(get_customer, customerId=one)["mergedIntoId"] for one in (first, second)} == {third}


def test_an_archived_customer_can_go_up_in_another(cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    cast.perform(archive_customer, customerId=ended)
    merge(cast, ended, stays)
    assert cast.perform(get_customer, customerId=ended)["mergedIntoId"] == stays


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_below_admin_nobody_merges(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        merge(cast, make_customer(cast), make_customer(cast, "Ryburn"), role=role)


def test_a_stranger_s_customer_is_not_found_on_either_side(cast: Cast, other_cast: Cast) -> None:
    mine, theirs = make_customer(cast), make_customer(other_cast)
    for ended, stays in ((mine, theirs), (theirs, mine)):
        for confirmed in (True, False):
            with pytest.raises(NotFound, match="no customer"):
                merge(cast, ended, stays, confirmed=confirmed)


def test_what_is_no_id_of_a_customer_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^intoCustomerId: is not the id of a customer$"):
        merge(cast, make_customer(cast), "Ryburn")
