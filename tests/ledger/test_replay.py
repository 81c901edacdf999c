from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from cast import Cast
from evidence import contents, events, holder, trail
from mainstay.backing.database import EVERY
from mainstay.business.people.operations import invite_person, list_people, update_person
from mainstay.identity.keys import revoke_key
from mainstay.kernel.context import Envelope
from mainstay.ledger import replay
from mainstay.ledger.outbox_queue import LEASE, RETRIES
from mainstay.ledger.replay import HOUSE, Answer, Once
from mainstay.terms.refusal import Conflict, Invalid, Unauthenticated
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text

NINA = {"name": "Nina", "email": "nina@new.example", "role": "member"}


def once(key: str = "once") -> Envelope:
    return Envelope("req_1", replay_key=key)


def later(cast: Cast, by: timedelta) -> Cast:
    clock = cast.stage.clock
    return replace(cast, stage=replace(cast.stage, clock=lambda: clock() + by))


def test_a_repeat_gets_the_same_bytes_and_happens_once(cast: Cast) -> None:
    first = cast.answer(invite_person, request=once(), **NINA)
    told, written = len(events(cast)), len(trail(cast))
    second = cast.answer(invite_person, request=once(), **NINA)
    assert (first.replayed, second.replayed) == (False, True)
    assert (first.body, first.version) == (second.body, second.version)
    assert (len(events(cast)), len(trail(cast))) == (told, written)


def test_the_order_of_the_fields_does_not_matter(cast: Cast) -> None:
    cast.answer(invite_person, request=once(), **NINA)
    assert cast.answer(invite_person, request=once(), **dict(reversed(NINA.items()))).replayed


def test_a_repeat_still_tells_the_answer_of_then(cast: Cast) -> None:
    first = cast.answer(update_person, request=once(), personId=cast.people[Role.MEMBER], phone="1")
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    again = cast.answer(update_person, request=once(), personId=cast.people[Role.MEMBER], phone="1")
    assert again.body == first.body
    assert events(cast)[-1]["data"]["object"]["phone"] == "2"


def test_another_body_with_the_same_key_is_refused(cast: Cast) -> None:
    cast.answer(invite_person, request=once(), **NINA)
    with pytest.raises(Invalid, match=r"^Idempotency-Key: was used before for a different request$"):
        cast.answer(invite_person, request=once(), **NINA | {"email": "other@new.example"})
    assert len(cast.perform(list_people)["data"]) == 6


def test_a_null_is_not_the_same_as_nothing(cast: Cast) -> None:
    cast.answer(update_person, request=once(), personId=cast.people[Role.MEMBER], phone=None)
    with pytest.raises(Invalid, match="was used before"):
        cast.answer(update_person, request=once(), personId=cast.people[Role.MEMBER])


def test_another_operation_with_the_same_key_is_refused(cast: Cast) -> None:
    cast.answer(invite_person, request=once(), **NINA)
    with pytest.raises(Invalid, match="was used before"):
        cast.answer(update_person, request=once(), personId=cast.people[Role.MEMBER], phone="1")


def test_another_credential_has_keys_of_its_own(cast: Cast) -> None:
    mine, yours = holder(cast, cast.key()), holder(cast, cast.key())
    cast.answer(invite_person, mine, request=once(), **NINA)
    with pytest.raises(Conflict, match="is already a person"):
        cast.answer(invite_person, yours, request=once(), **NINA)
    other = cast.answer(invite_person, yours, request=once(), **NINA | {"email": "other@new.example"})
    assert not other.replayed


def test_another_organisation_has_keys_of_its_own(cast: Cast, stranger: Cast) -> None:
    cast.answer(invite_person, request=once(), **NINA)
    assert not stranger.answer(invite_person, request=once(), **NINA).replayed


def test_without_a_key_nothing_is_remembered(cast: Cast) -> None:
    cast.answer(update_person, personId=cast.people[Role.MEMBER], phone="1")
    with cast.stage.database.reading(cast.organisation) as rows:
        assert rows.all("SELECT key FROM replay WHERE organisation_id = :organisation") == []


def test_a_day_later_the_key_is_free_again(cast: Cast) -> None:
    given = {"personId": cast.people[Role.MEMBER], "phone": "1"}
    first = cast.answer(update_person, request=once(), **given)
    almost = later(cast, replay.KEPT - timedelta(minutes=1))
    assert almost.answer(update_person, request=once(), **given).replayed

    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    after = later(cast, replay.KEPT)
    anew = after.answer(update_person, request=once(), **given)
    assert not anew.replayed
    assert anew.version == (first.version or 0) + 2
    assert after.answer(update_person, request=once(), **given).body == anew.body


def test_a_day_later_the_key_may_serve_another_request(cast: Cast) -> None:
    cast.answer(invite_person, request=once(), **NINA)
    other = NINA | {"email": "other@new.example"}
    assert not later(cast, replay.KEPT).answer(invite_person, request=once(), **other).replayed


def test_a_refused_request_stores_nothing_and_may_be_repeated(cast: Cast) -> None:
    taken = NINA | {"email": "adam@cast.example"}
    for _ in range(2):
        with pytest.raises(Conflict):
            cast.answer(invite_person, request=once(), **taken)
    assert not cast.answer(invite_person, request=once(), **NINA).replayed


def test_a_revoked_key_gets_no_stored_answer(cast: Cast) -> None:
    acting = holder(cast, cast.key())
    cast.answer(invite_person, acting, request=once(), **NINA)
    cast.perform(revoke_key, keyId=acting.credential)
    with pytest.raises(Unauthenticated):
        cast.answer(invite_person, acting, request=once(), **NINA)


def forget(cast: Cast, at: datetime) -> list[str]:
    """Forget what is old then; the keys that are left."""
    with cast.stage.database.changing(EVERY) as rows:
        replay.forget_old(rows, at)
    return sorted(str(row[2]) for row in contents(cast.stage.database)["replay"])


def test_what_is_older_than_a_day_is_forgotten_and_nothing_else(alone: Cast) -> None:
    member = alone.people[Role.MEMBER]
    alone.answer(update_person, request=once("old"), personId=member, phone="1")
    young = later(alone, timedelta(hours=2))
    young.answer(update_person, request=once("young"), personId=member, phone="2")
    now = alone.stage.clock()
    assert forget(alone, now) == ["old", "young"]
    assert forget(alone, now + replay.KEPT) == ["young"]


def test_what_the_house_did_is_remembered_for_as_long_as_its_work_is_tried(alone: Cast) -> None:
    now = alone.stage.clock()
    did = Once(HOUSE, "mail_invitation", "what was asked")
    with alone.stage.database.changing(alone.organisation) as rows:
        did.remember(rows, Answer(b"{}"), moment_text(now))
    tried_for = sum(RETRIES, LEASE * len(RETRIES))
    assert tried_for < replay.KEPT_FOR_THE_HOUSE
    almost = now + replay.KEPT_FOR_THE_HOUSE - timedelta(seconds=1)
    assert forget(alone, almost) == ["mail_invitation"]
    with alone.stage.database.reading(alone.organisation) as rows:
        assert did.recall(rows, almost)
        assert did.recall(rows, now + replay.KEPT_FOR_THE_HOUSE) is None
    assert forget(alone, now + replay.KEPT_FOR_THE_HOUSE) == []
