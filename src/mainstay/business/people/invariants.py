"""Invariant: one sign-in belongs to only one active person."""

from collections.abc import Iterator
from itertools import groupby

from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation


def find_shared_sign_ins(context: CheckContext) -> Iterator[Violation]:
    """Yield sign-ins that belong to several active people. Older versions allowed this."""
    people = context.db.stream(
        "SELECT account.email, person.name, person.id FROM person JOIN account ON account.id = person.account_id"
        " WHERE person.organisation_id = :organisation AND person.status = 'active'"
        " AND EXISTS (SELECT 1 FROM person AS other WHERE other.organisation_id = :organisation"
        " AND other.status = 'active' AND other.account_id = person.account_id AND other.id <> person.id)"
        " ORDER BY person.account_id, person.id"
    )
    for email, sharers in groupby(people, key=lambda row: row[0]):
        names = " and ".join(f"{name} ({record_id})" for _, name, record_id in sharers)
        yield Violation(f"sign-in {email}", f"belongs to several active people: {names}. Remove all but one of them")


INVARIANTS = (Invariant("sign_ins", "Each sign-in belongs to one person of an organisation", find_shared_sign_ins),)
