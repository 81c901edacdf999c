"""How long conversations are kept, what is counted, and that the books of an organisation that asked are in order."""

from datetime import timedelta

import pytest

from mainstay.business.assistant import store
from mainstay.business.assistant.model import TurnStatus
from mainstay.business.organisation.assistant_settings import update_assistant_settings
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.talks import ask_question, count_rows, end_question, in_office
from support.violations import find_violations


def forget(cast: Cast, days: int) -> None:
    """Forget what is too old so many days from now."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        store.delete_old(db, cast.performer.clock() + timedelta(days=days))


def test_a_conversation_is_kept_as_long_as_its_organisation_says(only_cast: Cast) -> None:
    end_question(only_cast, ask_question(only_cast)["id"])
    settings = {"assistantRetentionDays": 30}
    only_cast.perform(update_assistant_settings, in_office(only_cast, Role.OWNER), **settings)
    forget(only_cast, 29)
    assert count_rows(only_cast)["conversation"] == 1
    forget(only_cast, 31)
    assert set(count_rows(only_cast).values()) == {0}


def test_of_two_organisations_each_has_its_own_time(only_cast: Cast) -> None:
    end_question(only_cast, ask_question(only_cast)["id"])
    forget(only_cast, 89)
    assert count_rows(only_cast)["conversation"] == 1
    forget(only_cast, 91)
    assert count_rows(only_cast)["conversation"] == 0


def test_tokens_are_counted_by_day_and_person_and_added_up_by_month(cast: Cast) -> None:
    office, owner = cast.people[Role.OFFICE], cast.people[Role.OWNER]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for person, day, tokens in (
            (office, "2026-10-31", 1),
            (office, "2026-11-01", 20),
            (office, "2026-11-19", 300),
            (office, "2026-11-19", 4_000),
            (owner, "2026-11-30", 50_000),
        ):
            store.add_usage(db, person, day, tokens)
        assert store.read_usage(db, office, "2026-11-19") == (4_300, 54_320)
        assert store.read_usage(db, owner, "2026-11-19") == (0, 54_320)
        assert store.read_usage(db, office, "2026-12-01") == (0, 0)


def test_the_usage_of_earlier_years_is_forgotten(only_cast: Cast) -> None:
    today = only_cast.performer.clock().date().isoformat()
    with only_cast.performer.database.write_transaction(only_cast.organisation) as db:
        store.add_usage(db, only_cast.people[Role.OFFICE], today, 1)
    forget(only_cast, 399)
    assert count_rows(only_cast)["assistant_usage"] == 1
    forget(only_cast, 402)
    assert count_rows(only_cast)["assistant_usage"] == 0


@pytest.mark.parametrize("status", [TurnStatus.DONE, TurnStatus.WAITING, TurnStatus.STOPPED])
def test_the_books_are_in_order(cast: Cast, settings: Settings, status: TurnStatus) -> None:
    end_question(cast, ask_question(cast)["id"], status)
    assert find_violations(settings, cast) == []
