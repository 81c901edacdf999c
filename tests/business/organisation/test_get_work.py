import pytest

from mainstay.business.organisation.failed_work import get_work
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.failed_work import PROBLEM, park_new_task


def test_it_tells_what_it_is_and_what_was_in_its_way(cast: Cast) -> None:
    work = cast.perform(get_work, workId=park_new_task(cast))
    assert (work["about"], work["problem"], work["status"]) == ("A fax to x", PROBLEM, "failed")


def test_another_organisation_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        other_cast.perform(get_work, workId=park_new_task(cast))
