"""The step that lets customers who were there already be found as duplicates of each other."""

from collections.abc import Iterator

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import migrate
from mainstay.settings import Settings

STEP = 62
HERE, THERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
FIRST, SECOND, ARCHIVED, ELSEWHERE = (f"customer_01M700000000000000000000{n}" for n in ("01", "02", "03", "04"))
_CUSTOMER = (
    "INSERT INTO customer (organisation_id, id, created_at, created_by, updated_at, updated_by, version, name,"
    " name_folded, kind, email, status, billing_address) VALUES (:place, :id, '', '{}', '', '{}', 1, :name, '',"
    " 'company', :email, :status, :address)"
)
ADDRESS = '{"line1":"2 Weir Lane","postalCode":"HX6 2AG"}'


@pytest.fixture
def before(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[WholeDatabase]:
    """A database as it was before the step, with customers in two organisations."""
    customers = (
        (HERE, FIRST, "Calder Ltd", "kim@calder.example", "active"),
        (HERE, SECOND, "Calder Limited", "KIM@calder.example", "active"),
        (HERE, ARCHIVED, "Calder", None, "archived"),
        (THERE, ELSEWHERE, "Calder", None, "active"),
    )
    with open_before(STEP, fresh_settings, monkeypatch, HERE, THERE) as database:
        with database.changing(EVERY) as rows:
            for place, identity, name, email, status in customers:
                rows.run(_CUSTOMER, place=place, id=identity, name=name, email=email, status=status, address=ADDRESS)
        yield database


def test_active_customers_have_their_keys_and_the_oldest_is_the_first(before: WholeDatabase) -> None:
    assert "0062_customer_keys" in migrate(before)
    with before.reading(EVERY) as rows:
        kept = rows.all("SELECT organisation_id, key, customer_id, repeats FROM customer_key ORDER BY 1, 2, 3")
    keys = ["address hx62ag 2 weir lane", "email kim@calder.example", "name calder"]
    assert kept == [
        *((HERE, key, customer, repeats) for key in keys for customer, repeats in ((FIRST, 0), (SECOND, 1))),
        *((THERE, key, ELSEWHERE, 0) for key in (keys[0], keys[2])),
    ]
