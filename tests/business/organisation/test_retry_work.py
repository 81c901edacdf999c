import pytest

from cast import Cast
from evidence import history
from mainstay.business.organisation.messages import list_messages
from mainstay.business.organisation.work import list_failed_work, retry_work
from mainstay.identity.mails import mail
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.terms.rights import Role
from parking import kept, park


def test_it_is_due_at_once_as_if_it_had_never_been_tried(cast: Cast) -> None:
    work = park(cast)
    assert cast.perform(retry_work, workId=work)["status"] == "waiting"
    assert kept(cast, work) == ("due", 0, None)
    assert cast.perform(list_failed_work)["data"] == []
    assert history(cast, work) == ["retry_work"]


def test_a_mail_is_on_its_way_again_on_its_record_s_page(cast: Cast) -> None:
    record = cast.people[Role.MEMBER]
    work = park(cast, mail("kim@new.example", "Come", "Come.", record=record))
    assert [one["status"] for one in cast.perform(list_messages, about=record)["data"]] == ["failed"]
    cast.perform(retry_work, workId=work)
    [message] = cast.perform(list_messages, about=record)["data"]
    assert (message["status"], message["problem"]) == ("queued", None)


def test_what_has_not_failed_is_left_alone(cast: Cast) -> None:
    work = park(cast)
    cast.perform(retry_work, workId=work)
    with pytest.raises(Conflict, match="It has not failed"):
        cast.perform(retry_work, workId=work)


def test_another_organisation_s_is_not_found(cast: Cast, stranger: Cast) -> None:
    work = park(cast)
    with pytest.raises(NotFound):
        stranger.perform(retry_work, workId=work)
    assert kept(cast, work) != ("due", 0, None)
