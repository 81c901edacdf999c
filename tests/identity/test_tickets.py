from datetime import UTC, datetime, timedelta

from mainstay.identity import return_tickets
from mainstay.identity.return_tickets import LIFETIME
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from support.stored_state import read_all_rows

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
PATH = "/oauth/authorize?state=a%20b"


def test_a_ticket_leads_back_once(performer: Performer) -> None:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        ticket = return_tickets.issue_ticket(db, PATH, NOW)
        assert return_tickets.find(db, ticket, NOW) == PATH
        assert return_tickets.redeem_ticket(db, ticket, NOW) == PATH
        assert return_tickets.redeem_ticket(db, ticket, NOW) is None


def test_a_ticket_is_kept_as_a_hash_only(performer: Performer) -> None:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        ticket = return_tickets.issue_ticket(db, PATH, NOW)
    assert ticket not in repr(read_all_rows(performer.database))


def test_a_ticket_leads_nowhere_after_ten_minutes(performer: Performer) -> None:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        ticket = return_tickets.issue_ticket(db, PATH, NOW)
        assert return_tickets.find(db, ticket, NOW + LIFETIME - timedelta(seconds=1)) == PATH
        assert return_tickets.redeem_ticket(db, ticket, NOW + LIFETIME) is None


def test_tickets_that_were_not_used_in_time_are_removed(performer: Performer) -> None:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        old, new = return_tickets.issue_ticket(db, PATH, NOW - LIFETIME), return_tickets.issue_ticket(db, PATH, NOW)
        return_tickets.delete_old(db, NOW)
        assert return_tickets.find(db, old, NOW - LIFETIME) is None
        assert return_tickets.find(db, new, NOW) == PATH
