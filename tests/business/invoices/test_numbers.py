"""Numbers of invoices and credit notes have no gaps, however many are issued at once and whatever is taken back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from billing import BOILER, an_invoice, credited, issued
from cast import Cast
from mainstay.backing.database import Unreachable
from mainstay.business.invoices.operations import delete_draft_invoice
from mainstay.terms.refusal import Blocked
from mainstay.terms.rights import Role
from recording import RecordingDatabase, RecordingHandle
from trade import a_customer

ISSUES, RACERS = 200, 8


class Failing(RecordingDatabase):
    """Goes away when all is done and nothing is kept yet: what was changed is taken back."""

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change nothing."""
        with super().changing(organisation, keep=keep) as rows:
            yield rows
            raise Unreachable("gone")


def numbers(cast: Cast, table: str) -> list[str]:
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = f"SELECT number FROM {table} WHERE organisation_id = :organisation AND number IS NOT NULL ORDER BY number"
        return [str(number) for (number,) in rows.all(sql)]


def race(acts: list[Callable[[], object]]) -> None:
    """Do all of it at once, as far as that goes."""

    def dare(act: Callable[[], object]) -> None:
        with suppress(Unreachable, Blocked):
            act()

    with ThreadPoolExecutor(RACERS) as racers:
        list(racers.map(dare, acts))


def test_two_hundred_at_once_with_a_quarter_taken_back_leave_no_gap(cast: Cast) -> None:
    customer = a_customer(cast)
    failing = replace(cast, stage=replace(cast.stage, database=Failing(cast.stage.database)))
    drafts = [an_invoice(cast, customerId=customer) for _ in range(ISSUES)]
    empty = an_invoice(cast, customerId=customer, lines=[])
    acts: list[Callable[[], object]] = []
    for place, draft in enumerate(drafts):
        acting = failing if place % 4 == 0 else cast
        acts.append(partial(issued, acting, draft))
        if place % 10 == 0:
            # Refused, and deleted beside.
            acts.append(partial(issued, cast, empty))
            given = {"invoiceId": an_invoice(cast, customerId=customer)["id"], "confirmed": True}
            acts.append(partial(cast.perform, delete_draft_invoice, Role.OFFICE, **given))
    race(acts)
    kept = ISSUES - ISSUES // 4
    assert numbers(cast, "invoice") == [f"INV-{number:04}" for number in range(1, kept + 1)]
    # Those that were taken back are drafts as before, and get the next numbers.
    race([partial(issued, cast, draft) for draft in drafts[::4]])
    assert numbers(cast, "invoice") == [f"INV-{number:04}" for number in range(1, ISSUES + 1)]


def test_credit_notes_likewise(cast: Cast) -> None:
    customer = a_customer(cast)
    failing = replace(cast, stage=replace(cast.stage, database=Failing(cast.stage.database)))
    sent = [issued(cast, an_invoice(cast, customerId=customer, lines=[BOILER])) for _ in range(RACERS)]
    acts: list[Callable[[], object]] = []
    for place in range(5 * RACERS):
        acting = failing if place % 4 == 0 else cast
        acts.append(partial(credited, acting, sent[place % RACERS], amount="1"))
    race(acts)
    assert numbers(cast, "credit_note") == [f"CN-{number:04}" for number in range(1, 30 + 1)]
