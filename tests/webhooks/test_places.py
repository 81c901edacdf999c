"""How many may be on their way at once."""

import pytest

from mainstay.webhooks.concurrency import SlotUsage, WebhookSlot


def trusted_turn(organisation: int = 1, webhook: int = 1) -> WebhookSlot:
    return WebhookSlot(f"org {organisation}", f"webhook {organisation}.{webhook}", trusted=True)


def doubted_turn(organisation: int = 1, webhook: int = 1) -> WebhookSlot:
    return trusted_turn(organisation, webhook)._replace(trusted=False)


@pytest.mark.parametrize(("held", "room"), [(0, 4), (1, 3), (3, 1), (4, 0), (9, 0)])
def test_a_trusted_webhook_has_four_places(held: int, room: int) -> None:
    places = SlotUsage()
    places.take(trusted_turn(), held)
    assert places.count_free(trusted_turn()) == room
    assert places.count_free(trusted_turn(webhook=2)) == 4


@pytest.mark.parametrize(("held", "room"), [(0, 1), (1, 0), (4, 0)])
def test_a_doubted_one_has_one(held: int, room: int) -> None:
    places = SlotUsage()
    places.take(doubted_turn(), held)
    assert places.count_free(doubted_turn()) == room


def test_an_organisation_has_sixteen() -> None:
    places = SlotUsage()
    for number in range(3):
        places.take(trusted_turn(webhook=number), 4)
    places.take(trusted_turn(webhook=3), 2)
    assert places.count_free(trusted_turn(webhook=9)) == 2
    assert places.count_free(doubted_turn(webhook=9)) == 1
    places.take(trusted_turn(webhook=4), 2)
    assert places.count_free(trusted_turn(webhook=9)) == 0
    assert places.count_free(doubted_turn(webhook=9)) == 0
    assert places.count_free(trusted_turn(organisation=2)) == 4


def test_all_have_sixty_four() -> None:
    places = SlotUsage()
    for organisation in range(3):
        places.take(trusted_turn(organisation), 16)
    places.take(trusted_turn(3), 13)
    assert places.count_free(trusted_turn(4)) == 3
    places.take(trusted_turn(5), 3)
    assert places.count_free(trusted_turn(6)) == 0
    assert places.count_free(doubted_turn(6)) == 0


def test_the_doubted_ones_of_an_organisation_have_half_of_its_places() -> None:
    places = SlotUsage()
    for number in range(8):
        assert places.count_free(doubted_turn(webhook=number)) == 1
        places.take(doubted_turn(webhook=number))
    assert places.count_free(doubted_turn(webhook=9)) == 0
    assert places.count_free(trusted_turn(webhook=9)) == 4
    assert places.count_free(doubted_turn(organisation=2)) == 1


def test_all_doubted_ones_have_half_of_all_places() -> None:
    places = SlotUsage()
    for organisation in range(32):
        assert places.count_free(doubted_turn(organisation)) == 1
        places.take(doubted_turn(organisation))
    assert places.count_free(doubted_turn(99)) == 0
    assert places.count_free(trusted_turn(99)) == 4


def test_what_the_trusted_hold_is_not_taken_from_the_doubted() -> None:
    places = SlotUsage()
    places.take(trusted_turn(webhook=1), 4)
    places.take(trusted_turn(webhook=2), 4)
    assert places.count_free(doubted_turn(webhook=3)) == 1
