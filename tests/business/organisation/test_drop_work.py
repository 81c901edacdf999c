import pytest

from cast import Cast
from evidence import history
from mainstay.business.organisation.work import drop_work, retry_work
from mainstay.terms.refusal import Conflict, NotFound
from parking import kept, park


def test_it_is_gone_once_it_is_confirmed(cast: Cast) -> None:
    work = park(cast)
    assert cast.perform(drop_work, workId=work)["summary"] == "This is never done: A fax to x."
    assert kept(cast, work)
    cast.perform(drop_work, workId=work, confirmed=True)
    assert kept(cast, work) is None
    assert history(cast, work) == ["drop_work"]


def test_what_has_not_failed_is_left_alone(cast: Cast) -> None:
    work = park(cast)
    cast.perform(retry_work, workId=work)
    with pytest.raises(Conflict, match="It has not failed"):
        cast.perform(drop_work, workId=work, confirmed=True)
    assert kept(cast, work)


def test_another_organisation_s_is_not_found(cast: Cast, stranger: Cast) -> None:
    work = park(cast)
    with pytest.raises(NotFound):
        stranger.perform(drop_work, workId=work, confirmed=True)
    assert kept(cast, work)
