import orjson
import pytest

from business.customers.test_create_customer import EVERY_FIELD
from business.customers.test_get_customer import OFFICE_ONLY
from mainstay.business.customers.operations import archive_customer, list_customers
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job


def list_customer_names(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [customer["name"] for customer in cast.perform(list_customers, role, **given)["data"]]


def test_the_newest_come_first_and_those_put_away_are_left_out(cast: Cast) -> None:
    for name in ("Calder", "Ryburn", "Colne"):
        make_customer(cast, name)
    cast.perform(archive_customer, customerId=make_customer(cast, "Irwell"))
    assert list_customer_names(cast) == list_customer_names(cast, status="active") == ["Colne", "Ryburn", "Calder"]
    assert list_customer_names(cast, status="archived") == ["Irwell"]


def test_by_name_case_and_accents_do_not_count(cast: Cast) -> None:
    for name in ("Zabel", "Éclair", "dale", "Eck", "ÉCOLE", "Łódź", "Ærø", "Lodge"):
        make_customer(cast, name)
    assert list_customer_names(cast, order="name") == [
        "Ærø",
        "dale",
        "Eck",
        "Éclair",
        "ÉCOLE",
        "Lodge",
        "Łódź",
        "Zabel",
    ]


@pytest.mark.parametrize("order", ["newest", "name"])
@pytest.mark.parametrize("text", [None, "property"])
def test_page_by_page_everyone_comes_once(cast: Cast, order: str, text: str | None) -> None:
    made = [make_customer(cast, f"Property {number % 3}") for number in range(7)]
    more = {"text": text} if text else {}
    seen: list[str] = []
    page = cast.perform(list_customers, limit=3, order=order, **more)
    while True:
        seen += [customer["id"] for customer in page["data"]]
        if not page["hasMore"]:
            break
        page = cast.perform(list_customers, limit=3, order=order, startingAfter=seen[-1], **more)
    assert sorted(seen) == sorted(made)
    if order == "newest":
        assert seen == made[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "calder", "CÄLDER prop", "prop serv", "01422 555010", "+44 1422 555 010", "555010", "office@calder",
        "@calder.ex", "weir lane", "hx6 2ag", "hx62ag", "sowerby", "cost centre",
    ],
)  # fmt: skip
def test_they_are_found_by_what_is_known_of_them(cast: Cast, text: str) -> None:
    make_customer(cast, "Ryburn", phone="01422 555011", email="office@ryburn.example")
    make_customer(cast, **EVERY_FIELD)
    assert list_customer_names(cast, text=text) == ["Calder Property Services"]


@pytest.mark.parametrize("text", ["alder", "late", "GB", "555012"])
def test_they_are_not_found_by_the_middle_of_a_word_nor_by_what_the_office_notes(cast: Cast, text: str) -> None:
    make_customer(cast, **EVERY_FIELD)
    assert list_customer_names(cast, text=text) == []


def test_a_member_lists_the_customers_of_their_own_jobs_and_no_more_of_them_than_needed(cast: Cast) -> None:
    mine = make_customer(cast, **EVERY_FIELD)
    make_job(cast, mine, Role.MEMBER)
    make_job(cast, mine, Role.MEMBER)
    make_job(cast, make_customer(cast, "Ryburn Property"), Role.SUBCONTRACTOR)
    (result,) = cast.perform(list_customers, Role.MEMBER)["data"]
    assert result["id"] == mine
    assert {name for name in OFFICE_ONLY if result[name] is not None} == set()
    for given in ({"text": "property"}, {"order": "name"}, {"status": "active"}):
        assert list_customer_names(cast, Role.MEMBER, **given) == ["Calder Property Services"]
    assert (
        list_customer_names(cast, Role.MEMBER, text="ryburn")
        == list_customer_names(cast, Role.MEMBER, status="archived")
        == []
    )


def test_a_subcontractor_lists_none(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_customers, Role.SUBCONTRACTOR)


def test_for_a_page_they_are_counted_as_they_are_seen(cast: Cast) -> None:
    for name in ("Calder", "Ryburn", "Colne"):
        make_job(cast, make_customer(cast, name), *([Role.MEMBER] if name == "Calder" else []))
    for role, count in ((Role.OFFICE, 3), (Role.MEMBER, 1)):
        answer = cast.answer(list_customers, role, RequestDetails("r", with_actions=True), limit=1)
        page = orjson.loads(answer.body)
        assert (page["count"], len(page["data"]), page["hasMore"]) == (count, 1, count > 1)


def test_nobody_of_another_organisation_is_listed(cast: Cast, other_cast: Cast) -> None:
    make_customer(other_cast)
    assert list_customer_names(cast) == list_customer_names(cast, text="calder") == []


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"status": "gone"}, "status: is not one of 'active' or 'archived'"),
        ({"order": "age"}, "order: is not one of 'newest' or 'name'"),
        ({"text": "c"}, "text: is too short"),
        ({"startingAfter": "job_1"}, "startingAfter: is not the id of a customer"),
        ({"order": "name", "startingAfter": new_id("customer")}, "startingAfter: is not a record of this list"),
        ({"limit": 101}, "limit: is above 100"),
    ],
    ids=["status", "order", "text", "id", "nobody's", "limit"],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid, match=f"^{text}"):
        cast.perform(list_customers, **wrong)
