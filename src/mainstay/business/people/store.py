"""Where people are kept."""

from collections.abc import Collection
from typing import Any

import orjson

from mainstay.backing.database import Handle
from mainstay.business.people.model import Person
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.terms.listed import NEWEST, FoundBy, ListOrder, Own
from mainstay.terms.refusal import Conflict, Fault, Invalid
from mainstay.terms.rights import Right, holders
from mainstay.values.mailbox import fold_address
from mainstay.values.search import kept_words, words_of_address, words_of_phone, words_of_text
from mainstay.values.words import folded

_OWNERS = holders(Right.OWNERS_NAME)


def _derived(values: dict[str, Any]) -> dict[str, Any]:
    if "email" in values:
        values["email_folded"] = fold_address(values["email"])
    if "name" in values:
        values["name_folded"] = folded(values["name"])
    return values


def _words(name: str, email: str, skills: str, company: str | None) -> frozenset[str]:
    plain = " ".join((name, company or "", *orjson.loads(skills)))
    return kept_words(words_of_text(plain), words_of_address(email))


def _phone_words(phone: str | None) -> frozenset[str]:
    return frozenset(words_of_phone(phone))


PEOPLE = Listing(
    Person,
    source="person",
    what="person",
    prefix="person",
    id_field="person_id",
    facts={
        "only_owner": f"CASE WHEN person.role IN {_OWNERS} AND person.status = 'active' AND NOT EXISTS"
        " (SELECT 1 FROM person other WHERE other.organisation_id = :organisation AND other.status = 'active'"
        f" AND other.role IN {_OWNERS} AND other.id <> person.id) THEN 1 ELSE 0 END",
        "usual_hours": "(SELECT organisation.working_hours FROM organisation WHERE organisation.id = :organisation)",
    },
    own=Own("person.id", unless=Right.PEOPLE_READ),
    filters={"status": "person.status = :status", "role": "person.role = :role"},
    otherwise={"status": "person.status <> 'left'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    found_by=(
        FoundBy(("name", "email", "skills", "company_name"), _words),
        FoundBy(("phone",), _phone_words),
    ),
    derived=_derived,
)


def find_by_email(ctx: Context, email: str) -> Person | None:
    """The person with this address, present or not."""
    return PEOPLE.find(ctx, "person.email_folded = :email", email=fold_address(email))


def find_known(ctx: Context, email: str) -> Person | None:
    """The person with this address, or else whoever has left and had it as their sign-in: their history is theirs."""
    left = f"person.status = 'left' AND {_SIGNS_IN_BY}"
    return find_by_email(ctx, email) or PEOPLE.find(ctx, left, email=fold_address(email))


def check_signs_in_nowhere_else(ctx: Context, email: str, but: str | None) -> None:
    """Go on only if no other active person of the organisation has the sign-in of this address.

    By one sign-in one is one person: someone who is let go must not come back in as another.
    """
    known = PEOPLE.find(ctx, f"person.status = 'active' AND {_SIGNS_IN_BY}", email=fold_address(email))
    if known and known.id != but:
        raise Conflict(f"{email} is the sign-in of {known.name}, who is a person of this organisation already.")


_SIGNS_IN_BY = "person.account_id IN (SELECT id FROM account WHERE email_folded = :email)"


def find_called(rows: Handle, text: str) -> list[str]:
    """The ids of the first two people with this id, e-mail address or name."""
    found = rows.all(
        "SELECT id FROM person WHERE organisation_id = :organisation"
        " AND (id = :text OR email_folded = :email OR name_folded = :name) LIMIT 2",
        text=text,
        email=fold_address(text),
        name=folded(text),
    )
    return [str(identity) for (identity,) in found]


def check_here(ctx: Context, field: str, people: Collection[str], *, or_left: bool = False) -> None:
    """Refuse anyone who is not, or no longer, a person of the organisation; `or_left`, only who never was."""
    sql = "SELECT name, status FROM person WHERE organisation_id = :organisation AND id = :id"
    for identity in people:
        person = ctx.rows.one(sql, id=identity)
        if person is None or (person[1] == "left" and not or_left):
            problem = f"names {person[0]}, who has left" if person else "names nobody of this organisation"
            raise Invalid([Fault(field, f"{problem}; list_people tells who is here")])
