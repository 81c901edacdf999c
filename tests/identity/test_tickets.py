from datetime import UTC, datetime, timedelta

from evidence import contents
from mainstay.backing.database import EVERY
from mainstay.identity import tickets
from mainstay.identity.tickets import LIFE
from mainstay.kernel.perform import Stage

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
PATH = "/oauth/authorize?state=a%20b"


def test_a_ticket_leads_back_once(stage: Stage) -> None:
    with stage.database.changing(EVERY) as rows:
        ticket = tickets.issue(rows, PATH, NOW)
        assert tickets.find(rows, ticket, NOW) == PATH
        assert tickets.redeem(rows, ticket, NOW) == PATH
        assert tickets.redeem(rows, ticket, NOW) is None


def test_a_ticket_is_kept_as_a_hash_only(stage: Stage) -> None:
    with stage.database.changing(EVERY) as rows:
        ticket = tickets.issue(rows, PATH, NOW)
    assert ticket not in repr(contents(stage.database))


def test_a_ticket_leads_nowhere_after_ten_minutes(stage: Stage) -> None:
    with stage.database.changing(EVERY) as rows:
        ticket = tickets.issue(rows, PATH, NOW)
        assert tickets.find(rows, ticket, NOW + LIFE - timedelta(seconds=1)) == PATH
        assert tickets.redeem(rows, ticket, NOW + LIFE) is None


def test_tickets_that_were_not_used_in_time_are_removed(stage: Stage) -> None:
    with stage.database.changing(EVERY) as rows:
        old, new = tickets.issue(rows, PATH, NOW - LIFE), tickets.issue(rows, PATH, NOW)
        tickets.forget_old(rows, NOW)
        assert tickets.find(rows, old, NOW - LIFE) is None
        assert tickets.find(rows, new, NOW) == PATH
