from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, restore_customer, update_customer
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.customers import make_customer
from support.query_plans import explain
from support.recorded_statements import RecordingDatabase

ADDRESS = {"line1": "2 Weir Lane", "postalCode": "HX6 2AG", "country": "GB"}


def list_duplicates(cast: Cast, **given: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cast.perform(list_duplicate_customers, Role.OFFICE, **given)["data"]
    return found


def list_pairs(cast: Cast) -> list[tuple[str, str, list[str]]]:
    """Return each customer with a possible duplicate and what both have in common."""
    return [(row["id"], other["id"], other["same"]) for row in list_duplicates(cast) for other in row["sameAs"]]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"email": "kim@calder.example"}, {"email": "Kim@Calder.example"}, "email"),
        ({"phone": "+44 1422 555 0142"}, {"phone": "01422 5550142"}, "phone"),
        ({"taxNumber": "GB 123456789"}, {"taxNumber": "GB123456789"}, "taxNumber"),
        ({"billingAddress": ADDRESS}, {"billingAddress": {**ADDRESS, "postalCode": "HX62AG"}}, "address"),
    ],
)
def test_a_customer_with_something_in_common_with_an_earlier_one_is_listed(
    cast: Cast, one: dict[str, object], other: dict[str, object], same: str
) -> None:
    make_customer(cast, "Bystander", email="else@else.example", phone="0113 4960000")
    first, again = make_customer(cast, "Calder", **one), make_customer(cast, "Ryburn", **other)
    assert list_pairs(cast) == [(again, first, [same])]


def test_the_newest_comes_first_and_all_that_is_the_same_is_said(cast: Cast) -> None:
    first = make_customer(cast, "Calder Property Ltd", email="kim@calder.example")
    second = make_customer(cast, "Calder Property", email="kim@calder.example", phone="01422 5550142")
    third = make_customer(cast, "Someone Else", phone="+441422 5550142")
    [newest, older] = list_duplicates(cast)
    assert (newest["id"], newest["sameAs"][0]["id"], newest["sameAs"][0]["same"]) == (third, second, ["phone"])
    assert older["sameAs"] == [
        {
            "id": first,
            "name": "Calder Property Ltd",
            "email": "kim@calder.example",
            "phone": None,
            "same": ["email", "name"],
        }
    ]
    assert (older["name"], older["email"]) == ("Calder Property", "kim@calder.example")


def test_it_goes_on_behind_the_last_of_a_page(cast: Cast) -> None:
    made = [make_customer(cast, "Calder") for _ in range(4)]
    page = cast.perform(list_duplicate_customers, Role.OFFICE, limit=2)
    assert ([row["id"] for row in page["data"]], page["hasMore"]) == ([made[3], made[2]], True)
    rest = cast.perform(list_duplicate_customers, Role.OFFICE, limit=2, startingAfter=made[2])
    assert ([row["id"] for row in rest["data"]], rest["hasMore"]) == ([made[1]], False)


def test_what_changes_is_heeded_at_once(cast: Cast) -> None:
    first, again = make_customer(cast, "Calder"), make_customer(cast, "Calder")
    third = make_customer(cast, "Calder")
    cast.perform(update_customer, customerId=first, name="Ryburn")
    # Another is the first one now.
    assert list_pairs(cast) == [(third, again, ["name"])]
    cast.perform(archive_customer, customerId=third)
    assert list_pairs(cast) == []
    cast.perform(restore_customer, customerId=third)
    assert list_pairs(cast) == [(third, again, ["name"])]
    cast.perform(merge_customers, customerId=third, intoCustomerId=again, confirmed=True)
    assert list_pairs(cast) == []


def test_other_organisations_are_not_looked_at(cast: Cast, other_cast: Cast) -> None:
    make_customer(other_cast, "Calder")
    make_customer(cast, "Calder")
    assert list_pairs(cast) == list_pairs(other_cast) == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_who_does_not_see_every_customer_is_refused(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_duplicate_customers, role)


@pytest.mark.only_on("sqlite")
def test_it_walks_the_index_of_what_repeats_however_many_customers_there_are(cast: Cast) -> None:
    for _ in range(2):
        make_customer(cast, "Calder")
    database = RecordingDatabase(cast.performer.database)
    list_duplicates(replace(cast, performer=replace(cast.performer, database=database)))
    statements = [one for one in database.statements if "customer_key" in one.sql]
    steps = [step for statement in statements for step in explain(cast.performer.database, statement)]
    assert any("customer_key_repeated" in step for step in steps)
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]
