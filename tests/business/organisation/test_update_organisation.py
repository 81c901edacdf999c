from collections.abc import Callable

import pytest

from mainstay.business.invoices.drafting.operations import delete_draft_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.purchasing.closing import cancel_purchase_order
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, Stale
from support import invoices
from support.cast import Cast
from support.customers import make_customer
from support.issued_invoices import insert_invoice
from support.purchases import make_bill, make_order
from support.quotes import make_quote
from support.stored_state import actor_with_key, list_events_of, read_trail

ADDRESS = {
    "line1": "1 High Street",
    "line2": "Floor 2",
    "city": "Leeds",
    "region": "West Yorkshire",
    "postalCode": "LS1 4AB",
    "country": "GB",
}
BANK = {
    "name": "Calder Bank",
    "iban": "GB82WEST12345698765432",
    "bic": "WESTGB2L",
    "account": "98765432",
    "sortCode": "12-34-56",
}
EVERY_FIELD: dict[str, object] = {
    "name": "Beam & Sons",
    "legalName": "Beam and Sons Limited",
    "taxNumber": "GB 123",
    "registrationNumber": "07731842",
    "eInvoiceAddress": {"scheme": "0088", "id": "5060012349998"},
    "address": ADDRESS,
    "email": "office@beam.example",
    "phone": "+44 113 496 0000",
    "bank": BANK,
    "country": "IE",
    "currency": "EUR",
    "timeZone": "Europe/Dublin",
}
MAY_BE_EMPTY = (
    *("legalName", "taxNumber", "registrationNumber", "eInvoiceAddress"),
    *("address", "email", "phone", "bank"),
)


@pytest.mark.parametrize("zone", ["Europe/Kiev", "Brazil/DeNoronha", "Etc/GMT+5", "UTC"])
def test_a_time_zone_is_taken_by_every_name_it_has(cast: Cast, zone: str) -> None:
    assert cast.perform(update_organisation, timeZone=zone)["timeZone"] == zone


def test_every_field_can_be_changed(cast: Cast) -> None:
    changed = cast.perform(update_organisation, **EVERY_FIELD)

    assert {name: changed[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert cast.perform(get_organisation) == changed


def test_what_is_left_out_stays(cast: Cast) -> None:
    before = cast.perform(update_organisation, **EVERY_FIELD)
    after = cast.perform(update_organisation, phone="1")
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {"phone", "version"}


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_null_clears(cast: Cast, name: str) -> None:
    cast.perform(update_organisation, **EVERY_FIELD)
    assert cast.perform(update_organisation, **{name: None})[name] is None


@pytest.mark.parametrize("name", sorted(EVERY_FIELD.keys() - set(MAY_BE_EMPTY)))
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not text$"):
        cast.perform(update_organisation, **{name: None})


def test_the_change_names_the_person_and_the_key(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    changed = cast.perform(update_organisation, acting, phone="1")

    assert changed["version"] == 2
    assert changed["createdBy"]["person"] is None
    assert changed["updatedBy"] == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_the_audit_trail_tells_of_it(cast: Cast) -> None:
    cast.answer(update_organisation, request=RequestDetails("req_1"), phone="1", email=None)

    entry = read_trail(cast)[-1]
    assert entry["operation"] == "update_organisation"
    assert entry["requestId"] == "req_1"
    assert entry["given"] == {"phone": "1", "email": None}
    assert entry["actor"]["person"]["id"] == cast.people[Role.OWNER]


def test_nothing_different_makes_no_new_version(cast: Cast) -> None:
    before = cast.perform(update_organisation, **EVERY_FIELD)
    event_count = len(list_events_of(cast))

    assert cast.perform(update_organisation, **EVERY_FIELD) == before
    assert cast.perform(update_organisation) == before
    assert len(list_events_of(cast)) == event_count


def test_a_version_that_is_known_goes_on(cast: Cast) -> None:
    answer = cast.answer(
        update_organisation, request=RequestDetails("req_1", if_match_versions=frozenset({1, 7})), phone="1"
    )
    assert answer.version == 2


def test_an_outdated_version_is_refused_and_nothing_changes(cast: Cast) -> None:
    with pytest.raises(Stale, match="has changed since it was read"):
        cast.answer(update_organisation, request=RequestDetails("req_1", if_match_versions=frozenset({2})), phone="1")
    assert cast.perform(get_organisation)["phone"] is None


@pytest.mark.parametrize("name", ["id", "version", "subscription", "createdAt", "eventSequence", "event_sequence"])
def test_what_is_not_one_s_to_change_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not known here$"):
        cast.perform(update_organisation, **{name: "x"})


def test_what_is_left_out_of_an_address_is_null_in_it(cast: Cast) -> None:
    shown = cast.perform(update_organisation, address={"city": "Leeds"})["address"]
    assert shown == dict.fromkeys(ADDRESS) | {"city": "Leeds"}


def test_the_same_address_makes_no_new_version(cast: Cast) -> None:
    first = cast.perform(update_organisation, address=ADDRESS)
    again = cast.perform(update_organisation, address=dict(reversed(ADDRESS.items())))
    assert again["version"] == first["version"] == 2


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("1 High Street", "address: is not an object"),
        ({"city": ""}, "address.city: is empty"),
        ({"street": "x"}, "address.street: is not known here"),
        ({"postal_code": "x"}, "address.postal_code: is not known here"),
        ({"postalCode": "x" * 21}, "address.postalCode: is longer than 20 characters"),
        ({"country": "XX"}, "address.country: is not a country code such as GB"),
    ],
)
def test_a_wrong_address_is_refused(cast: Cast, address: object, text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_organisation, address=address)
    assert refusal.value.text == text


@pytest.mark.parametrize("name", ["address", "bank", "eInvoiceAddress"])
def test_a_part_of_which_nothing_is_sent_stays_as_it_is(cast: Cast, name: str) -> None:
    assert cast.perform(update_organisation, **{name: {}})[name] is None
    whole = cast.perform(update_organisation, **EVERY_FIELD)
    after = cast.perform(update_organisation, **{name: {}})
    assert (after[name], after["version"]) == (EVERY_FIELD[name], whole["version"])


@pytest.mark.parametrize(("name", "parts"), [("address", ADDRESS), ("bank", BANK)])
def test_a_part_that_is_emptied_is_null(cast: Cast, name: str, parts: dict[str, object]) -> None:
    cast.perform(update_organisation, **EVERY_FIELD)
    assert cast.perform(update_organisation, **{name: dict.fromkeys(parts)})[name] is None


def test_what_is_left_out_of_the_bank_is_null_in_it(cast: Cast) -> None:
    shown = cast.perform(update_organisation, bank={"iban": "gb82 west 1234 5698 7654 32"})["bank"]
    assert shown == dict.fromkeys(BANK) | {"iban": BANK["iban"]}


@pytest.mark.parametrize(
    ("bank", "text"),
    [
        ("GB82WEST12345698765432", "bank: is not an object"),
        ({"iban": "GB82WEST12345698765433"}, "bank.iban: is not valid, check its letters and digits"),
        ({"iban": 8}, "bank.iban: is not text"),
        ({"iban": "x" * 81}, "bank.iban: is longer than 80 characters"),
        ({"bic": "WEST"}, "bank.bic: is not a BIC such as COBADEFF, with 8 or 11 letters and digits"),
        ({"sortCode": ""}, "bank.sortCode: is empty"),
        ({"sort_code": "x"}, "bank.sort_code: is not known here"),
    ],
)
def test_a_wrong_bank_is_refused(cast: Cast, bank: object, text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_organisation, bank=bank)
    assert refusal.value.text == text


@pytest.mark.parametrize("given", [{"scheme": "0088"}, {"id": "1"}, {"scheme": "", "id": "1"}, "0088:1"])
def test_a_wrong_address_of_e_invoices_is_refused(cast: Cast, given: object) -> None:
    with pytest.raises(Invalid, match=r"^eInvoiceAddress"):
        cast.perform(update_organisation, eInvoiceAddress=given)


@pytest.mark.parametrize("role", list(Role))
def test_the_office_alone_is_shown_the_bank(cast: Cast, role: Role) -> None:
    cast.perform(update_organisation, **EVERY_FIELD)
    shown = cast.perform(get_organisation, role)
    assert shown["bank"] == (BANK if role in {Role.OWNER, Role.ADMIN, Role.OFFICE} else None)
    assert shown["eInvoiceAddress"] == EVERY_FIELD["eInvoiceAddress"]


def _record_payment(cast: Cast) -> None:
    cast.perform(record_payment, customerId=make_customer(cast), amount="10")


@pytest.mark.parametrize(
    ("kind", "write"),
    [
        ("quotes", make_quote),
        ("invoices", lambda cast: insert_invoice(cast, None)),
        ("invoices", insert_invoice),
        ("payments", _record_payment),
        ("purchase orders", make_order),
        ("bills", make_bill),
    ],
    ids=["quote", "draft", "invoice", "payment", "order", "bill"],
)
def test_the_currency_stays_once_a_document_is_in_it(cast: Cast, kind: str, write: Callable[[Cast], object]) -> None:
    assert cast.perform(update_organisation, currency="EUR")["currency"] == "EUR"
    assert cast.perform(update_organisation, currency="GBP")["currency"] == "GBP"
    write(cast)
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_organisation, currency="EUR", name="New")
    problem = f"can't be EUR, because there are {kind} in another currency, delete the drafts, or keep GBP"
    assert refusal.value.text == f"currency: {problem}"
    # Nothing else is closed by that, nor is saying again what it is.
    assert cast.perform(update_organisation, currency="GBP", name="New")["name"] == "New"


def test_the_currency_is_free_again_once_the_drafts_are_dropped(cast: Cast) -> None:
    quote, invoice, order = make_quote(cast), invoices.make_invoice(cast), make_order(cast)
    with pytest.raises(Invalid, match="there are quotes, invoices and purchase orders in another currency"):
        cast.perform(update_organisation, currency="EUR")
    cast.perform(withdraw_quote, quoteId=quote["id"], reason="Wrong currency", confirmed=True)
    cast.perform(delete_draft_invoice, invoiceId=invoice["id"], confirmed=True)
    cast.perform(cancel_purchase_order, purchaseOrderId=order["id"], confirmed=True)
    assert cast.perform(update_organisation, currency="EUR")["currency"] == "EUR"


def test_every_fault_is_told_at_once(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_organisation, name="", country="XX", timeZone="Mars/Base")
    assert refusal.value.text == (
        "name: is empty; country: is not a country code such as GB; timeZone: is not a time zone such as Europe/Berlin"
    )


def test_another_organisation_stays_as_it_is(cast: Cast, other_cast: Cast) -> None:
    before = other_cast.perform(get_organisation)
    cast.perform(update_organisation, **EVERY_FIELD)
    assert other_cast.perform(get_organisation) == before
