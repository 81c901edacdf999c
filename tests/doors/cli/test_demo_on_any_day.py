"""`demo` on whatever day it is made: chance and the calendar leave out nothing that there is to be seen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import get_args

import pytest

from mainstay.business.invoices import model as invoices
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.invoices.payments import payment as payments
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.quotes import model as quotes
from mainstay.business.quotes.operations import list_quotes
from mainstay.composition import open_files, open_link_maker, open_signer
from mainstay.doors.cli import demo
from mainstay.doors.cli.operator import Operator
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.vocabulary.actor import operator_actor

# On the first of them, what had been paid in part this morning was returned by the bank.
DAYS = [datetime(2027, 1, 1, 12, tzinfo=UTC) + timedelta(days=13 * number) for number in range(28)]
DAYS_TO_RUN = [DAYS[0], *(pytest.param(day, marks=pytest.mark.long) for day in DAYS[1:])]
STATES = {
    list_quotes: get_args(quotes.QuoteStatus),
    list_invoices: get_args(invoices.InvoiceStatusFilter),
    list_payments: get_args(payments.PaymentStatusFilter),
}


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("day", DAYS_TO_RUN, ids=str)
def test_everything_is_there_in_every_state_and_made_before_it_was_changed(
    performer: Performer, settings: Settings, day: datetime
) -> None:
    then = replace(performer, clock=lambda: day)
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    hands = Operator(then, signer, settings.base_url, open_files(settings), link_maker)
    made = demo.make_demo(hands, demo.SMALL_FIRM._replace(name=f"Hartley & Daughters on {day:%Y-%m-%d}"))
    acting = operator_actor(made["organisation"]["id"])
    without = [
        (listing.name, state)
        for listing, states in STATES.items()
        for state in states
        if not hands.perform(listing, acting, status=state, limit=1)["data"]
    ]
    assert without == []
    with performer.database.read_transaction(acting.organisation) as db:
        for table in ("job", "visit", "quote", "invoice", "purchase_order"):
            mine = f"SELECT id FROM {table} WHERE organisation_id = :organisation"
            assert len(db.all(mine)) > 0
            assert (table, db.all(f"{mine} AND updated_at < created_at")) == (table, [])
