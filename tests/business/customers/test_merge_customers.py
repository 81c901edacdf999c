from typing import Any

import pytest

from billing import an_invoice, issued
from cast import Cast
from evidence import contents_of, events, history, touched
from mainstay.business.customers import moved
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, get_customer, list_customers
from mainstay.business.customers.places import get_contact, get_site, list_contacts, list_sites
from mainstay.business.invoices.operations import get_invoice
from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.quotes.operations import get_quote
from mainstay.business.records.history import get_history
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, Invalid, NotFound
from mainstay.terms.rights import Role
from quoting import a_draft, sent
from trade import a_contact, a_customer, a_job, a_site, left_to_do, work_off


def merge(cast: Cast, ended: str, stays: str, *, confirmed: bool = True, role: Role = Role.ADMIN) -> dict[str, Any]:
    return cast.perform(merge_customers, role, customerId=ended, intoCustomerId=stays, confirmed=confirmed)


def test_everything_goes_over_and_the_one_that_ends_is_archived(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn", phone="1")
    contact, site, job = a_contact(cast, ended), a_site(cast, ended), a_job(cast, ended)["id"]
    merged = merge(cast, ended, stays)
    assert (merged["id"], merged["name"], merged["phone"], merged["status"]) == (stays, "Ryburn", "1", "active")
    assert cast.perform(get_contact, contactId=contact)["customerId"] == stays
    assert cast.perform(get_site, siteId=site)["customerName"] == "Ryburn"
    moved = cast.perform(get_job, jobId=job)
    assert (moved["customerId"], moved["customerName"], moved["version"]) == (stays, "Ryburn", 2)
    gone = cast.perform(get_customer, customerId=ended)
    assert (gone["status"], gone["mergedIntoId"]) == ("archived", stays)
    for record in (ended, stays, contact, site, job):
        assert history(cast, record)[-1] == "merge_customers"


def test_the_trail_names_all_that_went_over_however_much_and_a_history_some_of_it(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    sites = [a_site(cast, ended) for _ in range(120)]
    merge(cast, ended, stays)
    assert {history(cast, site)[-1] for site in sites} == {"merge_customers"}
    assert set(touched(cast)[-1]) == {ended, stays, *sites}
    newest = cast.perform(get_history, recordId=stays)["data"][0]
    assert (newest["operation"], newest["records"]) == ("merge_customers", [ended, stays, *sites][:100])


def test_who_was_merged_before_is_in_the_trail_as_well(cast: Cast) -> None:
    first, second, third = (a_customer(cast, name) for name in ("Calder", "Ryburn", "Colne"))
    merge(cast, first, second)
    merge(cast, second, third)
    assert history(cast, first) == ["create_customer", "merge_customers", "merge_customers"]


def test_lists_of_either_show_it(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    a_contact(cast, ended), a_site(cast, ended), a_job(cast, ended)
    merge(cast, ended, stays)
    for operation in (list_jobs, list_sites, list_contacts):
        assert len(cast.perform(operation, customerId=stays)["data"]) == 1
        assert cast.perform(operation, customerId=ended)["data"] == []


def test_members_see_the_customer_that_has_their_job_now(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    a_job(cast, ended, Role.MEMBER)
    merge(cast, ended, stays)
    assert [customer["id"] for customer in cast.perform(list_customers, Role.MEMBER)["data"]] == [stays]
    assert len(cast.perform(list_jobs, Role.MEMBER, customerId=stays)["data"]) == 1
    with pytest.raises(NotFound):
        cast.perform(get_customer, Role.MEMBER, customerId=ended)


def test_a_preview_tells_what_would_happen_and_does_nothing(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    a_contact(cast, ended), a_site(cast, ended), a_site(cast, ended)
    a_job(cast, ended, Role.MEMBER)
    before = contents_of(cast)
    preview = merge(cast, ended, stays, confirmed=False)
    assert preview == {
        "object": "preview",
        "operation": "merge_customers",
        "summary": "Calder Property is merged into Ryburn.",
        "effects": [
            "Ryburn takes over 1 contact.",
            "Ryburn takes over 2 sites.",
            "Ryburn takes over 1 job.",
            "Calder Property is archived for good.",
        ],
        "warnings": [],
        "blockers": [],
    }
    assert contents_of(cast) == before


def test_what_they_had_is_found_by_the_other_s_name_then(alone: Cast) -> None:
    ended, stays = a_customer(alone), a_customer(alone, "Ryburn Estates")
    contact, site, job = a_contact(alone, ended), a_site(alone, ended), a_job(alone, ended)["id"]
    merge(alone, ended, stays)
    work_off(alone)
    for operation, record in ((list_contacts, contact), (list_sites, site), (list_jobs, job)):
        assert [one["id"] for one in alone.perform(operation, text="ryburn")["data"]] == [record]
        assert alone.perform(operation, text="calder")["data"] == []


def test_each_job_that_went_over_is_told_of_once_with_the_customer_before(
    alone: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moved, "_TOLD", 2)
    ended, stays = a_customer(alone), a_customer(alone, "Ryburn Estates")
    jobs = [a_job(alone, ended)["id"] for _ in range(5)]
    untouched = a_job(alone, stays)["id"]
    work_off(alone)
    before = len(events(alone))
    merge(alone, ended, stays)
    # Whoever merges does not wait for it, however many there are: some are told of at a time.
    assert len(events(alone)) == before
    assert left_to_do(alone).count("tell_of_moved_jobs") == 3
    work_off(alone)
    told = events(alone)[before:]
    assert [event["type"] for event in told] == ["job.updated"] * 5
    assert sorted(event["data"]["object"]["id"] for event in told) == sorted(jobs)
    for event in told:
        now = event["data"]["object"]
        assert (now["customerId"], now["customerName"], now["version"]) == (stays, "Ryburn Estates", 2)
        assert event["data"]["previous"] == {"customerId": ended, "customerName": "Calder Property"}
    assert history(alone, jobs[0])[-1] == "tell_of_moved_jobs"
    assert history(alone, untouched)[-1] == "create_job"


def test_each_quote_and_invoice_that_went_over_is_told_of_in_whatever_state_it_is(alone: Cast) -> None:
    ended, stays = a_customer(alone, email="c@calder.example"), a_customer(alone, "Ryburn Estates")
    quotes = [a_draft(alone, customerId=ended)["id"], sent(alone, a_draft(alone, customerId=ended))["id"]]
    invoices = [an_invoice(alone, customerId=ended)["id"], issued(alone, an_invoice(alone, customerId=ended))["id"]]
    work_off(alone)
    before = len(events(alone))
    merge(alone, ended, stays)
    assert len(events(alone)) == before
    work_off(alone)
    told = events(alone)[before:]
    found = sorted((event["type"], event["data"]["object"]["id"]) for event in told)
    assert found == sorted([("quote.updated", one) for one in quotes] + [("invoice.updated", one) for one in invoices])
    for event in told:
        now = event["data"]["object"]
        assert (now["customerId"], now["customerName"]) == (stays, "Ryburn Estates")
        assert event["data"]["previous"] == {"customerId": ended, "customerName": "Calder Property"}
        read = get_quote if event["type"].startswith("quote") else get_invoice
        kept = alone.perform(read, **{f"{now['object']}Id": now["id"]})
        assert (kept["version"], kept["updatedAt"]) == (now["version"], now["updatedAt"])
    assert history(alone, quotes[0])[-1] == "tell_of_moved_quotes"
    assert history(alone, invoices[1])[-1] == "tell_of_moved_invoices"


def test_into_itself_is_refused(cast: Cast) -> None:
    customer = a_customer(cast)
    with pytest.raises(Conflict, match=r"^A customer cannot be merged into itself\. Name another one\.$"):
        merge(cast, customer, customer)


def test_into_an_archived_one_is_refused_and_the_preview_says_why(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    cast.perform(archive_customer, customerId=stays)
    with pytest.raises(Blocked, match=r"^Ryburn is archived\. Restore the customer first\.$"):
        merge(cast, ended, stays)
    assert merge(cast, ended, stays, confirmed=False)["blockers"] == ["Ryburn is archived. Restore the customer first."]


def test_a_chain_of_mergers_leaves_the_last(cast: Cast) -> None:
    first, second, third = (a_customer(cast, name) for name in ("Calder", "Ryburn", "Colne"))
    job = a_job(cast, first)["id"]
    merge(cast, first, second)
    merge(cast, second, third)
    assert cast.perform(get_job, jobId=job)["customerId"] == third
    # Each who ended names the one that is left.
    assert {cast.perform(get_customer, customerId=one)["mergedIntoId"] for one in (first, second)} == {third}


def test_an_archived_customer_can_go_up_in_another(cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    cast.perform(archive_customer, customerId=ended)
    merge(cast, ended, stays)
    assert cast.perform(get_customer, customerId=ended)["mergedIntoId"] == stays


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_below_admin_nobody_merges(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        merge(cast, a_customer(cast), a_customer(cast, "Ryburn"), role=role)


def test_a_stranger_s_customer_is_not_found_on_either_side(cast: Cast, stranger: Cast) -> None:
    mine, theirs = a_customer(cast), a_customer(stranger)
    for ended, stays in ((mine, theirs), (theirs, mine)):
        for confirmed in (True, False):
            with pytest.raises(NotFound, match="no customer"):
                merge(cast, ended, stays, confirmed=confirmed)


def test_what_is_no_id_of_a_customer_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^intoCustomerId: is not the id of a customer$"):
        merge(cast, a_customer(cast), "Ryburn")
