"""Storage of people."""

from collections.abc import Collection
from typing import Any

import orjson

from mainstay.business.people.model import Person
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context
from mainstay.kernel.kind import Kind
from mainstay.values.choices import fold_text
from mainstay.values.email_address import fold_address
from mainstay.values.message import Message
from mainstay.values.search_words import combine_words, words_of_address, words_of_phone, words_of_text
from mainstay.vocabulary.list_queries import NEWEST, ListOrder, SearchFields, Visibility
from mainstay.vocabulary.permissions import Permission, sql_roles_with
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid

_OWNER_ROLES = sql_roles_with(Permission.OWNERS_NAME)


def _add_folded_fields(values: dict[str, Any]) -> dict[str, Any]:
    if "email" in values:
        values["email_folded"] = fold_address(values["email"])
    if "name" in values:
        values["name_folded"] = fold_text(values["name"])
    return values


def _search_words(name: str, email: str, skills: str, company: str | None) -> frozenset[str]:
    texts = " ".join((name, company or "", *orjson.loads(skills)))
    return combine_words(words_of_text(texts), words_of_address(email))


def _phone_words(phone: str | None) -> frozenset[str]:
    return frozenset(words_of_phone(phone))


PEOPLE = Kind(
    Person,
    source="person",
    plural="people",
    area="People",
    new="invite",
    columns={
        "only_owner": f"CASE WHEN person.role IN {_OWNER_ROLES} AND person.status = 'active' AND NOT EXISTS"
        " (SELECT 1 FROM person other WHERE other.organisation_id = :organisation AND other.status = 'active'"
        f" AND other.role IN {_OWNER_ROLES} AND other.id <> person.id) THEN 1 ELSE 0 END",
        "usual_hours": "(SELECT organisation.working_hours FROM organisation WHERE organisation.id = :organisation)",
    },
    visibility=Visibility("person.id", unrestricted_with=Permission.PEOPLE_READ),
    equal_filters=("status", "role"),
    default_conditions={"status": "person.status <> 'left'"},
    orders={NEWEST: ListOrder("id", descending=True), "name": ListOrder("name_folded")},
    search_fields=(
        SearchFields(("name", "email", "skills", "company_name"), _search_words),
        SearchFields(("phone",), _phone_words),
    ),
    derive_columns=_add_folded_fields,
)


def find_by_email(ctx: Context, email: str) -> Person | None:
    """Return the person with this email address, also if they have left."""
    return PEOPLE.find(ctx, "person.email_folded = :email", email=fold_address(email))


def find_existing_person(ctx: Context, email: str) -> Person | None:
    """Return the person with this email address, or a person who has left and signed in with it.

    A person who is invited again keeps their history.
    """
    left_sql = f"person.status = 'left' AND {_HAS_SIGN_IN_SQL}"
    return find_by_email(ctx, email) or PEOPLE.find(ctx, left_sql, email=fold_address(email))


def check_sign_in_is_free(ctx: Context, email: str, except_id: str | None) -> None:
    """Refuse an email address if another active person of the organisation signs in with it.

    One sign-in stands for one person: a person who was removed must not come back as someone else.
    """
    other = PEOPLE.find(ctx, f"person.status = 'active' AND {_HAS_SIGN_IN_SQL}", email=fold_address(email))
    if other and other.id != except_id:
        raise Conflict(
            Message("{person} already signs in to this organisation with {email}.", email=email, person=other.name)
        )


_HAS_SIGN_IN_SQL = "person.account_id IN (SELECT id FROM account WHERE email_folded = :email)"


def find_by_name(db: DatabaseHandle, text: str) -> list[str]:
    """Return the ids of the first two people with this id, email address or name."""
    people = db.all(
        "SELECT id FROM person WHERE organisation_id = :organisation"
        " AND (id = :text OR email_folded = :email OR name_folded = :name) LIMIT 2",
        text=text,
        email=fold_address(text),
        name=fold_text(text),
    )
    return [str(record_id) for (record_id,) in people]


def check_people(ctx: Context, field: str, people: Collection[str], *, allow_left: bool = False) -> None:
    """Refuse ids of people who are not in the organisation. `allow_left` also allows people who have left."""
    sql = "SELECT name, status FROM person WHERE organisation_id = :organisation AND id = :id"
    for record_id in people:
        person = ctx.db.one(sql, id=record_id)
        if person is None or (person[1] == "left" and not allow_left):
            hint = Message("list_people shows who is active")
            problem = (
                Message("is {person}, who has left", person=str(person[0]), for_programs=hint)
                if person
                else Message("is not part of this organisation", for_programs=hint)
            )
            raise Invalid([Fault(field, problem)])
