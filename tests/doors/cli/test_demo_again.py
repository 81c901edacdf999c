"""`demo`, given again after someone has changed what it made: it says what it finds, and makes nothing by halves."""

import re
from datetime import timedelta
from functools import partial

import pytest

from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.operations import list_people
from mainstay.composition import open_files, open_link_maker, open_signer
from mainstay.demo.year import DemoSize
from mainstay.doors.cli import demo
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.output import format_outcome
from mainstay.identity.passwords import hash_password
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.refusal import Conflict
from support.command_line import run_command
from support.servers import RunningServer

SMALLEST_DEMO = demo.SMALL_FIRM._replace(
    name="Hartley & Daughters, again", size=DemoSize(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)
)


@pytest.fixture
def demo_operator(server: RunningServer, performer: Performer) -> Operator:
    settings = server.settings
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    return Operator(performer, signer, server.url, open_files(settings), link_maker)


def list_organisation_ids(server: RunningServer) -> list[str]:
    listed = run_command(server.settings, "organisation", "list", "--json").json["organisations"]
    return [one["id"] for one in listed]


def test_it_is_known_by_another_name_and_told_as_it_is(
    server: RunningServer, performer: Performer, demo_operator: Operator
) -> None:
    first = demo.make_demo(demo_operator, SMALLEST_DEMO)
    there, acting = list_organisation_ids(server), operator_actor(first["organisation"]["id"])
    demo_operator.perform(update_organisation, acting, name="Another name")
    with performer.database.write_transaction("*") as db:
        changed = {"hash": hash_password("a password of her own"), "email": "ruth@hartley.example"}
        db.run("UPDATE account SET password_hash = :hash WHERE email_folded = :email", **changed)

    try:
        second = demo.make_demo(demo_operator, SMALLEST_DEMO)
    finally:
        with performer.database.write_transaction("*") as db:
            changed["hash"] = hash_password(demo.DEMO_PASSWORD)
            db.run("UPDATE account SET password_hash = :hash WHERE email_folded = :email", **changed)
    assert second["organisation"] == {"id": acting.organisation, "name": "Another name"}
    assert list_organisation_ids(server) == there
    assert [person["password"] for person in second["people"]] == [None, *[demo.DEMO_PASSWORD] * 6]
    outcome = format_outcome("demo", second, server.url)
    assert re.search(r"ruth@hartley\.example +\(password was changed\)\n", outcome)
    assert outcome.count(demo.DEMO_PASSWORD) == 6
    assert len(demo_operator.list_all(list_people, acting)) == len(first["people"])


def test_while_its_subscription_is_inactive_it_stays_as_it_is(server: RunningServer, demo_operator: Operator) -> None:
    firm = SMALLEST_DEMO._replace(name="Hartley & Daughters, lapsed")
    acting = operator_actor(demo.make_demo(demo_operator, firm)["organisation"]["id"])
    there = list_organisation_ids(server)
    run_command(server.settings, "subscription", "lapse", acting.organisation)
    with pytest.raises(Conflict, match=r"^The demo already exists and its subscription is inactive"):
        demo.make_demo(demo_operator, firm)
    assert list_organisation_ids(server) == there
    assert demo_operator.perform(get_organisation, acting)["name"] == firm.name
    run_command(server.settings, "subscription", "renew", acting.organisation)
    assert demo.make_demo(demo_operator, firm)["organisation"]["id"] == acting.organisation
