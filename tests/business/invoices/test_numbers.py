"""Numbers of invoices and credit notes have no gaps, however many are issued at once and whatever is rolled back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from mainstay.business.invoices.drafting.operations import delete_draft_invoice
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked
from support.cast import Cast
from support.customers import make_customer
from support.invoices import BOILER, credit_issued, issue_invoice, make_invoice
from support.recorded_statements import RecordingDatabase, RecordingHandle

ISSUES, RACERS = 200, 8


class FailingDatabase(RecordingDatabase):
    """A database that fails at the end of each write transaction, so that everything is rolled back."""

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Roll back every change."""
        with super().write_transaction(organisation, keep=keep) as db:
            yield db
            raise DatabaseUnavailable("gone")


def list_numbers(cast: Cast, table: str) -> list[str]:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = f"SELECT number FROM {table} WHERE organisation_id = :organisation AND number IS NOT NULL ORDER BY number"
        return [str(number) for (number,) in db.all(sql)]


def run_at_once(acts: list[Callable[[], object]]) -> None:
    """Run all acts at once, and ignore those that are refused or fail."""

    def run_suppressed(act: Callable[[], object]) -> None:
        with suppress(DatabaseUnavailable, Blocked):
            act()

    with ThreadPoolExecutor(RACERS) as racers:
        list(racers.map(run_suppressed, acts))


def test_two_hundred_at_once_with_a_quarter_taken_back_leave_no_gap(cast: Cast) -> None:
    customer = make_customer(cast)
    failing = replace(cast, performer=replace(cast.performer, database=FailingDatabase(cast.performer.database)))
    drafts = [make_invoice(cast, customerId=customer) for _ in range(ISSUES)]
    empty = make_invoice(cast, customerId=customer, lines=[])
    acts: list[Callable[[], object]] = []
    for place, draft in enumerate(drafts):
        acting = failing if place % 4 == 0 else cast
        acts.append(partial(issue_invoice, acting, draft))
        if place % 10 == 0:
            # One act is refused, and another deletes a draft.
            acts.append(partial(issue_invoice, cast, empty))
            given = {"invoiceId": make_invoice(cast, customerId=customer)["id"], "confirmed": True}
            acts.append(partial(cast.perform, delete_draft_invoice, Role.OFFICE, **given))
    run_at_once(acts)
    kept_count = ISSUES - ISSUES // 4
    assert list_numbers(cast, "invoice") == [f"INV-{number:04}" for number in range(1, kept_count + 1)]
    # Those that were taken back are drafts as before, and get the next numbers.
    run_at_once([partial(issue_invoice, cast, draft) for draft in drafts[::4]])
    assert list_numbers(cast, "invoice") == [f"INV-{number:04}" for number in range(1, ISSUES + 1)]


def test_credit_notes_likewise(cast: Cast) -> None:
    customer = make_customer(cast)
    failing = replace(cast, performer=replace(cast.performer, database=FailingDatabase(cast.performer.database)))
    sent = [issue_invoice(cast, make_invoice(cast, customerId=customer, lines=[BOILER])) for _ in range(RACERS)]
    acts: list[Callable[[], object]] = []
    for place in range(5 * RACERS):
        acting = failing if place % 4 == 0 else cast
        acts.append(partial(credit_issued, acting, sent[place % RACERS], amount="1"))
    run_at_once(acts)
    assert list_numbers(cast, "credit_note") == [f"CN-{number:04}" for number in range(1, 30 + 1)]
