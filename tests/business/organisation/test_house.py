"""What the organisation has decided is read once for each act, and never as it was before the act changed it."""

from collections.abc import Callable

import pytest

from cast import Cast
from mainstay.business.organisation.house import house_of
from mainstay.business.organisation.settings import SETTINGS
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.store import make_usual
from mainstay.kernel.context import Context, Envelope
from mainstay.terms.rights import Role
from recording import RecordingHandle, Statement
from wares import a_rate

CHANGES: dict[str, Callable[[Context, str], object]] = {
    "its details": lambda ctx, _: ORGANISATION.save(ctx, ORGANISATION.fetch(ctx, None), {"time_zone": "Europe/Rome"}),
    "its settings": lambda ctx, _: SETTINGS.save(ctx, SETTINGS.fetch(ctx, None), {"quote_valid_days": 7}),
    "its usual tax": make_usual,
}


@pytest.mark.parametrize("changed", CHANGES)
def test_it_is_read_once_and_anew_where_the_act_has_changed_it(cast: Cast, changed: str) -> None:
    rate, statements = a_rate(cast), list[Statement]()
    with cast.stage.database.changing(cast.organisation, keep=False) as rows:
        handle = RecordingHandle(rows, statements)
        ctx = Context(handle, cast.actor(Role.OWNER), Envelope("req_1"), cast.stage.clock)
        before = house_of(ctx)
        assert house_of(ctx) is before
        assert len(statements) == 1
        CHANGES[changed](ctx, rate)
        assert house_of(ctx) != before
