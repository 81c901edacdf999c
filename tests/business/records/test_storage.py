"""How many bytes an organisation may store, with any number of people who add files at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from mainstay.business.organisation.logo import remove_logo, set_logo
from mainstay.business.organisation.storage import count_stored_bytes
from mainstay.business.records.attachments import list_documents, remove_document
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from support.attachments import add_file, make_attachment_jobs
from support.cast import Cast

NAME = "0123456789abcdef" * 4


def used_bytes(cast: Cast) -> int:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return count_stored_bytes(db)


def with_limit(cast: Cast, limit: int) -> Cast:
    """Return the same cast in an installation with this storage limit."""
    return replace(cast, performer=replace(cast.performer, storage_limit=limit))


def remove(cast: Cast, document: object) -> None:
    cast.perform(remove_document, cast.actor(Role.OFFICE, door=Door.OFFICE), documentId=document, confirmed=True)


def test_files_count_with_their_small_pictures_for_their_own_organisation(cast: Cast, other_cast: Cast) -> None:
    job = make_attachment_jobs(cast).job
    add_file(other_cast, make_attachment_jobs(other_cast).job, bytes=5)
    first = add_file(cast, job, bytes=1_000, thumbnail="2" * 64, thumbnailBytes=20)
    # The same content counts each time.
    add_file(cast, job, bytes=1_000, thumbnail="2" * 64, thumbnailBytes=20)
    assert (used_bytes(cast), used_bytes(other_cast)) == (2_040, 5)
    remove(cast, first["id"])
    assert (used_bytes(cast), used_bytes(other_cast)) == (1_020, 5)


def test_a_removal_that_is_only_looked_at_frees_nothing(cast: Cast) -> None:
    added = add_file(cast, make_attachment_jobs(cast).job, bytes=1_000)
    cast.perform(remove_document, cast.actor(Role.OFFICE, door=Door.OFFICE), documentId=added["id"])
    assert used_bytes(cast) == 1_000


def test_the_logo_counts_once_and_is_never_refused(cast: Cast) -> None:
    full = with_limit(cast, 10)
    full.perform(set_logo, logo=NAME, logoBytes=300)
    full.perform(set_logo, logo=NAME[::-1], logoBytes=200)
    assert used_bytes(cast) == 200
    full.perform(remove_logo)
    assert used_bytes(cast) == 0


def test_what_does_not_fit_is_refused_with_what_to_do(cast: Cast, other_cast: Cast) -> None:
    small, job = with_limit(cast, 2_000_000), make_attachment_jobs(cast).job
    add_file(with_limit(other_cast, 2_000_000), make_attachment_jobs(other_cast).job, bytes=2_000_000)
    first = add_file(small, job, bytes=1_200_000)
    message = (
        r"^Not enough storage: with this file you would use 2.4 MB of 2.0 MB. Delete files you no"
        r" longer need, or ask your system administrator for more storage.$"
    )
    with pytest.raises(Conflict, match=message):
        add_file(small, job, bytes=1_200_000)
    assert used_bytes(cast) == 1_200_000
    assert len(cast.perform(list_documents, recordId=job)["data"]) == 1
    assert add_file(small, job, bytes=800_000)["bytes"] == 800_000
    remove(cast, first["id"])
    assert add_file(small, job, bytes=1_200_000)["bytes"] == 1_200_000


def test_of_two_that_come_at_once_only_one_gets_the_last_room(cast: Cast) -> None:
    small, job = with_limit(cast, 1_000_000), make_attachment_jobs(cast).job

    def try_to_add(_: int) -> bool:
        try:
            add_file(small, job, bytes=600_000)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(try_to_add, range(4))) == [False, False, False, True]
    assert used_bytes(cast) == 600_000
