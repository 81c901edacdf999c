"""The settings are read once per operation, and read again after the operation changed them."""

from collections.abc import Callable

import pytest

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.organisation.settings import SETTINGS
from mainstay.business.organisation.store import ORGANISATION
from mainstay.business.pricelist.store import set_usual_rate
from mainstay.kernel.context import Context, RequestDetails
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.prices import make_tax_rate
from support.recorded_statements import RecordedStatement, RecordingHandle

CHANGES: dict[str, Callable[[Context, str], object]] = {
    "its details": lambda ctx, _: ORGANISATION.save(ctx, ORGANISATION.fetch(ctx, None), {"time_zone": "Europe/Rome"}),
    "its settings": lambda ctx, _: SETTINGS.save(ctx, SETTINGS.fetch(ctx, None), {"quote_valid_days": 7}),
    "its usual tax": set_usual_rate,
}


@pytest.mark.parametrize("changed", CHANGES)
def test_it_is_read_once_and_anew_where_the_act_has_changed_it(cast: Cast, changed: str) -> None:
    rate, statements = make_tax_rate(cast), list[RecordedStatement]()
    with cast.performer.database.write_transaction(cast.organisation, keep=False) as db:
        handle = RecordingHandle(db, statements)
        ctx = Context(handle, cast.actor(Role.OWNER), RequestDetails("req_1"), cast.performer.clock)
        before = settings_of(ctx)
        assert settings_of(ctx) is before
        assert len(statements) == 1
        CHANGES[changed](ctx, rate)
        assert settings_of(ctx) != before
