"""Lets the people who are there already be found by their words."""

import orjson

from mainstay.backing.database import SchemaHandle
from mainstay.values.search import kept_words, words_of_address, words_of_phone, words_of_text

_BATCH = 1000
_PEOPLE = f"""
SELECT organisation_id, id, name, email, phone, skills, company_name FROM person
WHERE (organisation_id, id) > (:owner, :id) ORDER BY organisation_id, id LIMIT {_BATCH}
"""


def apply(handle: SchemaHandle) -> None:
    """Write the words of everyone."""
    last = ("", "")
    while batch := handle.all(_PEOPLE, owner=last[0], id=last[1]):
        for owner, identity, name, email, phone, skills, company in batch:
            plain = " ".join(str(text) for text in (name, company, *orjson.loads(str(skills))) if text)
            said = (words_of_text(plain), words_of_address(str(email)), words_of_phone(str(phone or "")))
            for word in kept_words(*said):
                handle.run(
                    "INSERT INTO search_word (organisation_id, word, record_id) VALUES (:owner, :word, :id)",
                    owner=owner,
                    id=identity,
                    word=word,
                )
        last = (str(batch[-1][0]), str(batch[-1][1]))
