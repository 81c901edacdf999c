"""How a `RecordStore` reads and writes one kind of record: visibility, output and order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
import pytest

from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.record_store import RecordStore
from mainstay.values.choices import fold_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, Visibility
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.record_json import to_json
from mainstay.vocabulary.refusal import Invalid, NotFound
from mainstay.vocabulary.schemas import ListInput, Output, Record, StoredRecord
from support.cast import Cast
from support.recorded_statements import RecordingDatabase


class CardOut(Record):
    noun = "card"

    name: str
    email: str
    phone: str | None
    skills: list[str]


class SwappedOut(Record):
    """The same with two columns swapped."""

    noun = "card"

    email: str
    name: str
    phone: str | None
    skills: list[str]


@dataclass(frozen=True, slots=True)
class Card(StoredRecord):
    output = CardOut

    name: str
    phone: str | None
    skills: list[str]
    # Facts.
    role: Role
    status: Literal["invited", "active", "left"]
    can_be_called: bool
    spare: list[str] | None


@dataclass(frozen=True, slots=True)
class SwappedCard(StoredRecord):
    output = SwappedOut

    email: str


class ListCards(ListInput):
    role: Role | None = None
    kind: Literal["here", "away"] | None = None
    order: Literal["newest", "name"] = "newest"


FACTS = {
    "spare": "NULL",
    "can_be_called": "CASE WHEN person.phone IS NULL THEN 0 ELSE 1 END",
}


def add_derived(values: dict[str, Any]) -> dict[str, Any]:
    folded_values = {"name_folded": fold_text(values["name"])} if "name" in values else {}
    return values | folded_values | ({"email_folded": values["email"].casefold()} if "email" in values else {})


CARDS = RecordStore(
    Card,
    source="person",
    label="card",
    columns=FACTS,
    visibility=Visibility("person.id", unrestricted_with=Permission.PEOPLE_CHANGE),
    equal_filters=("role",),
    filters={
        "kind": {"here": "person.status = 'active'", "away": "person.status <> 'active'"},
    },
    default_conditions={"kind": "person.status <> 'left'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    derive_columns=add_derived,
)
SWAPPED = RecordStore(SwappedCard, source="person", label="card")


@contextmanager
def open_context(cast: Cast, role: Role = Role.OWNER, *, actions: bool = False) -> Iterator[Context]:
    """Open the context of a write that is rolled back."""
    actor = cast.actor(role)
    with cast.performer.database.write_transaction(cast.organisation, keep=False) as db:
        yield Context(db, actor, RequestDetails("req_1", with_actions=actions), cast.performer.clock)


def list_names(ctx: Context, **given: Any) -> list[str]:
    page = orjson.loads(to_json(CARDS.page(ctx, ListCards.model_validate(given))))
    return [card["name"] for card in page["data"]]


def test_the_columns_are_those_of_the_model_in_its_order(cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    with open_context(cast) as ctx:
        records = [orjson.loads(to_json(listing.fetch(ctx, person))) for listing in (CARDS, SWAPPED)]
        pages = [orjson.loads(to_json(listing.page(ctx, ListCards()))) for listing in (CARDS, SWAPPED)]
    # Text for text: a list kept in step by hand would have shown the one as the other.
    listed = [entry for page in pages for entry in page["data"] if entry["id"] == person]
    assert len(listed) == 2
    for card in (*records, *listed):
        assert (card["name"], card["email"]) == ("Mia Member", "mia@cast.example")
    assert list(records[0]).index("name") < list(records[0]).index("email")
    assert list(records[1]).index("name") > list(records[1]).index("email")


def test_the_rules_see_words_as_words_and_lists_as_lists(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], skills=["gas", "☂"], phone="1")
    with open_context(cast) as ctx:
        mia, adam = (CARDS.fetch(ctx, cast.people[role]) for role in (Role.MEMBER, Role.ADMIN))
    assert (mia.name, mia.phone, mia.skills, mia.status) == ("Mia Member", "1", ["gas", "☂"], "active")
    assert (mia.role, adam.role) == (Role.MEMBER, Role.ADMIN)
    assert isinstance(mia.role, Role)
    assert (mia.can_be_called, adam.can_be_called) == (True, False)
    assert isinstance(adam.can_be_called, bool)
    assert (adam.phone, adam.skills, adam.spare) == (None, [], None)
    assert (mia.id, mia.version, adam.version) == (cast.people[Role.MEMBER], 2, 1)


def test_what_the_rules_see_beyond_what_is_shown_is_not_shown(cast: Cast) -> None:
    with open_context(cast) as ctx:
        card = CARDS.fetch(ctx, cast.people[Role.MEMBER])
    shown = orjson.loads(to_json(card))
    assert shown.keys() == {field.alias for field in CardOut.model_fields.values()}
    assert len(card.row) == len(shown) - 1


def test_those_who_see_only_their_own_see_no_other_anywhere(cast: Cast) -> None:
    own, other = cast.people[Role.OFFICE], cast.people[Role.MEMBER]
    with open_context(cast, Role.OFFICE) as ctx:
        assert CARDS.fetch(ctx, own).name == "Orla Office"
        with pytest.raises(NotFound, match=r"^There is no card with that identifier\.$"):
            CARDS.fetch(ctx, other)
        for order in ("newest", "name"):
            assert list_names(ctx, order=order) == ["Orla Office"]
        assert list_names(ctx, startingAfter=other) in ([], ["Orla Office"])
        # Of one that they do not see, what lies behind it would tell where it stands.
        with pytest.raises(Invalid, match=r"^startingAfter: is not a record of this list"):
            list_names(ctx, order="name", startingAfter=other)
        assert list_names(ctx, role=Role.MEMBER) == []
        assert list_names(ctx, kind="here") == ["Orla Office"]
    with open_context(cast) as ctx:
        assert len(list_names(ctx)) == 5


def test_another_organisation_s_are_neither_found_nor_listed(cast: Cast, other_cast: Cast) -> None:
    with open_context(cast) as ctx:
        with pytest.raises(NotFound):
            CARDS.fetch(ctx, other_cast.people[Role.MEMBER])
        assert len(list_names(ctx)) == 5
        assert CARDS.find(ctx, "person.id = :card", card=other_cast.people[Role.MEMBER]) is None


def test_a_rule_finds_also_what_the_one_who_asks_may_not_see(cast: Cast) -> None:
    with open_context(cast, Role.MEMBER) as ctx:
        found = CARDS.find(ctx, "person.email_folded = :email", email="adam@cast.example")
    assert found
    assert found.name == "Adam Admin"


def test_a_filter_narrows_by_its_value_and_what_holds_without_it_gives_way(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    cast.perform(invite_person, name="Ian Invited", email="ian@new.example", role="office")
    with open_context(cast) as ctx:
        assert list_names(ctx, kind="away") == ["Ian Invited", "Mia Member"]
        assert list_names(ctx, kind="here") == ["Sam Subcontractor", "Orla Office", "Adam Admin", "Olivia Owner"]
        assert list_names(ctx) == ["Ian Invited", *list_names(ctx, kind="here")]
        assert list_names(ctx, role=Role.OFFICE) == ["Ian Invited", "Orla Office"]
        assert list_names(ctx, role=Role.OFFICE, kind="away") == ["Ian Invited"]


def test_the_same_question_is_asked_in_the_same_words(cast: Cast) -> None:
    database = RecordingDatabase(cast.performer.database)
    with open_context(replace(cast, performer=replace(cast.performer, database=database))) as ctx:
        database.statements.clear()
        for role in (Role.OWNER, Role.MEMBER, Role.OWNER):
            list_names(ctx, role=role)
    # Text of a request never becomes text of a statement.
    assert len({statement.sql for statement in database.statements}) == 1


def test_a_cursor_under_another_order_finds_its_place(cast: Cast) -> None:
    for number, name in enumerate(("Bea", "bea", "Béa", "Ann")):
        cast.perform(invite_person, name=name, email=f"{number}@new.example", role="office")
    with open_context(cast) as ctx:
        whole = list_names(ctx, order="name")
        assert whole[:5] == ["Adam Admin", "Ann", "Bea", "bea", "Béa"]
        names_seen: list[str] = []
        behind: dict[str, Any] = {}
        more = True
        while more:
            page = CARDS.page(ctx, ListCards.model_validate({"order": "name", "limit": 2, **behind}))
            names_seen += [str(row[6]) for row in page.rows]
            behind = {"startingAfter": page.rows[-1][0]}
            more = page.has_more
    assert names_seen == whole


def test_where_someone_asks_what_can_be_done_the_rows_have_their_facts(cast: Cast) -> None:
    with open_context(cast) as ctx:
        assert CARDS.page(ctx, ListCards()).from_row is None
    with open_context(cast, actions=True) as ctx:
        page = CARDS.page(ctx, ListCards(role=Role.MEMBER))
        assert page.from_row is not None
        (card,) = [page.from_row(row) for row in page.rows]
    assert isinstance(card, Card)
    assert (card.role, card.status) == (Role.MEMBER, "active")


VALUES = {"name": "Éva  Neu", "email": "Eva@New.example", "skills": ["x"], "role": "office", "status": "invited"}


def test_what_is_inserted_comes_back_as_it_is_kept(cast: Cast) -> None:
    with open_context(cast) as ctx:
        made = CARDS.insert(ctx, VALUES)
        assert made == CARDS.fetch(ctx, made.id)
        assert (made.version, made.role, made.skills) == (1, Role.OFFICE, ["x"])
        assert ctx.db.one(
            "SELECT name_folded, email_folded FROM person WHERE organisation_id = :organisation AND id = :id",
            id=made.id,
        ) == ("eva neu", "eva@new.example")
        assert [*ctx.writer.touched] == [made.id]


def test_what_is_saved_comes_back_changed_and_what_is_not_different_as_the_very_same(cast: Cast) -> None:
    with open_context(cast) as ctx:
        card = CARDS.fetch(ctx, cast.people[Role.MEMBER])
        changed = CARDS.save(ctx, card, {"phone": "1", "skills": ["gas"]})
        assert (changed.phone, changed.skills, changed.can_be_called, changed.version) == ("1", ["gas"], True, 2)
        assert changed == CARDS.fetch(ctx, card.id)
        assert [*ctx.writer.touched] == [card.id]
        ctx.writer.touched.clear()
        assert CARDS.save(ctx, changed, {"phone": "1", "skills": ["gas"]}) is changed
        assert CARDS.save(ctx, changed, {}) is changed
        assert [*ctx.writer.touched] == []


def test_a_field_that_is_neither_shown_nor_a_fact_is_a_bug(cast: Cast) -> None:
    lacking: RecordStore[Card] = replace(CARDS, columns={"spare": "NULL"})
    with open_context(cast) as ctx, pytest.raises(Exception, match="can_be_called"):
        lacking.fetch(ctx, cast.people[Role.MEMBER])


def test_a_listing_made_of_another_has_statements_of_its_own(cast: Cast) -> None:
    made: RecordStore[Card] = replace(CARDS, columns=FACTS | {"spare": "'[\"kit\"]'"})
    with open_context(cast) as ctx:
        spares = [
            (listing.fetch(ctx, cast.people[Role.MEMBER]).spare, listing.find_newest(ctx, 1)[0].spare)
            for listing in (CARDS, made, CARDS)
        ]
    assert spares == [(None, None), (["kit"], ["kit"]), (None, None)]


class AloneOut(Output):
    noun = "alone"

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Alone(StoredRecord):
    output = AloneOut


def test_where_an_organisation_has_only_one_no_id_is_needed(cast: Cast) -> None:
    only = RecordStore(Alone, source="organisation", id_field=None, tenant_column="id")
    with open_context(cast) as ctx:
        assert only.fetch(ctx, None).id == cast.organisation
