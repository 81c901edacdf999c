"""`demo` on whatever day it is made: chance and the calendar leave out nothing that there is to be seen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import get_args

import pytest

from mainstay.business.invoices import model as invoices
from mainstay.business.invoices import payment as payments
from mainstay.business.invoices.operations import list_invoices
from mainstay.business.invoices.paying import list_payments
from mainstay.business.quotes import model as quotes
from mainstay.business.quotes.operations import list_quotes
from mainstay.doors.cli import demo
from mainstay.doors.cli.operator import Operator
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_files, open_link_maker, open_signer
from mainstay.terms.actor import operator

# On the first of them, what had been paid in part this morning was returned by the bank.
DAYS = [datetime(2027, 1, 1, 12, tzinfo=UTC) + timedelta(days=13 * number) for number in range(28)]
IN_SHORT = [DAYS[0], *(pytest.param(day, marks=pytest.mark.long) for day in DAYS[1:])]
STATES = {
    list_quotes: get_args(quotes.Status),
    list_invoices: get_args(invoices.Narrowed),
    list_payments: get_args(payments.Narrowed),
}


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("day", IN_SHORT, ids=str)
def test_everything_is_there_in_every_state_and_made_before_it_was_changed(
    stage: Stage, settings: Settings, day: datetime
) -> None:
    then = replace(stage, clock=lambda: day)
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    hands = Operator(then, signer, settings.base_url, open_files(settings), link_maker)
    made = demo.make(hands, demo.SMALL._replace(name=f"Hartley & Daughters on {day:%Y-%m-%d}"))
    acting = operator(made["organisation"]["id"])
    without = [
        (listing.name, state)
        for listing, states in STATES.items()
        for state in states
        if not hands.perform(listing, acting, status=state, limit=1)["data"]
    ]
    assert without == []
    with stage.database.reading(acting.organisation) as rows:
        for table in ("job", "visit", "quote", "invoice", "purchase_order"):
            mine = f"SELECT id FROM {table} WHERE organisation_id = :organisation"
            assert len(rows.all(mine)) > 0
            assert (table, rows.all(f"{mine} AND updated_at < created_at")) == (table, [])
