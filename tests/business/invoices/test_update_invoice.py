import pytest

from mainstay.business.invoices.drafting.operations import get_invoice, update_invoice
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound, Stale
from support.cast import Cast
from support.customers import make_customer, make_site
from support.invoices import (
    BOILER,
    FLUE,
    credit_issued,
    edit_invoice,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    reread_invoice,
    void_issued,
)
from support.quotes import make_default_tax_rate
from support.stored_state import operations_on, read_last_event, to_event_record


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_only_what_is_sent_changes(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    draft = make_invoice(cast, customerId=customer, notes="Thanks.", dueOn="2031-01-31", discount={"amount": "1"})
    site = make_site(cast, customer)
    after = cast.perform(update_invoice, role, invoiceId=draft["id"], title="Boiler", siteId=site)
    changed_names = {"title", "siteId", "siteName", "version", "updatedAt", "updatedBy"}
    assert {name for name in to_event_record(draft) if draft[name] != after[name]} <= changed_names
    assert (after["title"], after["siteId"], after["version"]) == ("Boiler", site, draft["version"] + 1)
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.updated", to_event_record(after))
    assert event["data"]["previous"]["title"] == "New heating"
    assert operations_on(cast, draft["id"]) == ["draft_invoice", "update_invoice"]


def test_null_clears(cast: Cast) -> None:
    draft = make_invoice(cast, notes="Thanks.", dueOn="2031-01-31", discount={"amount": "100"})
    after = edit_invoice(cast, draft, notes=None, dueOn=None, discount=None, title=None)
    assert [after[name] for name in ("notes", "dueOn", "discount", "title")] == [None] * 4
    assert (after["total"], after["due"]) == ("1000.00", "1000.00")


def test_lines_change_by_their_ids_and_the_others_stay(cast: Cast) -> None:
    make_default_tax_rate(cast)
    draft = make_invoice(cast, lines=[BOILER, FLUE])
    boiler, flue = draft["lines"]
    after = edit_invoice(
        cast,
        draft,
        {"edit": "set", "lineId": flue["id"], "quantity": "3"},
        {"edit": "add", "description": "Callout", "unitPrice": "50", "position": 1},
        {"edit": "move", "lineId": boiler["id"], "position": 3},
    )
    assert [line["description"] for line in after["lines"]] == ["Callout", "Flue", "Combi boiler"]
    assert after["lines"][2] == boiler
    assert (after["net"], after["tax"], after["total"], after["due"]) == ("1186.65", "237.33", "1423.98", "1423.98")
    assert edit_invoice(cast, after, {"edit": "remove", "lineId": boiler["id"]})["net"] == "186.65"


def test_what_changes_nothing_is_told_to_nobody(cast: Cast) -> None:
    draft = make_invoice(cast)
    after = edit_invoice(cast, draft, title=draft["title"])
    assert to_event_record(after) == to_event_record(draft)
    assert read_last_event(cast)["type"] == "invoice.created"


def test_a_line_of_a_quote_can_be_changed_and_stays_billed(cast: Cast) -> None:
    quote = make_accepted_quote(cast, BOILER)
    draft = make_invoice(cast, quoteId=quote["id"])
    (line,) = draft["lines"]
    after = edit_invoice(cast, draft, {"edit": "set", "lineId": line["id"], "unitPrice": "900"})
    assert (after["net"], after["lines"][0]["source"]) == ("900.00", line["source"])
    with pytest.raises(Blocked, match="already on invoices"):
        make_invoice(cast, quoteId=quote["id"])


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"edit": "set", "lineId": "line_1", "quantity": "1"}, "edits.0.lineId"),
        ({"edit": "remove"}, "edits.0.lineId"),
        ({"edit": "add", "description": "x", "unitPrice": "1", "optional": True}, "lines.1.optional"),
        ({"edit": "add", "unitPrice": "1"}, "edits.0.description"),
        ({"edit": "burn"}, "edits.0.edit"),
    ],
)
def test_what_is_wrong_is_told_by_its_field(cast: Cast, edit: dict[str, object], field: str) -> None:
    draft = make_invoice(cast)
    with pytest.raises(Invalid) as refusal:
        edit_invoice(cast, draft, edit)
    assert [fault.field for fault in refusal.value.faults] == [field]
    assert to_event_record(reread_invoice(cast, draft)) == to_event_record(draft)


def test_what_was_issued_stays_as_it_is(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(
        Blocked, match=r"^INV-0001 has been issued, so it can't be edited\. Void or credit it instead\.$"
    ):
        edit_invoice(cast, sent, title="x")
    for over in (void_issued(cast, issue_invoice(cast)), credit_issued(cast, issue_invoice(cast))):
        with pytest.raises(Blocked, match=r"has been issued, so it can't be edited\.$"):
            edit_invoice(cast, over, title="x")


def test_a_site_of_another_customer_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^siteId: belongs to another customer"):
        edit_invoice(cast, make_invoice(cast), siteId=make_site(cast, make_customer(cast)))


def test_who_read_an_older_version_changes_nothing(cast: Cast) -> None:
    draft = make_invoice(cast)
    edit_invoice(cast, draft, title="First")
    request = RequestDetails("req_1", if_match_versions=frozenset({draft["version"]}))
    with pytest.raises(Stale):
        cast.answer(update_invoice, Role.OFFICE, request=request, invoiceId=draft["id"], title="Second")
    assert reread_invoice(cast, draft)["title"] == "First"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_change_none(cast: Cast, role: Role) -> None:
    draft = make_invoice(cast)
    for operation in (update_invoice, get_invoice):
        with pytest.raises(Forbidden):
            cast.perform(operation, role, invoiceId=draft["id"])


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    draft = make_invoice(cast)
    with pytest.raises(NotFound):
        other_cast.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], title="x")
    cast.lapse()
    with pytest.raises(Lapsed):
        edit_invoice(cast, draft, title="x")
