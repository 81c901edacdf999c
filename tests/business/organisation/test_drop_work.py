import pytest

from mainstay.business.organisation.failed_work import drop_work, retry_work
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.cast import Cast
from support.failed_work import park_new_task, read_task_state
from support.stored_state import operations_on


def test_it_is_gone_once_it_is_confirmed(cast: Cast) -> None:
    work = park_new_task(cast)
    assert cast.perform(drop_work, workId=work)["summary"] == "This task will not be tried again: A fax to x"
    assert read_task_state(cast, work)
    cast.perform(drop_work, workId=work, confirmed=True)
    assert read_task_state(cast, work) is None
    assert operations_on(cast, work) == ["drop_work"]


def test_what_has_not_failed_is_left_alone(cast: Cast) -> None:
    work = park_new_task(cast)
    cast.perform(retry_work, workId=work)
    with pytest.raises(Conflict, match="This task hasn't failed"):
        cast.perform(drop_work, workId=work, confirmed=True)
    assert read_task_state(cast, work)


def test_another_organisation_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    work = park_new_task(cast)
    with pytest.raises(NotFound):
        other_cast.perform(drop_work, workId=work, confirmed=True)
    assert read_task_state(cast, work)
