import pytest

from billing import BOILER, FLUE, a_sold_quote, an_invoice, changed, credited, issued, now, voided
from cast import Cast
from evidence import as_told, history, last_event
from mainstay.business.invoices.operations import get_invoice, update_invoice
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound, Stale
from mainstay.terms.rights import Role
from quoting import usual_tax
from trade import a_customer, a_site


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_only_what_is_sent_changes(cast: Cast, role: Role) -> None:
    customer = a_customer(cast)
    draft = an_invoice(cast, customerId=customer, notes="Thanks.", dueOn="2031-01-31", discount={"amount": "1"})
    site = a_site(cast, customer)
    after = cast.perform(update_invoice, role, invoiceId=draft["id"], title="Boiler", siteId=site)
    changed_names = {"title", "siteId", "siteName", "version", "updatedAt", "updatedBy"}
    assert {name for name in as_told(draft) if draft[name] != after[name]} <= changed_names
    assert (after["title"], after["siteId"], after["version"]) == ("Boiler", site, draft["version"] + 1)
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.updated", as_told(after))
    assert told["data"]["previous"]["title"] == "New heating"
    assert history(cast, draft["id"]) == ["draft_invoice", "update_invoice"]


def test_null_clears(cast: Cast) -> None:
    draft = an_invoice(cast, notes="Thanks.", dueOn="2031-01-31", discount={"amount": "100"})
    after = changed(cast, draft, notes=None, dueOn=None, discount=None, title=None)
    assert [after[name] for name in ("notes", "dueOn", "discount", "title")] == [None] * 4
    assert (after["total"], after["due"]) == ("1000.00", "1000.00")


def test_lines_change_by_their_ids_and_the_others_stay(cast: Cast) -> None:
    usual_tax(cast)
    draft = an_invoice(cast, lines=[BOILER, FLUE])
    boiler, flue = draft["lines"]
    after = changed(
        cast,
        draft,
        {"edit": "set", "lineId": flue["id"], "quantity": "3"},
        {"edit": "add", "description": "Callout", "unitPrice": "50", "position": 1},
        {"edit": "move", "lineId": boiler["id"], "position": 3},
    )
    assert [line["description"] for line in after["lines"]] == ["Callout", "Flue", "Combi boiler"]
    assert after["lines"][2] == boiler
    assert (after["net"], after["tax"], after["total"], after["due"]) == ("1186.65", "237.33", "1423.98", "1423.98")
    assert changed(cast, after, {"edit": "remove", "lineId": boiler["id"]})["net"] == "186.65"


def test_what_changes_nothing_is_told_to_nobody(cast: Cast) -> None:
    draft = an_invoice(cast)
    after = changed(cast, draft, title=draft["title"])
    assert as_told(after) == as_told(draft)
    assert last_event(cast)["type"] == "invoice.created"


def test_a_line_of_a_quote_can_be_changed_and_stays_billed(cast: Cast) -> None:
    quote = a_sold_quote(cast, BOILER)
    draft = an_invoice(cast, quoteId=quote["id"])
    (line,) = draft["lines"]
    after = changed(cast, draft, {"edit": "set", "lineId": line["id"], "unitPrice": "900"})
    assert (after["net"], after["lines"][0]["source"]) == ("900.00", line["source"])
    with pytest.raises(Blocked, match="on invoices already"):
        an_invoice(cast, quoteId=quote["id"])


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
    draft = an_invoice(cast)
    with pytest.raises(Invalid) as refusal:
        changed(cast, draft, edit)
    assert [fault.field for fault in refusal.value.faults] == [field]
    assert as_told(now(cast, draft)) == as_told(draft)


def test_what_was_issued_stays_as_it_is(cast: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(Blocked, match=r"^INV-0001 was issued, so it stays as it is\. Void or credit it instead\.$"):
        changed(cast, sent, title="x")
    for over in (voided(cast, issued(cast)), credited(cast, issued(cast))):
        with pytest.raises(Blocked, match=r"was issued, so it stays as it is\.$"):
            changed(cast, over, title="x")


def test_a_site_of_another_customer_is_refused(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^siteId: is a site of another customer"):
        changed(cast, an_invoice(cast), siteId=a_site(cast, a_customer(cast)))


def test_who_read_an_older_version_changes_nothing(cast: Cast) -> None:
    draft = an_invoice(cast)
    changed(cast, draft, title="First")
    request = Envelope("req_1", versions=frozenset({draft["version"]}))
    with pytest.raises(Stale):
        cast.answer(update_invoice, Role.OFFICE, request=request, invoiceId=draft["id"], title="Second")
    assert now(cast, draft)["title"] == "First"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_change_none(cast: Cast, role: Role) -> None:
    draft = an_invoice(cast)
    for operation in (update_invoice, get_invoice):
        with pytest.raises(Forbidden):
            cast.perform(operation, role, invoiceId=draft["id"])


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    draft = an_invoice(cast)
    with pytest.raises(NotFound):
        stranger.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], title="x")
    cast.lapse()
    with pytest.raises(Lapsed):
        changed(cast, draft, title="x")
