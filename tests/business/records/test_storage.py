"""How many bytes an organisation may store, whoever adds files and however many at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from cast import Cast
from filing import add, work_of
from mainstay.business.organisation.logo import remove_logo, set_logo
from mainstay.business.organisation.storage import stored_bytes
from mainstay.business.records.documents import list_documents, remove_document
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Role

NAME = "0123456789abcdef" * 4


def stored(cast: Cast) -> int:
    with cast.stage.database.reading(cast.organisation) as rows:
        return stored_bytes(rows)


def limited(cast: Cast, limit: int) -> Cast:
    """The same people, in an installation with this limit."""
    return replace(cast, stage=replace(cast.stage, storage_limit=limit))


def remove(cast: Cast, document: object) -> None:
    cast.perform(remove_document, cast.actor(Role.OFFICE, door=Door.OFFICE), documentId=document, confirmed=True)


def test_files_count_with_their_small_pictures_for_their_own_organisation(cast: Cast, stranger: Cast) -> None:
    job = work_of(cast).job
    add(stranger, work_of(stranger).job, bytes=5)
    first = add(cast, job, bytes=1_000, thumbnail="2" * 64, thumbnailBytes=20)
    # The same content counts each time.
    add(cast, job, bytes=1_000, thumbnail="2" * 64, thumbnailBytes=20)
    assert (stored(cast), stored(stranger)) == (2_040, 5)
    remove(cast, first["id"])
    assert (stored(cast), stored(stranger)) == (1_020, 5)


def test_a_removal_that_is_only_looked_at_frees_nothing(cast: Cast) -> None:
    added = add(cast, work_of(cast).job, bytes=1_000)
    cast.perform(remove_document, cast.actor(Role.OFFICE, door=Door.OFFICE), documentId=added["id"])
    assert stored(cast) == 1_000


def test_the_logo_counts_once_and_is_never_refused(cast: Cast) -> None:
    full = limited(cast, 10)
    full.perform(set_logo, logo=NAME, logoBytes=300)
    full.perform(set_logo, logo=NAME[::-1], logoBytes=200)
    assert stored(cast) == 200
    full.perform(remove_logo)
    assert stored(cast) == 0


def test_what_does_not_fit_is_refused_with_what_to_do(cast: Cast, stranger: Cast) -> None:
    small, job = limited(cast, 2_000_000), work_of(cast).job
    add(limited(stranger, 2_000_000), work_of(stranger).job, bytes=2_000_000)
    first = add(small, job, bytes=1_200_000)
    told = (
        r"^There is no room for it: with it, 2.4 MB would be used, and 2.0 MB are available. Remove files that are no"
        r" longer needed, or ask whoever runs this installation for more.$"
    )
    with pytest.raises(Conflict, match=told):
        add(small, job, bytes=1_200_000)
    assert stored(cast) == 1_200_000
    assert len(cast.perform(list_documents, recordId=job)["data"]) == 1
    assert add(small, job, bytes=800_000)["bytes"] == 800_000
    remove(cast, first["id"])
    assert add(small, job, bytes=1_200_000)["bytes"] == 1_200_000


def test_of_two_that_come_at_once_only_one_gets_the_last_room(cast: Cast) -> None:
    small, job = limited(cast, 1_000_000), work_of(cast).job

    def try_to_add(_: int) -> bool:
        try:
            add(small, job, bytes=600_000)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(try_to_add, range(4))) == [False, False, False, True]
    assert stored(cast) == 600_000
