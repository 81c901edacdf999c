"""`demo`, given again after someone has changed what it made: it says what it finds, and makes nothing by halves."""

import re
from datetime import timedelta
from functools import partial

import pytest

from commanding import command
from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.business.people.operations import list_people
from mainstay.doors.cli import demo
from mainstay.doors.cli.demo_year import Size
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import tell
from mainstay.identity.passwords import hash_password
from mainstay.kernel.perform import Stage
from mainstay.staging import open_files, open_link_maker, open_signer
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Conflict
from running import RunningServer

FEWEST = demo.SMALL._replace(
    name="Hartley & Daughters, again", size=Size(3, 30, 20, timedelta(days=80), timedelta(days=80), (1,), 20)
)


@pytest.fixture
def hands(server: RunningServer, stage: Stage) -> Operator:
    settings = server.settings
    signer, link_maker = partial(open_signer, settings), partial(open_link_maker, settings)
    return Operator(stage, signer, server.url, open_files(settings), link_maker)


def organisations(server: RunningServer) -> list[str]:
    listed = command(server.settings, "organisation", "list", "--json").outcome["organisations"]
    return [one["id"] for one in listed]


def test_it_is_known_by_another_name_and_told_as_it_is(server: RunningServer, stage: Stage, hands: Operator) -> None:
    first = demo.make(hands, FEWEST)
    there, acting = organisations(server), operator(first["organisation"]["id"])
    hands.perform(update_organisation, acting, name="Another name")
    with stage.database.changing("*") as rows:
        changed = {"hash": hash_password("a password of her own"), "email": "ruth@hartley.example"}
        rows.run("UPDATE account SET password_hash = :hash WHERE email_folded = :email", **changed)

    try:
        second = demo.make(hands, FEWEST)
    finally:
        with stage.database.changing("*") as rows:
            changed["hash"] = hash_password(demo.PASSWORD)
            rows.run("UPDATE account SET password_hash = :hash WHERE email_folded = :email", **changed)
    assert second["organisation"] == {"id": acting.organisation, "name": "Another name"}
    assert organisations(server) == there
    assert [person["password"] for person in second["people"]] == [None, *[demo.PASSWORD] * 6]
    told = tell("demo", second, server.url)
    assert re.search(r"ruth@hartley\.example +\(another password by now\)\n", told)
    assert told.count(demo.PASSWORD) == 6
    assert len(hands.every(list_people, acting)) == len(first["people"])


def test_while_its_subscription_is_inactive_it_stays_as_it_is(server: RunningServer, hands: Operator) -> None:
    firm = FEWEST._replace(name="Hartley & Daughters, lapsed")
    acting = operator(demo.make(hands, firm)["organisation"]["id"])
    there = organisations(server)
    command(server.settings, "subscription", "lapse", acting.organisation)
    with pytest.raises(Conflict, match=r"^The demo is there already, and its subscription is inactive"):
        demo.make(hands, firm)
    assert organisations(server) == there
    assert hands.perform(get_organisation, acting)["name"] == firm.name
    command(server.settings, "subscription", "renew", acting.organisation)
    assert demo.make(hands, firm)["organisation"]["id"] == acting.organisation
