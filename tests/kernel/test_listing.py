"""One place for how records of a kind are read and written: whose they are, what is shown, in which order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
import pytest

from cast import Cast
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.kernel.context import Context, Envelope
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, ListOrder, Own
from mainstay.terms.refusal import Invalid, NotFound
from mainstay.terms.rights import Right, Role
from mainstay.terms.shapes import Kept, ListInput, Record, Shown
from mainstay.terms.wire import to_json
from mainstay.values.words import folded
from recording import RecordingDatabase


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
class Card(Kept):
    shown = CardOut

    name: str
    phone: str | None
    skills: list[str]
    # Facts.
    role: Role
    status: Literal["invited", "active", "left"]
    can_be_called: bool
    spare: list[str] | None


@dataclass(frozen=True, slots=True)
class SwappedCard(Kept):
    shown = SwappedOut

    email: str


class ListCards(ListInput):
    role: Role | None = None
    kind: Literal["here", "away"] | None = None
    order: Literal["newest", "name"] = "newest"


FACTS = {
    "spare": "NULL",
    "can_be_called": "CASE WHEN person.phone IS NULL THEN 0 ELSE 1 END",
    "status": "person.status",
    "role": "person.role",
}


def derived(values: dict[str, Any]) -> dict[str, Any]:
    more = {"name_folded": folded(values["name"])} if "name" in values else {}
    return values | more | ({"email_folded": values["email"].casefold()} if "email" in values else {})


CARDS = Listing(
    Card,
    source="person",
    what="card",
    prefix="person",
    id_field="card_id",
    facts=FACTS,
    own=Own("person.id", unless=Right.PEOPLE_CHANGE),
    filters={
        "role": "person.role = :role",
        "kind": {"here": "person.status = 'active'", "away": "person.status <> 'active'"},
    },
    otherwise={"kind": "person.status <> 'left'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    derived=derived,
)
SWAPPED = Listing(SwappedCard, source="person", what="card", prefix="person", id_field="card_id")


@contextmanager
def opened(cast: Cast, role: Role = Role.OWNER, *, actions: bool = False) -> Iterator[Context]:
    """The surroundings of an act that is taken back."""
    actor = cast.actor(role)
    with cast.stage.database.changing(cast.organisation, keep=False) as rows:
        yield Context(rows, actor, Envelope("req_1", actions=actions), cast.stage.clock)


def names(ctx: Context, **given: Any) -> list[str]:
    page = orjson.loads(to_json(CARDS.page(ctx, ListCards.model_validate(given))))
    return [card["name"] for card in page["data"]]


def test_the_columns_are_those_of_the_model_in_its_order(cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    with opened(cast) as ctx:
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
    with opened(cast) as ctx:
        mia, adam = (CARDS.fetch(ctx, cast.people[role]) for role in (Role.MEMBER, Role.ADMIN))
    assert (mia.name, mia.phone, mia.skills, mia.status) == ("Mia Member", "1", ["gas", "☂"], "active")
    assert (mia.role, adam.role) == (Role.MEMBER, Role.ADMIN)
    assert isinstance(mia.role, Role)
    assert (mia.can_be_called, adam.can_be_called) == (True, False)
    assert isinstance(adam.can_be_called, bool)
    assert (adam.phone, adam.skills, adam.spare) == (None, [], None)
    assert (mia.id, mia.version, adam.version) == (cast.people[Role.MEMBER], 2, 1)


def test_what_the_rules_see_beyond_what_is_shown_is_not_shown(cast: Cast) -> None:
    with opened(cast) as ctx:
        card = CARDS.fetch(ctx, cast.people[Role.MEMBER])
    shown = orjson.loads(to_json(card))
    assert shown.keys() == {field.alias for field in CardOut.model_fields.values()}
    assert len(card.row) == len(shown) - 1


def test_those_who_see_only_their_own_see_no_other_anywhere(cast: Cast) -> None:
    own, other = cast.people[Role.OFFICE], cast.people[Role.MEMBER]
    with opened(cast, Role.OFFICE) as ctx:
        assert CARDS.fetch(ctx, own).name == "Orla Office"
        with pytest.raises(NotFound, match=r"^There is no card with that identifier\.$"):
            CARDS.fetch(ctx, other)
        for order in ("newest", "name"):
            assert names(ctx, order=order) == ["Orla Office"]
        assert names(ctx, startingAfter=other) in ([], ["Orla Office"])
        # Of one that they do not see, what lies behind it would tell where it stands.
        with pytest.raises(Invalid, match=r"^startingAfter: is of no record here"):
            names(ctx, order="name", startingAfter=other)
        assert names(ctx, role=Role.MEMBER) == []
        assert names(ctx, kind="here") == ["Orla Office"]
    with opened(cast) as ctx:
        assert len(names(ctx)) == 5


def test_another_organisation_s_are_neither_found_nor_listed(cast: Cast, stranger: Cast) -> None:
    with opened(cast) as ctx:
        with pytest.raises(NotFound):
            CARDS.fetch(ctx, stranger.people[Role.MEMBER])
        assert len(names(ctx)) == 5
        assert CARDS.find(ctx, "person.id = :card", card=stranger.people[Role.MEMBER]) is None


def test_a_rule_finds_also_what_the_one_who_asks_may_not_see(cast: Cast) -> None:
    with opened(cast, Role.MEMBER) as ctx:
        found = CARDS.find(ctx, "person.email_folded = :email", email="adam@cast.example")
    assert found
    assert found.name == "Adam Admin"


def test_a_filter_narrows_by_its_value_and_what_holds_without_it_gives_way(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    cast.perform(invite_person, name="Ian Invited", email="ian@new.example", role="office")
    with opened(cast) as ctx:
        assert names(ctx, kind="away") == ["Ian Invited", "Mia Member"]
        assert names(ctx, kind="here") == ["Sam Subcontractor", "Orla Office", "Adam Admin", "Olivia Owner"]
        assert names(ctx) == ["Ian Invited", *names(ctx, kind="here")]
        assert names(ctx, role=Role.OFFICE) == ["Ian Invited", "Orla Office"]
        assert names(ctx, role=Role.OFFICE, kind="away") == ["Ian Invited"]


def test_the_same_question_is_asked_in_the_same_words(cast: Cast) -> None:
    database = RecordingDatabase(cast.stage.database)
    with opened(replace(cast, stage=replace(cast.stage, database=database))) as ctx:
        database.statements.clear()
        for role in (Role.OWNER, Role.MEMBER, Role.OWNER):
            names(ctx, role=role)
    # Text of a request never becomes text of a statement.
    assert len({statement.sql for statement in database.statements}) == 1


def test_a_cursor_under_another_order_finds_its_place(cast: Cast) -> None:
    for number, name in enumerate(("Bea", "bea", "Béa", "Ann")):
        cast.perform(invite_person, name=name, email=f"{number}@new.example", role="office")
    with opened(cast) as ctx:
        whole = names(ctx, order="name")
        assert whole[:5] == ["Adam Admin", "Ann", "Bea", "bea", "Béa"]
        walked: list[str] = []
        behind: dict[str, Any] = {}
        more = True
        while more:
            page = CARDS.page(ctx, ListCards.model_validate({"order": "name", "limit": 2, **behind}))
            walked += [str(row[6]) for row in page.rows]
            behind = {"startingAfter": page.rows[-1][0]}
            more = page.has_more
    assert walked == whole


def test_where_someone_asks_what_can_be_done_the_rows_have_their_facts(cast: Cast) -> None:
    with opened(cast) as ctx:
        assert CARDS.page(ctx, ListCards()).keep is None
    with opened(cast, actions=True) as ctx:
        page = CARDS.page(ctx, ListCards(role=Role.MEMBER))
        assert page.keep is not None
        (card,) = [page.keep(row) for row in page.rows]
    assert isinstance(card, Card)
    assert (card.role, card.status) == (Role.MEMBER, "active")


VALUES = {"name": "Éva  Neu", "email": "Eva@New.example", "skills": ["x"], "role": "office", "status": "invited"}


def test_what_is_inserted_comes_back_as_it_is_kept(cast: Cast) -> None:
    with opened(cast) as ctx:
        made = CARDS.insert(ctx, VALUES)
        assert made == CARDS.fetch(ctx, made.id)
        assert (made.version, made.role, made.skills) == (1, Role.OFFICE, ["x"])
        assert ctx.rows.one(
            "SELECT name_folded, email_folded FROM person WHERE organisation_id = :organisation AND id = :id",
            id=made.id,
        ) == ("eva neu", "eva@new.example")
        assert [*ctx.pen.touched] == [made.id]


def test_what_is_saved_comes_back_changed_and_what_is_not_different_as_the_very_same(cast: Cast) -> None:
    with opened(cast) as ctx:
        card = CARDS.fetch(ctx, cast.people[Role.MEMBER])
        changed = CARDS.save(ctx, card, {"phone": "1", "skills": ["gas"]})
        assert (changed.phone, changed.skills, changed.can_be_called, changed.version) == ("1", ["gas"], True, 2)
        assert changed == CARDS.fetch(ctx, card.id)
        assert [*ctx.pen.touched] == [card.id]
        ctx.pen.touched.clear()
        assert CARDS.save(ctx, changed, {"phone": "1", "skills": ["gas"]}) is changed
        assert CARDS.save(ctx, changed, {}) is changed
        assert [*ctx.pen.touched] == []


def test_a_field_that_is_neither_shown_nor_a_fact_is_a_bug(cast: Cast) -> None:
    lacking: Listing[Card] = replace(CARDS, facts={"role": "person.role"})
    with opened(cast) as ctx, pytest.raises(ValueError, match="not in list"):
        lacking.fetch(ctx, cast.people[Role.MEMBER])


def test_a_listing_made_of_another_has_statements_of_its_own(cast: Cast) -> None:
    made: Listing[Card] = replace(CARDS, facts=FACTS | {"spare": "'[\"kit\"]'"})
    with opened(cast) as ctx:
        spares = [
            (listing.fetch(ctx, cast.people[Role.MEMBER]).spare, listing.find_newest(ctx, 1)[0].spare)
            for listing in (CARDS, made, CARDS)
        ]
    assert spares == [(None, None), (["kit"], ["kit"]), (None, None)]


class AloneOut(Shown):
    noun = "alone"

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Alone(Kept):
    shown = AloneOut


def test_where_an_organisation_has_only_one_no_id_is_needed(cast: Cast) -> None:
    only = Listing(Alone, source="organisation", what="organisation", prefix="org", id_field=None, tenant="id")
    with opened(cast) as ctx:
        assert only.fetch(ctx, None).id == cast.organisation
