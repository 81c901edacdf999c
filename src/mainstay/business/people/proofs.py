"""That whoever signs in is one person."""

from collections.abc import Iterator
from itertools import groupby

from mainstay.backing.proof import Books, Flaw, Proof


def shared_sign_ins(books: Books) -> Iterator[Flaw]:
    """The sign-ins by which one comes in as several people; before it was refused, there could be such."""
    people = books.rows.each(
        "SELECT account.email, person.name, person.id FROM person JOIN account ON account.id = person.account_id"
        " WHERE person.organisation_id = :organisation AND person.status = 'active'"
        " AND EXISTS (SELECT 1 FROM person AS other WHERE other.organisation_id = :organisation"
        " AND other.status = 'active' AND other.account_id = person.account_id AND other.id <> person.id)"
        " ORDER BY person.account_id, person.id"
    )
    for email, several in groupby(people, key=lambda row: row[0]):
        named = " and ".join(f"{name} ({identity})" for _, name, identity in several)
        yield Flaw(f"sign-in {email}", f"is that of several active people: {named}. Remove all but one of them")


PROOFS = (Proof("sign_ins", "By one sign-in, one is one person of an organisation", shared_sign_ins),)
