import pytest

from mainstay.business.quotes.operations import get_quote, update_quote
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Stale
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.quotes import BOILER, edit_quote, issue_quote, make_default_tax_rate, make_quote
from support.stored_state import list_events_of, read_last_event, to_event_record


def test_one_line_changes_and_the_others_stay_as_they_are(cast: Cast) -> None:
    make_default_tax_rate(cast)
    before = make_quote(cast)
    boiler, warranty = before["lines"]
    after = edit_quote(cast, before, {"edit": "set", "lineId": boiler["id"], "quantity": "2"})
    assert after["lines"][1] == warranty
    assert after["lines"][0] == boiler | {"quantity": "2.00", "amount": "2000.00"}
    assert (after["net"], after["total"], after["version"]) == ("2000.00", "2400.00", 2)


def test_lines_are_added_moved_and_removed(cast: Cast) -> None:
    before = make_quote(cast)
    boiler, warranty = before["lines"]
    after = edit_quote(
        cast,
        before,
        {"edit": "add", "description": "Survey", "unitPrice": "80", "position": 1},
        {"edit": "move", "lineId": warranty["id"], "position": 1},
        {"edit": "remove", "lineId": boiler["id"]},
    )
    assert [line["description"] for line in after["lines"]] == ["Warranty, 5 years", "Survey"]


def test_an_event_tells_what_it_was_before(cast: Cast) -> None:
    before = make_quote(cast)
    after = cast.perform(update_quote, Role.OFFICE, quoteId=before["id"], title="Other", discount={"percent": "50"})
    event = read_last_event(cast)
    assert event["type"] == "quote.updated"
    assert event["data"]["object"] == to_event_record(after)
    assert event["data"]["previous"].keys() == {"title", "discount", "net", "total", "taxes", "margin"}


def test_nothing_different_is_no_change(cast: Cast) -> None:
    before = make_quote(cast)
    count = len(list_events_of(cast))
    after = cast.perform(update_quote, Role.OFFICE, quoteId=before["id"], title=before["title"])
    assert (after["version"], len(list_events_of(cast))) == (1, count)


def test_null_clears_and_what_is_not_sent_stays(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    before = make_quote(
        cast,
        customerId=customer,
        jobId=job["id"],
        siteId=make_site(cast, customer),
        discount={"percent": "10"},
        deposit={"percent": "30"},
        terms="Ours",
        validUntil="2031-01-31",
    )
    plain = cast.perform(update_quote, Role.OFFICE, quoteId=before["id"], title="Other")
    assert (plain["jobId"], plain["net"], plain["deposit"]) == (job["id"], before["net"], before["deposit"])
    names = ("jobId", "siteId", "discount", "deposit", "terms", "validUntil")
    cleared = cast.perform(update_quote, Role.OFFICE, quoteId=before["id"], **dict.fromkeys(names))
    assert {name: cleared[name] for name in names} == dict.fromkeys(names)
    assert cleared["net"] == "1000.00"


def test_what_was_sent_stays_as_it_is(cast: Cast) -> None:
    quote = issue_quote(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 has already been sent\. Revise it instead\.$") as refusal:
        edit_quote(cast, quote, {"edit": "remove", "lineId": quote["lines"][0]["id"]})
    assert [reason.instead for reason in refusal.value.reasons] == ["revise_quote"]


def test_a_wrong_edit_changes_nothing(cast: Cast) -> None:
    before = make_quote(cast)
    with pytest.raises(Invalid, match=r"^edits\.1\.lineId: is not a line of this document, its lines are line_"):
        edit_quote(
            cast,
            before,
            {"edit": "add", **BOILER},
            {"edit": "set", "lineId": "line_x", "quantity": "2"},
        )
    with pytest.raises(Invalid, match=r"^edits\.0\.unitPrice: is required without itemId$"):
        edit_quote(cast, before, {"edit": "add", "description": "X"})
    assert to_event_record(cast.perform(get_quote, quoteId=before["id"])) == to_event_record(before)


def test_a_site_or_job_of_another_customer_is_refused(cast: Cast) -> None:
    before, other = make_quote(cast), make_customer(cast, "Ryburn")
    with pytest.raises(Invalid, match=r"^siteId: belongs to another customer"):
        cast.perform(update_quote, quoteId=before["id"], siteId=make_site(cast, other))
    with pytest.raises(Invalid, match=r"^jobId: is for another customer"):
        cast.perform(update_quote, quoteId=before["id"], jobId=make_job(cast, other)["number"])


def test_an_older_version_is_not_overwritten(cast: Cast) -> None:
    before = make_quote(cast)
    edit_quote(cast, before, {"edit": "add", **BOILER})
    request = RequestDetails("r", if_match_versions=frozenset({1}))
    with pytest.raises(Stale):
        cast.answer(update_quote, Role.OFFICE, request, quoteId=before["id"], title="X")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(update_quote, role, quoteId=make_quote(cast)["id"], title="X")
