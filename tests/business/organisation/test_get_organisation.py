import pytest

from mainstay.business.organisation.operations import get_organisation, update_organisation
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast


def test_the_whole_record_is_answered(cast: Cast) -> None:
    organisation = cast.perform(get_organisation)

    assert organisation.pop("createdAt") == organisation.pop("updatedAt")
    assert organisation.pop("name").startswith("Organisation ")
    stamp = {"kind": "operator", "person": None, "via": {"door": "cli", "client": None}}
    assert organisation == {
        "object": "organisation",
        "id": cast.organisation,
        "createdBy": stamp,
        "updatedBy": stamp,
        "version": 1,
        "legalName": None,
        "taxNumber": None,
        "registrationNumber": None,
        "eInvoiceAddress": None,
        "address": None,
        "email": None,
        "phone": None,
        "bank": None,
        "country": "GB",
        "currency": "GBP",
        "timeZone": "Europe/London",
        "subscription": {"status": "active"},
        "url": f"{cast.performer.base_url}/settings",
        "availableActions": ["update_organisation"],
    }


def test_every_role_sees_the_same(cast: Cast) -> None:
    answers = [cast.perform(get_organisation, cast.actor(role, Access.READ)) for role in Role]
    # People who may not see the bank details get a note that says so.
    assert [answer.pop("hidden", []) for answer in answers] == [[], [], [], ["bank"], ["bank"]]
    assert all(answer == answers[0] for answer in answers)


def test_the_answer_carries_the_version(cast: Cast) -> None:
    cast.perform(update_organisation, phone="1")
    assert cast.answer(get_organisation).version == 2


def test_a_lapsed_subscription_is_told_and_reading_goes_on(cast: Cast) -> None:
    cast.lapse()
    assert cast.perform(get_organisation)["subscription"] == {"status": "inactive"}


def test_it_takes_no_input(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^id: is not known here$"):
        cast.perform(get_organisation, id=cast.organisation)
