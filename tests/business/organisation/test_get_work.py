import pytest

from cast import Cast
from mainstay.business.organisation.work import get_work
from mainstay.terms.refusal import NotFound
from parking import PROBLEM, park


def test_it_tells_what_it_is_and_what_was_in_its_way(cast: Cast) -> None:
    work = cast.perform(get_work, workId=park(cast))
    assert (work["about"], work["problem"], work["status"]) == ("A fax to x", PROBLEM, "failed")


def test_another_organisation_s_is_not_found(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        stranger.perform(get_work, workId=park(cast))
