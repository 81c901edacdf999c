"""The step by which what was kept with letters of few languages is found, and ordered, by those that people type."""

from typing import Any

import pytest

from cast import Cast, assemble
from earlier import open_before, run_on_words
from installations import Opened
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.business.customers.operations import list_customers
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.people.operations import invite_person
from mainstay.business.records.search import search
from mainstay.settings import Settings
from mainstay.terms.rights import Role
from mainstay.values import words
from mainstay.values.moments import system_clock
from mainstay.values.search import MOST_KEPT
from ordering import a_bill
from trade import a_customer, a_job, a_site, work_off
from wares import a_supplier, an_item

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("letters_as_typed")]
# A later step, by which customers are found as duplicates of each other: by their letters as they are typed.
(KEYS,) = [step for step in steps_for("sqlite") if step.name.endswith("customer_keys")]
HERE, ELSEWHERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
PLACE = {"line1": "Ærøvej 7", "city": "Łódź", "country": "PL"}
# Words enough that not all are kept, those with such a letter the last of them.
LONG = " ".join(f"w{number}" for number in range(MOST_KEPT)) + " Ærø"
# The names of customers before and after; each organisation has them.
FOLDED = {
    "søren ærø": "soren aero",
    "łodz": "lodz",
    "đðħŧŋ\N{LATIN SMALL LETTER DOTLESS I}əœþ": "ddhtnieoeth",
    "calder": "calder",
    "иванов": "иванов",
}
# The words of a record before and after: one that is cut, two that become one, and some that stay.
BEFORE = {"æ" * 40, "@søren@ø.example", "søren", "soren", "calder", "иванов"}
AFTER = {"ae" * 20, "@soren@o.example", "soren", "calder", "иванов"}


def test_names_and_words_of_every_organisation_follow(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE, ELSEWHERE) as database:
        for organisation in (HERE, ELSEWHERE):
            _keep(database, organisation)
        assert STEP.name in migrate(database)
        for organisation in (HERE, ELSEWHERE):
            with database.reading(organisation) as rows:
                for table in ("customer", "own_customer"):
                    names = rows.all(f"SELECT id, name_folded FROM {table} WHERE organisation_id = :organisation")
                    assert {*names} == {(f"customer {before}", after) for before, after in FOLDED.items()}
                kept = rows.all("SELECT kind, word, record_id FROM search_word WHERE organisation_id = :organisation")
                assert sorted(kept) == sorted(("customer", word, "customer łodz") for word in AFTER)
        with database.reading(EVERY) as rows:
            assert rows.all("SELECT kind FROM outbox") == []


def _keep(database: WholeDatabase, organisation: str) -> None:
    with database.changing(EVERY) as rows:
        person = f"person {organisation}"
        rows.run(
            "INSERT INTO person (organisation_id, id, name, name_folded, email, email_folded, role, status, skills,"
            " created_at, created_by, updated_at, updated_by, version)"
            " VALUES (:here, :id, 'P', 'p', 'p', 'p', 'member', 'active', '[]', '', '{}', '', '{}', 1)",
            here=organisation,
            id=person,
        )
        for name in FOLDED:
            rows.run(
                "INSERT INTO customer (organisation_id, id, name, name_folded, kind, status, created_at, created_by,"
                " updated_at, updated_by, version)"
                " VALUES (:here, :id, :name, :name, 'company', 'active', '', '{}', '', '{}', 1)",
                here=organisation,
                id=f"customer {name}",
                name=name,
            )
            rows.run(
                "INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)"
                " VALUES (:here, :person, :id, 'active', :name)",
                here=organisation,
                person=person,
                id=f"customer {name}",
                name=name,
            )
        for word in BEFORE:
            rows.run(
                "INSERT INTO search_word (organisation_id, kind, word, record_id)"
                " VALUES (:here, 'customer', :word, 'customer łodz')",
                here=organisation,
                word=word,
            )


def test_what_was_made_before_is_found_in_either_spelling_and_the_books_are_sound(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(words, "_AS_TYPED", {})
        cast = assemble(opened.stage)
        made = _furnish(cast)
    assert _found(cast, "lodz") == []
    run_on_words(opened.database, STEP)
    _make_keys_anew(opened.database)
    for text in ("lodz", "Łódź", "LODZ soren", "søren aerovej"):
        assert _found(cast, text) == [made["customer"], made["job"], made["site"]], text
    for text, kind in (("thor", "person"), ("aero 890", "bill"), ("gudrun", "supplier"), ("dordevic", "item")):
        assert _found(cast, text) == [made[kind]], text
    work_off(cast)
    assert _found(cast, "w77 ærø") == [made["long"]]
    # What the field is not shown is hidden from it as before, and what it is shown as well is not.
    assert [_found_by_field(cast, text) for text in ("ostersoen", "kobenhavn")] == [[], [made["job"]]]
    assert opened.flaws(system_clock()) == {}
    ordered = cast.perform(list_customers, order="name")["data"]
    assert [customer["name"] for customer in ordered] == ["Calder", "Søren Łódź", "Zabel"]


def _make_keys_anew(database: WholeDatabase) -> None:
    with database.migrating() as handle:
        handle.run("DROP INDEX customer_key_first")
        handle.run("DELETE FROM customer_key")
        KEYS.run(handle)


def _furnish(cast: Cast) -> dict[str, str]:
    for name in ("Zabel", "Calder"):
        a_customer(cast, name)
    customer = a_customer(cast, "Søren Łódź", billingAddress=PLACE)
    site = a_site(cast, customer, name="Kontor", address=PLACE)
    order = {"title": "København", "customerOrderNumber": "Østersøen Kobenhavn"}
    supplier = a_supplier(cast, "Guðrún")
    return {
        "customer": customer,
        "site": site,
        "job": a_job(cast, customer, Role.MEMBER, siteId=site, **order)["id"],
        "long": an_item(cast, "Pipe", description=LONG),
        "person": cast.perform(invite_person, name="Þór", email="thor@x.example", role="member")["id"],
        "supplier": supplier,
        "item": an_item(cast, "Đorđević"),
        "bill": a_bill(cast, supplierId=a_supplier(cast, "Ærø"), supplierNumber="890")["id"],
    }


def _found(cast: Cast, text: str) -> list[Any]:
    return sorted(hit["id"] for hit in cast.perform(search, Role.OFFICE, text=text)["hits"])


def _found_by_field(cast: Cast, text: str) -> list[Any]:
    return [job["id"] for job in cast.perform(list_jobs, Role.MEMBER, text=text)["data"]]
