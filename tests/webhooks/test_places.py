"""How many may be on their way at once."""

import pytest

from mainstay.webhooks.places import Places, Turn


def trusted(organisation: int = 1, webhook: int = 1) -> Turn:
    return Turn(f"org {organisation}", f"webhook {organisation}.{webhook}", trusted=True)


def doubted(organisation: int = 1, webhook: int = 1) -> Turn:
    return trusted(organisation, webhook)._replace(trusted=False)


@pytest.mark.parametrize(("held", "room"), [(0, 4), (1, 3), (3, 1), (4, 0), (9, 0)])
def test_a_trusted_webhook_has_four_places(held: int, room: int) -> None:
    places = Places()
    places.hold(trusted(), held)
    assert places.room(trusted()) == room
    assert places.room(trusted(webhook=2)) == 4


@pytest.mark.parametrize(("held", "room"), [(0, 1), (1, 0), (4, 0)])
def test_a_doubted_one_has_one(held: int, room: int) -> None:
    places = Places()
    places.hold(doubted(), held)
    assert places.room(doubted()) == room


def test_an_organisation_has_sixteen() -> None:
    places = Places()
    for number in range(3):
        places.hold(trusted(webhook=number), 4)
    places.hold(trusted(webhook=3), 2)
    assert places.room(trusted(webhook=9)) == 2
    assert places.room(doubted(webhook=9)) == 1
    places.hold(trusted(webhook=4), 2)
    assert places.room(trusted(webhook=9)) == 0
    assert places.room(doubted(webhook=9)) == 0
    assert places.room(trusted(organisation=2)) == 4


def test_all_have_sixty_four() -> None:
    places = Places()
    for organisation in range(3):
        places.hold(trusted(organisation), 16)
    places.hold(trusted(3), 13)
    assert places.room(trusted(4)) == 3
    places.hold(trusted(5), 3)
    assert places.room(trusted(6)) == 0
    assert places.room(doubted(6)) == 0


def test_the_doubted_ones_of_an_organisation_have_half_of_its_places() -> None:
    places = Places()
    for number in range(8):
        assert places.room(doubted(webhook=number)) == 1
        places.hold(doubted(webhook=number))
    assert places.room(doubted(webhook=9)) == 0
    assert places.room(trusted(webhook=9)) == 4
    assert places.room(doubted(organisation=2)) == 1


def test_all_doubted_ones_have_half_of_all_places() -> None:
    places = Places()
    for organisation in range(32):
        assert places.room(doubted(organisation)) == 1
        places.hold(doubted(organisation))
    assert places.room(doubted(99)) == 0
    assert places.room(trusted(99)) == 4


def test_what_the_trusted_hold_is_not_taken_from_the_doubted() -> None:
    places = Places()
    places.hold(trusted(webhook=1), 4)
    places.hold(trusted(webhook=2), 4)
    assert places.room(doubted(webhook=3)) == 1
