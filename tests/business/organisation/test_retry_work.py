import pytest

from mainstay.business.organisation.failed_work import list_failed_work, retry_work
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.cast import Cast
from support.failed_work import park_new_task, read_task_state
from support.outbox_tasks import make_email_task
from support.stored_state import operations_on


def test_it_is_due_at_once_as_if_it_had_never_been_tried(cast: Cast) -> None:
    work = park_new_task(cast)
    assert cast.perform(retry_work, workId=work)["status"] == "waiting"
    assert read_task_state(cast, work) == ("due", 0, None)
    assert cast.perform(list_failed_work)["data"] == []
    assert operations_on(cast, work) == ["retry_work"]


def test_a_mail_is_on_its_way_again_on_its_record_s_page(cast: Cast) -> None:
    record = cast.people[Role.MEMBER]
    work = park_new_task(cast, make_email_task("kim@new.example", "Come", "Come.", record_id=record))
    assert [one["status"] for one in cast.perform(list_messages, about=record)["data"]] == ["failed"]
    cast.perform(retry_work, workId=work)
    [message] = cast.perform(list_messages, about=record)["data"]
    assert (message["status"], message["problem"]) == ("queued", None)


def test_what_has_not_failed_is_left_alone(cast: Cast) -> None:
    work = park_new_task(cast)
    cast.perform(retry_work, workId=work)
    with pytest.raises(Conflict, match="This task hasn't failed"):
        cast.perform(retry_work, workId=work)


def test_another_organisation_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    work = park_new_task(cast)
    with pytest.raises(NotFound):
        other_cast.perform(retry_work, workId=work)
    assert read_task_state(cast, work) != ("due", 0, None)
