from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from mainstay.business.people.operations import invite_person, list_people, update_person
from mainstay.changes import idempotency
from mainstay.changes.idempotency import SYSTEM, Answer, IdempotentRequest
from mainstay.changes.outbox_queue import LEASE, RETRIES
from mainstay.identity.keys import revoke_key
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, Unauthenticated
from support.cast import Cast
from support.stored_state import actor_with_key, list_events_of, read_all_rows, read_trail

NINA = {"name": "Nina", "email": "nina@new.example", "role": "member"}


def request_with_key(key: str = "once") -> RequestDetails:
    return RequestDetails("req_1", idempotency_key=key)


def cast_later(cast: Cast, by: timedelta) -> Cast:
    clock = cast.performer.clock
    return replace(cast, performer=replace(cast.performer, clock=lambda: clock() + by))


def test_a_repeat_gets_the_same_bytes_and_happens_once(cast: Cast) -> None:
    first = cast.answer(invite_person, request=request_with_key(), **NINA)
    event_count, written = len(list_events_of(cast)), len(read_trail(cast))
    second = cast.answer(invite_person, request=request_with_key(), **NINA)
    assert (first.is_replayed, second.is_replayed) == (False, True)
    assert (first.body, first.version) == (second.body, second.version)
    assert (len(list_events_of(cast)), len(read_trail(cast))) == (event_count, written)


def test_the_order_of_the_fields_does_not_matter(cast: Cast) -> None:
    cast.answer(invite_person, request=request_with_key(), **NINA)
    assert cast.answer(invite_person, request=request_with_key(), **dict(reversed(NINA.items()))).is_replayed


def test_a_repeat_still_tells_the_answer_of_then(cast: Cast) -> None:
    first = cast.answer(update_person, request=request_with_key(), personId=cast.people[Role.MEMBER], phone="1")
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    again = cast.answer(update_person, request=request_with_key(), personId=cast.people[Role.MEMBER], phone="1")
    assert again.body == first.body
    assert list_events_of(cast)[-1]["data"]["object"]["phone"] == "2"


def test_another_body_with_the_same_key_is_refused(cast: Cast) -> None:
    cast.answer(invite_person, request=request_with_key(), **NINA)
    with pytest.raises(Invalid, match=r"^Idempotency-Key: was already used for a different request$"):
        cast.answer(invite_person, request=request_with_key(), **NINA | {"email": "other@new.example"})
    assert len(cast.perform(list_people)["data"]) == 6


def test_a_null_is_not_the_same_as_nothing(cast: Cast) -> None:
    cast.answer(update_person, request=request_with_key(), personId=cast.people[Role.MEMBER], phone=None)
    with pytest.raises(Invalid, match="was already used"):
        cast.answer(update_person, request=request_with_key(), personId=cast.people[Role.MEMBER])


def test_another_operation_with_the_same_key_is_refused(cast: Cast) -> None:
    cast.answer(invite_person, request=request_with_key(), **NINA)
    with pytest.raises(Invalid, match="was already used"):
        cast.answer(update_person, request=request_with_key(), personId=cast.people[Role.MEMBER], phone="1")


def test_another_credential_has_keys_of_its_own(cast: Cast) -> None:
    mine, yours = actor_with_key(cast, cast.make_key()), actor_with_key(cast, cast.make_key())
    cast.answer(invite_person, mine, request=request_with_key(), **NINA)
    with pytest.raises(Conflict, match="already belongs to"):
        cast.answer(invite_person, yours, request=request_with_key(), **NINA)
    other = cast.answer(invite_person, yours, request=request_with_key(), **NINA | {"email": "other@new.example"})
    assert not other.is_replayed


def test_another_organisation_has_keys_of_its_own(cast: Cast, other_cast: Cast) -> None:
    cast.answer(invite_person, request=request_with_key(), **NINA)
    assert not other_cast.answer(invite_person, request=request_with_key(), **NINA).is_replayed


def test_without_a_key_nothing_is_remembered(cast: Cast) -> None:
    cast.answer(update_person, personId=cast.people[Role.MEMBER], phone="1")
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.all("SELECT key FROM replay WHERE organisation_id = :organisation") == []


def test_a_day_later_the_key_is_free_again(cast: Cast) -> None:
    given = {"personId": cast.people[Role.MEMBER], "phone": "1"}
    first = cast.answer(update_person, request=request_with_key(), **given)
    almost = cast_later(cast, idempotency.RETENTION - timedelta(minutes=1))
    assert almost.answer(update_person, request=request_with_key(), **given).is_replayed

    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    after = cast_later(cast, idempotency.RETENTION)
    second_answer = after.answer(update_person, request=request_with_key(), **given)
    assert not second_answer.is_replayed
    assert second_answer.version == (first.version or 0) + 2
    assert after.answer(update_person, request=request_with_key(), **given).body == second_answer.body


def test_a_day_later_the_key_may_serve_another_request(cast: Cast) -> None:
    cast.answer(invite_person, request=request_with_key(), **NINA)
    other = NINA | {"email": "other@new.example"}
    assert (
        not cast_later(cast, idempotency.RETENTION)
        .answer(invite_person, request=request_with_key(), **other)
        .is_replayed
    )


def test_a_refused_request_stores_nothing_and_may_be_repeated(cast: Cast) -> None:
    taken = NINA | {"email": "adam@cast.example"}
    for _ in range(2):
        with pytest.raises(Conflict):
            cast.answer(invite_person, request=request_with_key(), **taken)
    assert not cast.answer(invite_person, request=request_with_key(), **NINA).is_replayed


def test_a_revoked_key_gets_no_stored_answer(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key())
    cast.answer(invite_person, acting, request=request_with_key(), **NINA)
    cast.perform(revoke_key, keyId=acting.credential)
    with pytest.raises(Unauthenticated):
        cast.answer(invite_person, acting, request=request_with_key(), **NINA)


def keys_after_forgetting(cast: Cast, at: datetime) -> list[str]:
    """Delete old stored answers; return the keys that remain."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        idempotency.delete_old(db, at)
    return sorted(str(row[2]) for row in read_all_rows(cast.performer.database)["replay"])


def test_what_is_older_than_a_day_is_forgotten_and_nothing_else(only_cast: Cast) -> None:
    member = only_cast.people[Role.MEMBER]
    only_cast.answer(update_person, request=request_with_key("old"), personId=member, phone="1")
    young = cast_later(only_cast, timedelta(hours=2))
    young.answer(update_person, request=request_with_key("young"), personId=member, phone="2")
    now = only_cast.performer.clock()
    assert keys_after_forgetting(only_cast, now) == ["old", "young"]
    assert keys_after_forgetting(only_cast, now + idempotency.RETENTION) == ["young"]


def test_what_the_system_actor_did_is_remembered_for_as_long_as_its_work_is_tried(only_cast: Cast) -> None:
    now = only_cast.performer.clock()
    did = IdempotentRequest(SYSTEM, "mail_invitation", "what was asked")
    with only_cast.performer.database.write_transaction(only_cast.organisation) as db:
        did.store_answer(db, Answer(b"{}"), moment_text(now))
    tried_for = sum(RETRIES, LEASE * len(RETRIES))
    assert tried_for < idempotency.SYSTEM_RETENTION
    almost = now + idempotency.SYSTEM_RETENTION - timedelta(seconds=1)
    assert keys_after_forgetting(only_cast, almost) == ["mail_invitation"]
    with only_cast.performer.database.read_transaction(only_cast.organisation) as db:
        assert did.find_answer(db, almost)
        assert did.find_answer(db, now + idempotency.SYSTEM_RETENTION) is None
    assert keys_after_forgetting(only_cast, now + idempotency.SYSTEM_RETENTION) == []
