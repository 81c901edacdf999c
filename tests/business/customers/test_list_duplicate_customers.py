from dataclasses import replace
from typing import Any

import pytest

from cast import Cast
from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, restore_customer, update_customer
from mainstay.terms.refusal import Forbidden
from mainstay.terms.rights import Role
from planning import plan
from recording import RecordingDatabase
from trade import a_customer

ADDRESS = {"line1": "2 Weir Lane", "postalCode": "HX6 2AG", "country": "GB"}


def listed(cast: Cast, **given: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cast.perform(list_duplicate_customers, Role.OFFICE, **given)["data"]
    return found


def pairs(cast: Cast) -> list[tuple[str, str, list[str]]]:
    """Who may be whom, and by what."""
    return [(row["id"], other["id"], other["same"]) for row in listed(cast) for other in row["sameAs"]]


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
    a_customer(cast, "Bystander", email="else@else.example", phone="0113 4960000")
    first, again = a_customer(cast, "Calder", **one), a_customer(cast, "Ryburn", **other)
    assert pairs(cast) == [(again, first, [same])]


def test_the_newest_comes_first_and_all_that_is_the_same_is_said(cast: Cast) -> None:
    first = a_customer(cast, "Calder Property Ltd", email="kim@calder.example")
    second = a_customer(cast, "Calder Property", email="kim@calder.example", phone="01422 5550142")
    third = a_customer(cast, "Someone Else", phone="+441422 5550142")
    [newest, older] = listed(cast)
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
    made = [a_customer(cast, "Calder") for _ in range(4)]
    page = cast.perform(list_duplicate_customers, Role.OFFICE, limit=2)
    assert ([row["id"] for row in page["data"]], page["hasMore"]) == ([made[3], made[2]], True)
    rest = cast.perform(list_duplicate_customers, Role.OFFICE, limit=2, startingAfter=made[2])
    assert ([row["id"] for row in rest["data"]], rest["hasMore"]) == ([made[1]], False)


def test_what_changes_is_heeded_at_once(cast: Cast) -> None:
    first, again = a_customer(cast, "Calder"), a_customer(cast, "Calder")
    third = a_customer(cast, "Calder")
    cast.perform(update_customer, customerId=first, name="Ryburn")
    # Another is the first one now.
    assert pairs(cast) == [(third, again, ["name"])]
    cast.perform(archive_customer, customerId=third)
    assert pairs(cast) == []
    cast.perform(restore_customer, customerId=third)
    assert pairs(cast) == [(third, again, ["name"])]
    cast.perform(merge_customers, customerId=third, intoCustomerId=again, confirmed=True)
    assert pairs(cast) == []


def test_other_organisations_are_not_looked_at(cast: Cast, stranger: Cast) -> None:
    a_customer(stranger, "Calder")
    a_customer(cast, "Calder")
    assert pairs(cast) == pairs(stranger) == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_who_does_not_see_every_customer_is_refused(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_duplicate_customers, role)


@pytest.mark.only_on("sqlite")
def test_it_walks_the_index_of_what_repeats_however_many_customers_there_are(cast: Cast) -> None:
    for _ in range(2):
        a_customer(cast, "Calder")
    database = RecordingDatabase(cast.stage.database)
    listed(replace(cast, stage=replace(cast.stage, database=database)))
    statements = [one for one in database.statements if "customer_key" in one.sql]
    steps = [step for statement in statements for step in plan(cast.stage.database, statement)]
    assert any("customer_key_repeated" in step for step in steps)
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]
