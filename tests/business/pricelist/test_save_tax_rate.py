from typing import Any

import pytest

from mainstay.business.pricelist.taxes import get_tax_rate, list_tax_rates, save_tax_rate
from mainstay.business.records.history import get_history
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.prices import VAT, make_tax_rate
from support.stored_state import operations_on, to_event_record
from support.webhooks import set_columns

QUEBEC = [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}]
ZERO_VAT = [{"name": "VAT", "percent": "0"}]


def get_rate(cast: Cast, rate_id: str) -> dict[str, Any]:
    return cast.perform(get_tax_rate, taxRateId=rate_id)


def list_changed_fields(cast: Cast, rate_id: str) -> list[list[str] | None]:
    """Return the changed fields that each entry in the history of a rate names, the oldest first."""
    return [entry["changed"] for entry in reversed(cast.perform(get_history, recordId=rate_id)["data"])]


def test_a_new_rate_is_stored_with_all_fields(cast: Cast) -> None:
    created = cast.perform(
        save_tax_rate, Role.ADMIN, name="Quebec", components=QUEBEC, note="GST and QST", isDefault=True
    )
    assert created["components"] == [{"name": "GST", "percent": "5.00"}, {"name": "QST", "percent": "9.975"}]
    assert (created["percent"], created["category"], created["status"]) == ("14.975", "standard", "active")
    assert (created["note"], created["isDefault"]) == ("GST and QST", True)
    assert to_event_record(get_rate(cast, created["id"])) == to_event_record(created)
    assert created["url"].endswith(f"/settings/taxes/{created['id']}")
    assert created["availableActions"] == ["save_tax_rate"]


def test_a_new_rate_needs_a_name_and_taxes(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(save_tax_rate)
    assert refusal.value.text == "name: is required for a new record; components: is required for a new record"


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    rate = make_tax_rate(cast, note="Old", isDefault=True)
    renamed = cast.perform(save_tax_rate, Role.ADMIN, taxRateId=rate, name="VAT", note=None)
    assert (renamed["name"], renamed["note"], renamed["percent"], renamed["isDefault"]) == ("VAT", None, "20.00", True)
    raised = cast.perform(save_tax_rate, taxRateId=rate, components=[{"name": "VAT", "percent": "21"}])
    assert (raised["percent"], raised["components"]) == ("21.00", [{"name": "VAT", "percent": "21.00"}])
    assert operations_on(cast, rate) == ["save_tax_rate"] * 3


@pytest.mark.parametrize("name", ["name", "category", "components", "status", "isDefault"])
def test_required_fields_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: "):
        cast.perform(save_tax_rate, taxRateId=make_tax_rate(cast), **{name: None})


@pytest.mark.parametrize(("given", "stored"), [("0.0001", "0.0001"), (5.5, "5.50"), ("100", "100.00"), (100, "100.00")])
def test_a_percentage_is_kept_to_four_decimals(cast: Cast, given: object, stored: str) -> None:
    assert get_rate(cast, make_tax_rate(cast, components=[{"name": "VAT", "percent": given}]))["percent"] == stored


@pytest.mark.parametrize("given", ["0.00005", "-1", "1e1", "NaN", "20 %", "", None, True, []])
def test_an_invalid_percentage_is_refused_with_the_place_of_its_tax(cast: Cast, given: object) -> None:
    components = [*VAT, {"name": "QST", "percent": given}]
    with pytest.raises(Invalid, match=r"^components\.1\.percent: is not a percentage such as 19 or 5.5, from 0 to 100"):
        make_tax_rate(cast, components=components)
    with pytest.raises(Invalid, match=r"^components\.0\.percent: is too large, the maximum is 100$"):
        make_tax_rate(cast, components=[{"name": "VAT", "percent": "100.0001"}])


@pytest.mark.parametrize("components", [[], VAT * 5])
def test_a_rate_has_from_one_to_four_taxes(cast: Cast, components: list[dict[str, str]]) -> None:
    with pytest.raises(Invalid, match=r"^components: "):
        make_tax_rate(cast, components=components)


@pytest.mark.parametrize("category", ["zero", "exempt", "reverseCharge", "outside"])
def test_where_no_tax_is_due_none_is_charged(cast: Cast, category: str) -> None:
    assert get_rate(cast, make_tax_rate(cast, category=category, components=ZERO_VAT))["percent"] == "0.00"
    problem = f"^components: must be 0 percent in the category {category}$"
    with pytest.raises(Invalid, match=problem):
        make_tax_rate(cast, category=category)
    rate = make_tax_rate(cast)
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=rate, category=category)
    assert cast.perform(save_tax_rate, taxRateId=rate, category=category, components=ZERO_VAT)["category"] == category


def test_a_standard_rate_charges_something(cast: Cast) -> None:
    problem = r"^category: is only for rates above 0 percent: choose another one$"
    with pytest.raises(Invalid, match=problem):
        make_tax_rate(cast, components=ZERO_VAT)
    with pytest.raises(Invalid, match=problem):
        cast.perform(
            save_tax_rate, taxRateId=make_tax_rate(cast, category="zero", components=ZERO_VAT), category="standard"
        )
    # One of its taxes may be 0 percent.
    assert get_rate(cast, make_tax_rate(cast, components=[*VAT, *ZERO_VAT]))["percent"] == "20.00"


def test_only_one_rate_is_the_default(cast: Cast) -> None:
    first = make_tax_rate(cast, isDefault=True)
    second = make_tax_rate(cast, "VAT 5 %", isDefault=True)
    assert (get_rate(cast, first)["isDefault"], get_rate(cast, second)["isDefault"]) == (False, True)
    assert operations_on(cast, cast.organisation)[-2:] == ["save_tax_rate", "save_tax_rate"]
    # Saving that a rate is not the default leaves the default as it is.
    cast.perform(save_tax_rate, taxRateId=first, isDefault=False)
    assert get_rate(cast, second)["isDefault"] is True
    assert cast.perform(save_tax_rate, taxRateId=second, isDefault=False)["isDefault"] is False


def test_another_default_is_in_the_history_of_both_rates(cast: Cast) -> None:
    first = make_tax_rate(cast, isDefault=True)
    second = make_tax_rate(cast, "VAT 5 %")
    assert (get_rate(cast, first)["version"], list_changed_fields(cast, first)) == (1, [None])
    cast.perform(save_tax_rate, taxRateId=second, isDefault=True)
    for rate in (first, second):
        assert (get_rate(cast, rate)["version"], list_changed_fields(cast, rate)) == (2, [None, ["isDefault"]])
    # Other fields that are saved at the same time belong to the same version.
    cast.perform(save_tax_rate, taxRateId=second, isDefault=False, note="Reduced")
    assert (get_rate(cast, second)["version"], sorted(list_changed_fields(cast, second)[-1] or [])) == (
        3,
        ["isDefault", "note"],
    )
    assert len(list_changed_fields(cast, first)) == 2
    # That it is not the default any more is recorded once; to save it again changes nothing.
    cast.perform(save_tax_rate, taxRateId=second, isDefault=False)
    assert get_rate(cast, second)["version"] == 3


def test_the_default_rate_is_not_archived(cast: Cast) -> None:
    problem = r"^status: can't be archived for the default rate: make another rate the default first$"
    rate = make_tax_rate(cast, isDefault=True)
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=rate, status="archived")
    with pytest.raises(Invalid, match=problem):
        make_tax_rate(cast, "Old", status="archived", isDefault=True)
    archived = make_tax_rate(cast, "Old", status="archived")
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=archived, isDefault=True)
    after = cast.perform(save_tax_rate, taxRateId=rate, status="archived", isDefault=False)
    assert (after["status"], after["isDefault"]) == ("archived", False)
    assert cast.perform(save_tax_rate, taxRateId=archived, status="active", isDefault=True)["isDefault"] is True


def test_the_percentages_of_a_rate_on_documents_stay(cast: Cast) -> None:
    rate = make_tax_rate(cast)
    set_columns(cast, "tax_rate", rate, used=1)
    for given in (
        {"components": [{"name": "VAT", "percent": "21"}]},
        {"components": [*VAT, *ZERO_VAT]},
        {"components": ZERO_VAT, "category": "zero"},
    ):
        with pytest.raises(
            Conflict, match=r"^VAT 20 % is used on documents, so its percentages can't change. Add a new"
        ):
            cast.perform(save_tax_rate, taxRateId=rate, **given)
    # The same percentages are no change, and a tax may get another name.
    same = [{"name": "Value added tax", "percent": "20.0"}]
    after = cast.perform(save_tax_rate, taxRateId=rate, name="VAT", components=same, category="standard", note="x")
    assert (after["name"], after["components"][0]["name"], after["percent"]) == ("VAT", "Value added tax", "20.00")
    assert cast.perform(save_tax_rate, taxRateId=rate, status="archived")["status"] == "archived"


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_admins_and_owners_change_taxes(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_tax_rate, role, name="x", components=VAT)
    assert cast.perform(list_tax_rates)["data"] == []


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_tax_rate(other_cast)
    with pytest.raises(NotFound, match=r"no tax rate"):
        cast.perform(save_tax_rate, taxRateId=theirs, name="x")
