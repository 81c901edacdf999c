from typing import Any

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import create_customer, get_customer, list_customers
from mainstay.business.customers.sites_and_contacts import list_sites
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, Lapsed
from support.cast import Cast
from support.customers import ADDRESS, make_customer
from support.stored_state import list_events_of, operations_on, to_event_record

EVERY_FIELD: dict[str, Any] = {
    "name": "Calder Property Services",
    "kind": "individual",
    "email": "Office@Calder.example",
    "phone": "01422 555 010",
    "billingAddress": ADDRESS,
    "taxNumber": "GB 123",
    "registrationNumber": "0412",
    "eInvoiceAddress": {"scheme": "0088", "id": "7300010000001"},
    "reference": "Cost centre 7",
    "paymentTermsDays": 30,
    "language": "de",
    "notes": "Pays late.",
    "externalRef": "C-7",
}


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_them_is_kept(cast: Cast, role: Role) -> None:
    made = cast.perform(create_customer, role, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert (made["object"], made["status"], made["version"]) == ("customer", "active", 1)
    assert to_event_record(cast.perform(get_customer, customerId=made["id"])) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["create_customer"]


def test_a_name_is_enough(cast: Cast) -> None:
    made = cast.perform(create_customer, name="Hebden Mill Trust")
    assert made["kind"] == "company"
    assert {made[name] for name in EVERY_FIELD if name not in {"name", "kind"}} == {None}


def test_it_says_where_they_are_seen_and_what_can_be_done(cast: Cast) -> None:
    made = cast.perform(create_customer, name="Hebden Mill Trust")
    assert made["url"].endswith(f"/customers/{made['id']}")
    assert made["availableActions"] == ["update_customer", "archive_customer", "merge_customers", "send_statement"]
    assert cast.perform(create_customer, Role.OFFICE, name="Other")["availableActions"] == [
        "update_customer",
        "archive_customer",
        "send_statement",
    ]


def test_their_address_makes_a_site_and_the_answer_shows_it(cast: Cast) -> None:
    made = cast.perform(create_customer, Role.OFFICE, name="Calder", billingAddress=ADDRESS)
    site = made["site"]
    assert (site["object"], site["customerId"], site["name"], site["address"]) == (
        "site",
        made["id"],
        "2 Weir Lane",
        ADDRESS,
    )
    [listed] = cast.perform(list_sites, customerId=made["id"])["data"]
    assert listed == site
    # It is found by where it is, as every site.
    assert [one["id"] for one in cast.perform(list_sites, text="weir lane calder")["data"]] == [site["id"]]
    assert operations_on(cast, site["id"]) == ["create_customer"]


def test_no_site_is_made_where_none_is_wanted_or_there_is_no_address(cast: Cast) -> None:
    for given in ({"billingAddress": ADDRESS, "makeSite": False}, {}):
        made = cast.perform(create_customer, name="Calder", **given)
        assert "site" not in made
        assert cast.perform(list_sites, customerId=made["id"])["data"] == []


def test_no_kind_of_event_tells_of_customers(cast: Cast) -> None:
    before = len(list_events_of(cast))
    make_customer(cast)
    assert len(list_events_of(cast)) == before


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"name": ""}, "name: is empty"),
        ({"name": None}, "name: is not text"),
        ({"kind": "state"}, "kind: is not one of 'company' or 'individual'"),
        ({"email": "calder"}, "email: is not an email address"),
        ({"paymentTermsDays": 366}, "paymentTermsDays: is above 365"),
        ({"paymentTermsDays": -1}, "paymentTermsDays: is below 0"),
        ({"language": "xx"}, "language: is not one of 'en', 'de', 'fr', 'nl' or 'es'"),
        ({"billingAddress": {}}, "billingAddress: is empty, send null to clear it"),
        ({"eInvoiceAddress": {"scheme": "0088"}}, "eInvoiceAddress.id: is required"),
        ({"status": "archived"}, "status: is not known here"),
    ],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(create_customer, **{"name": "Calder", **wrong})
    assert refusal.value.text.startswith(text)


def test_no_two_share_a_reference_of_another_system(cast: Cast, other_cast: Cast) -> None:
    make_customer(cast, "Calder", externalRef="C-7")
    with pytest.raises(
        Conflict, match=r"Calder already has the external ID C-7\. Change it there, or use another ID\."
    ):
        make_customer(cast, "Ryburn", externalRef="C-7")
    make_customer(other_cast, "Ryburn", externalRef="C-7")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_adds_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden, match="Ask an owner or admin"):
        cast.perform(create_customer, role, name="Calder")


def test_a_repeat_with_the_same_key_makes_nothing_twice(cast: Cast) -> None:
    answers = [
        cast.answer(create_customer, Role.OFFICE, RequestDetails("req_1", idempotency_key="once"), name="Calder")
        for _ in range(2)
    ]
    assert answers[0].body == answers[1].body
    assert answers[1].is_replayed
    assert len(cast.perform(list_customers)["data"]) == 1


def test_a_lapsed_organisation_adds_none(cast: Cast) -> None:
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(create_customer, name="Calder")


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"name": "calder  PROPERTY"}, "name"),
        ({"name": "Other", "email": "OFFICE@calder.example"}, "email"),
        ({"name": "Other", "phone": "+44 1422 555010"}, "phone number"),
        ({"name": "Calder Property", "phone": "01422/555010"}, "name"),
    ],
)
def test_who_may_be_the_same_is_named_and_nothing_is_refused(cast: Cast, given: dict[str, str], same: str) -> None:
    first = cast.perform(create_customer, name="Calder Property", email="office@calder.example", phone="01422 555010")
    assert "warnings" not in first
    made = cast.perform(create_customer, **given)
    message = f"Calder Property has the same {same}. If they are the same customer, merge them."
    assert made["warnings"] == [f"{message} Call merge_customers with {first['id']}."]
    assert "warnings" not in cast.perform(get_customer, customerId=made["id"])


def test_a_name_is_the_same_in_whatever_letters_it_is_typed(cast: Cast) -> None:
    cast.perform(create_customer, name="Søren Łódź")
    (result,) = cast.perform(create_customer, name="SOREN Lodz")["warnings"]
    assert result.startswith("Søren Łódź has the same name.")


def test_who_only_shares_a_domain_or_some_digits_is_another(cast: Cast) -> None:
    cast.perform(create_customer, name="Calder Property", email="office@calder.example", phone="01422 555010")
    other = cast.perform(create_customer, name="Calder", email="ann@calder.example", phone="01422 555011")
    assert "warnings" not in other


def test_whoever_was_merged_into_another_is_not_named(cast: Cast) -> None:
    old, new = (cast.perform(create_customer, name=name)["id"] for name in ("Calder", "Ryburn"))
    cast.perform(merge_customers, customerId=old, intoCustomerId=new, confirmed=True)
    assert "warnings" not in cast.perform(create_customer, name="Calder")
