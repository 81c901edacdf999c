import pytest

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.records.history import get_history
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid, Stale
from support.cast import Cast
from support.stored_state import operations_on


def test_prices_are_before_tax_until_someone_decides_otherwise(cast: Cast) -> None:
    before = cast.perform(get_settings, Role.OFFICE)
    assert before["pricesIncludeTax"] is False
    after = cast.perform(update_settings, Role.ADMIN, pricesIncludeTax=True)
    changed = {name for name in before if before[name] != after[name]} - {"availableActions"}
    assert changed == {"pricesIncludeTax", "updatedAt", "updatedBy", "version"}
    assert after["pricesIncludeTax"] is True
    cast.perform(update_organisation, pricesIncludeTax=False)
    assert cast.perform(get_settings)["pricesIncludeTax"] is False
    assert operations_on(cast, cast.organisation)[-2:] == ["update_settings", "update_organisation"]


@pytest.mark.parametrize("given", [None, "true", 1, []])
def test_it_is_one_or_the_other(cast: Cast, given: object) -> None:
    with pytest.raises(Invalid, match=r"^pricesIncludeTax: "):
        cast.perform(update_settings, pricesIncludeTax=given)


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_admins_and_owners_decide(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(update_settings, role, pricesIncludeTax=True)


def test_numbers_that_are_changed_are_in_the_history_and_those_that_are_not_are_not(cast: Cast) -> None:
    for _ in range(2):
        cast.perform(update_settings, jobNumbers={"next": 500, "prefix": "A-"})
    [newest, before] = cast.perform(get_history, recordId=cast.organisation, limit=2)["data"]
    assert (newest["operation"], newest["changed"]) == ("update_settings", ["jobNumbers"])
    assert before["operation"] != "update_settings"
    assert cast.perform(get_settings)["jobNumbers"] == {"prefix": "A-", "digits": 4, "next": 500}


def test_numbers_that_are_changed_make_another_version(cast: Cast) -> None:
    before = cast.perform(get_settings)["version"]
    seen = RequestDetails("seen", if_match_versions=frozenset({before}))
    assert cast.answer(update_settings, Role.OWNER, seen, jobNumbers={"prefix": "A-"}).version == before + 1
    with pytest.raises(Stale):
        cast.answer(update_settings, Role.OWNER, seen, jobNumbers={"prefix": "B-"})
    # With other settings, it is one version still; and as it is already, none.
    after = cast.perform(update_settings, jobNumbers={"prefix": "B-"}, pricesIncludeTax=True)
    assert (after["version"], after["jobNumbers"]["prefix"]) == (before + 2, "B-")
    assert cast.perform(update_settings, jobNumbers={"prefix": "B-"})["version"] == before + 2


def test_all_numbers_that_were_given_are_told_at_once(cast: Cast) -> None:
    cast.perform(update_settings, jobNumbers={"next": 50}, quoteNumbers={"next": 60})
    message = r"^jobNumbers\.next: is below 50, numbers can't be used twice; quoteNumbers\.next: is below 60, "
    with pytest.raises(Invalid, match=message):
        cast.perform(update_settings, jobNumbers={"next": 1}, quoteNumbers={"next": 2})
