from contextlib import suppress

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, list_customers, update_customer
from mainstay.business.jobs.operations import update_job
from mainstay.business.organisation.settings import update_settings
from mainstay.business.records.search import search
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.customers import ADDRESS, close_job, make_contact, make_customer, make_job, make_site

pytestmark = pytest.mark.usefixtures("fresh_or_indexed_words")

CUSTOMER = {"name": "Müller & Söhne", "email": "office@muller.example", "phone": "+44 1422 555010"}


def make_records(cast: Cast, *assigned: Role) -> dict[str, str]:
    """Create one record of each kind; return their ids by kind."""
    customer = make_customer(cast, **CUSTOMER)
    contact = make_contact(cast, customer, phone="07700 900111", email="ann@boyle.example")
    site = make_site(cast, customer, name="The mill", contactId=contact, address=ADDRESS)
    job = make_job(cast, customer, *assigned, siteId=site, tags=["winter"])["id"]
    return {"customer": customer, "contact": contact, "site": site, "job": job}


def find_kinds(cast: Cast, text: str, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [hit["object"] for hit in cast.perform(search, role, text=text, **given)["hits"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("J-0001", ["job"]),
        ("j-0001", ["job"]),
        ("0001", ["job"]),
        ("J-1", ["job"]),
        ("j1", ["job"]),
        ("boiler", ["job"]),
        ("boil", ["job"]),
        ("BOILER winter", ["job"]),
        ("muller", ["customer", "site", "contact", "job"]),
        ("MÜLLER söhne", ["customer", "site", "contact", "job"]),
        ("sohne mill", ["site", "job"]),
        ("weir lane", ["site", "job"]),
        ("HX6 2AG", ["site", "job"]),
        ("hx62ag", ["site", "job"]),
        ("sowerby br", ["site", "job"]),
        ("ann boyle", ["contact"]),
        ("ann@boyle.example", ["contact"]),
        ("@boyle.example", ["contact"]),
        ("07700 900111", ["contact", "customer", "job"]),
        ("+44 7700 900111", ["contact", "customer", "job"]),
        ("0044 (0)7700/900-111", ["contact", "customer", "job"]),
        ("900111", ["contact", "customer", "job"]),
        ("0111", ["contact"]),
        ("01422 555010", ["customer", "job"]),
        ("office@muller.ex", ["customer"]),
        ("orla", ["person"]),
        ("nothing of the kind", []),
        ("boiler roof", []),
        ("oiler", []),
        ("0007", []),
    ],
)
def test_whatever_one_knows_of_a_record_finds_it(cast: Cast, text: str, found: list[str]) -> None:
    make_records(cast)
    assert sorted(find_kinds(cast, text)) == sorted(found)


@pytest.mark.parametrize("text", ["lodz", "ŁÓDŹ", "soren", "søren lod", "thor@lodz.ex", "thor@łódź.ex", "aero"])
def test_letters_that_few_have_on_their_keys_are_found_in_either_spelling(cast: Cast, text: str) -> None:
    make_customer(cast, "Søren Łódź", email="thor@łódź.example", reference="Ærø")
    make_customer(cast, "Lodging")
    assert [hit["title"] for hit in cast.perform(search, Role.OFFICE, text=text)["hits"]] == ["Søren Łódź"]


@pytest.mark.parametrize(
    "text", ["obrien", "O'Brien", "Joerg Kaefer", "jorg kafer", "Jörg obrien", "kaefer o'b", "Mueller Joerg"]
)
def test_names_are_found_as_people_type_them(cast: Cast, text: str) -> None:
    named = make_customer(cast, "Jörg Käfer O'Brien-Müller")
    # Each has a part of it, and none all.
    for other in ("Jörg Brienz", "Käfer", "Mueller"):
        make_customer(cast, other)
    hits = cast.perform(search, Role.OFFICE, text=text)["hits"]
    assert [hit["id"] for hit in hits] == [named]
    assert [one["id"] for one in cast.perform(list_customers, Role.OFFICE, text=text)["data"]] == [named]


def test_a_hit_says_what_it_is_and_where_it_is_seen(cast: Cast) -> None:
    made = make_records(cast)
    (hit,) = cast.perform(search, text="boiler")["hits"]
    assert hit == {
        "object": "job",
        "id": made["job"],
        "title": "J-0001 Replace the boiler",
        "detail": "Müller & Söhne",
        "status": "open",
        "customerId": made["customer"],
        "url": f"{cast.performer.base_url}/jobs/{made['job']}",
    }
    (hit,) = cast.perform(search, text="ann boyle")["hits"]
    assert (hit["title"], hit["detail"]) == ("Ann Boyle", "Müller & Söhne")


def test_kind_by_kind_the_newest_come_first_and_no_more_than_asked_for(cast: Cast) -> None:
    customer = make_customer(cast)
    jobs = [make_job(cast, customer, title=f"Calder {number}")["id"] for number in range(4)]
    found = cast.perform(search, text="calder", limit=3)
    assert [hit["id"] for hit in found["hits"]] == [customer, *jobs[:1:-1]]
    assert found["hasMore"] is True
    assert [hit["id"] for hit in cast.perform(search, text="calder", limit=1)["hits"]] == [customer]
    assert cast.perform(search, text="calder", limit=4)["hasMore"] is True
    assert cast.perform(search, text="calder", limit=5)["hasMore"] is False


def test_no_kind_crowds_out_the_others(cast: Cast) -> None:
    customer = make_customer(cast)
    made = [
        [make_contact(cast, customer, f"Calder {number}") for number in range(3)],
        [make_job(cast, customer, title=f"Calder {number}")["id"] for number in range(3)],
    ]
    assert sorted(find_kinds(cast, "calder", limit=3)) == ["contact", "customer", "job"]
    assert sorted(find_kinds(cast, "calder", limit=5)) == ["contact", "contact", "customer", "job", "job"]
    assert len(find_kinds(cast, "calder")) == 1 + sum(map(len, made))


def test_one_kind_alone_is_looked_through(cast: Cast) -> None:
    made = make_records(cast)
    hits = cast.perform(search, Role.OFFICE, text="muller", kind="job")["hits"]
    assert [(hit["object"], hit["id"]) for hit in hits] == [("job", made["job"])]
    with pytest.raises(Invalid, match=r"^kind: is not one of 'bill', 'contact', 'creditNote', 'customer', "):
        cast.perform(search, text="muller", kind="jobs")


def test_every_hit_of_a_customer_carries_their_id(cast: Cast) -> None:
    made = make_records(cast)
    result = {hit["object"]: hit["customerId"] for hit in cast.perform(search, text="muller")["hits"]}
    assert result == dict.fromkeys(("customer", "site", "contact", "job"), made["customer"])
    [person] = cast.perform(search, text="orla")["hits"]
    assert person["customerId"] is None


def test_a_contact_s_phone_number_leads_to_the_customer_and_to_live_jobs(cast: Cast) -> None:
    made = make_records(cast, Role.MEMBER)
    over = make_job(cast, made["customer"])["id"]
    close_job(cast, over)
    # Another customer's, and one with the same digits within another number, stay where they are.
    make_job(cast, make_customer(cast, "Bystander", phone="07700 900112"))
    hits = {hit["object"]: hit["id"] for hit in cast.perform(search, Role.OFFICE, text="07700 900111")["hits"]}
    assert hits == {"customer": made["customer"], "contact": made["contact"], "job": made["job"]}
    assert find_kinds(cast, "07700 900111", kind="job") == ["job"]
    assert find_kinds(cast, "07700 900111", limit=2) == ["contact", "customer"]
    # A member finds only records that they may see.
    theirs = make_job(cast, made["customer"])["id"]
    found = [hit["id"] for hit in cast.perform(search, Role.MEMBER, text="07700 900111")["hits"]]
    assert made["job"] in found
    assert theirs not in found


def test_customers_who_were_merged_come_last(cast: Cast) -> None:
    stays = make_customer(cast, "The Calder")
    for number in range(2):
        gone = make_customer(cast, f"Calder {number}")
        cast.perform(merge_customers, customerId=gone, intoCustomerId=stays, confirmed=True)
    job = make_job(cast, stays, title="Calder roof")["id"]
    hits = cast.perform(search, text="calder")["hits"]
    assert {hit["id"] for hit in hits[:2]} == {stays, job}
    assert [hit["status"] for hit in hits[2:]] == ["archived", "archived"]
    assert {hit["id"] for hit in cast.perform(search, text="calder", limit=2)["hits"]} == {stays, job}


@pytest.mark.parametrize("text", ["J-3", "j3", "J-0003", "job 3", "Job #3"])
def test_what_is_named_by_its_number_comes_first_however_old_it_is(cast: Cast, text: str) -> None:
    # Its customer is called so, and many newer jobs begin like it.
    customer = make_customer(cast, "J 30 Job 31")
    jobs = [make_job(cast, customer)["id"] for _ in range(3)]
    cast.perform(update_settings, jobNumbers={"next": 30})
    for _ in range(4):
        make_job(cast, customer)
    assert cast.perform(search, text=text, limit=2)["hits"][0]["title"] == "J-0003 Replace the boiler"
    assert cast.perform(search, text=text, limit=1)["hits"][0]["id"] == jobs[2]
    assert cast.perform(search, Role.MEMBER, text=text)["hits"] == []


def test_the_kind_comes_first_in_which_something_is_called_so(cast: Cast) -> None:
    customer = make_customer(cast, "Weir Property")
    site = make_site(cast, customer, name="Calder mill")
    job = make_job(cast, customer, siteId=site, title="Weir gate")["id"]
    assert find_kinds(cast, "weir") == ["customer", "site", "job"]
    assert find_kinds(cast, "calder mill") == ["site", "job"]
    assert find_kinds(cast, "gate") == ["job"]
    assert find_kinds(cast, "weir gate") == ["job"]
    other = make_customer(cast, "Other", reference="gate")
    hits = cast.perform(search, Role.OFFICE, text="gate")["hits"]
    assert [hit["id"] for hit in hits] == [job, other]


def test_of_a_kind_what_is_called_so_comes_before_what_is_newer(cast: Cast) -> None:
    names = ("Weir Lane Ltd", "The Weir", "Dale")
    made = [make_customer(cast, name, billingAddress=ADDRESS) for name in names]
    newer = make_customer(cast, "Newer", billingAddress=ADDRESS)
    hits = cast.perform(search, Role.OFFICE, text="weir")["hits"]
    assert [hit["id"] for hit in hits] == [made[0], made[1], newer, made[2]]


def test_whatever_state_it_is_in(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    assert [hit["status"] for hit in cast.perform(search, text="calder")["hits"]] == ["archived"]


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.OWNER, ["customer", "site", "contact", "job"]),
        (Role.ADMIN, ["customer", "site", "contact", "job"]),
        (Role.OFFICE, ["customer", "site", "contact", "job"]),
        (Role.MEMBER, ["customer", "site", "contact", "job"]),
        (Role.SUBCONTRACTOR, ["site", "contact", "job"]),
    ],
)
def test_of_what_is_one_s_own_each_role_finds_what_it_sees(cast: Cast, role: Role, seen: list[str]) -> None:
    make_records(cast, Role.MEMBER, Role.SUBCONTRACTOR)
    assert sorted(find_kinds(cast, "muller", role)) == sorted(seen)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
@pytest.mark.parametrize(
    "text", ["J-0001", "boiler", "muller", "weir", "hx62ag", "boyle", "900111", "ann@boyle.example", "winter muller"]
)
def test_of_what_is_not_the_field_finds_nothing(cast: Cast, role: Role, text: str) -> None:
    make_records(cast)
    make_job(cast, make_customer(cast, "Ryburn"), role, title="Roof")
    assert find_kinds(cast, text, role) == []
    assert find_kinds(cast, "roof", role) == ["job"]


def test_the_field_finds_nothing_by_what_it_is_not_shown(cast: Cast) -> None:
    customer = make_customer(cast, "Calder Property", reference="Ledger 17")
    order = {"customerOrderNumber": "PO 4711 Boiler"}
    job = make_job(cast, customer, Role.MEMBER, title="Replace the boiler", **order)["id"]
    assert (find_kinds(cast, "4711"), find_kinds(cast, "ledger")) == (["job"], ["customer"])
    for text in ("4711", "471", "PO 4711", "boiler 4711", "ledger", "calder ledger"):
        assert find_kinds(cast, text, Role.MEMBER) == []
    # What stands in what they see finds it, also where it stands elsewhere as well.
    assert find_kinds(cast, "calder boiler", Role.MEMBER) == ["job"]
    cast.perform(update_job, jobId=job, title="Replace the tank")
    assert (find_kinds(cast, "boiler"), find_kinds(cast, "boiler", Role.MEMBER)) == (["job"], [])
    cast.perform(update_job, jobId=job, title="Boiler 4711", customerOrderNumber="4712")
    assert (find_kinds(cast, "4711", Role.MEMBER), find_kinds(cast, "4712", Role.MEMBER)) == (["job"], [])
    cast.perform(update_customer, customerId=customer, name="Ledger and Sons", reference=None)
    assert find_kinds(cast, "ledger", Role.MEMBER) == ["customer"]


def test_with_the_job_goes_the_finding(cast: Cast) -> None:
    made = make_records(cast, Role.SUBCONTRACTOR)
    cast.perform(update_job, jobId=made["job"], assigned=[])
    assert find_kinds(cast, "muller", Role.SUBCONTRACTOR) == []


def test_a_subcontractor_finds_of_people_themselves_alone(cast: Cast) -> None:
    assert find_kinds(cast, "mia", Role.SUBCONTRACTOR) == []
    assert find_kinds(cast, "sam", Role.SUBCONTRACTOR) == ["person"]
    assert find_kinds(cast, "mia", Role.MEMBER) == ["person"]


def test_nothing_of_another_organisation_is_found(cast: Cast, other_cast: Cast) -> None:
    make_records(other_cast)
    for text in ("muller", "J-0001", "900111", "boiler winter"):
        assert find_kinds(cast, text) == []


def test_it_works_with_a_credential_that_only_reads_and_when_lapsed(cast: Cast) -> None:
    make_records(cast)
    cast.lapse()
    found = cast.perform(search, cast.actor(Role.OFFICE, Access.READ), text="boiler")
    assert len(found["hits"]) == 1


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"text": "x"}, "text: is too short"),
        ({"text": ""}, "text: is empty"),
        ({"text": "x" * 101}, "text: is longer than 100"),
        ({}, "text: is required"),
        ({"text": "boiler", "limit": 101}, "limit: is above 100"),
        ({"text": "boiler", "status": "open"}, "status: is not known here"),
    ],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid, match=f"^{text}"):
        cast.perform(search, **wrong)


@pytest.mark.parametrize(
    "text", ["%%", "__", "'' OR 1=1 --", "\\\\", "\uff42\uff4f\uff49\uff4c", "😀😀 boiler", "boiler" * 16]
)
def test_strange_texts_find_something_or_nothing_and_break_nothing(cast: Cast, text: str) -> None:
    make_records(cast)
    with suppress(Invalid):
        assert {*find_kinds(cast, text)} <= {"job"}


def test_whoever_finds_nothing_is_told_what_to_try(cast: Cast) -> None:
    found = cast.perform(search, Role.OFFICE, text="nothing of the kind")
    assert found["advice"].startswith("Nothing found. Try fewer words")
    make_records(cast)
    assert cast.perform(search, Role.OFFICE, text="boiler")["advice"] is None
