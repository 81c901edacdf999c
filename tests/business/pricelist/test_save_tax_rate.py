from typing import Any

import pytest

from cast import Cast
from evidence import as_told, history
from mainstay.business.pricelist.taxes import get_tax_rate, list_tax_rates, save_tax_rate
from mainstay.business.records.history import get_history
from mainstay.terms.refusal import Conflict, Forbidden, Invalid, NotFound
from mainstay.terms.rights import Role
from telling import set_columns
from wares import VAT, a_rate

QUEBEC = [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}]
NO_TAX = [{"name": "VAT", "percent": "0"}]


def got(cast: Cast, rate: str) -> dict[str, Any]:
    return cast.perform(get_tax_rate, taxRateId=rate)


def changed(cast: Cast, rate: str) -> list[list[str] | None]:
    """Which fields each act has changed of a rate, as its history tells."""
    return [act["changed"] for act in reversed(cast.perform(get_history, recordId=rate)["data"])]


def test_a_new_one_is_kept_with_everything(cast: Cast) -> None:
    made = cast.perform(save_tax_rate, Role.ADMIN, name="Quebec", components=QUEBEC, note="GST and QST", isDefault=True)
    assert made["components"] == [{"name": "GST", "percent": "5.00"}, {"name": "QST", "percent": "9.975"}]
    assert (made["percent"], made["category"], made["status"]) == ("14.975", "standard", "active")
    assert (made["note"], made["isDefault"]) == ("GST and QST", True)
    assert as_told(got(cast, made["id"])) == as_told(made)
    assert made["url"].endswith(f"/settings/taxes/{made['id']}")
    assert made["availableActions"] == ["save_tax_rate"]


def test_a_new_one_needs_a_name_and_taxes(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(save_tax_rate)
    assert refusal.value.text == "name: is required for a new one; components: is required for a new one"


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    rate = a_rate(cast, note="Old", isDefault=True)
    renamed = cast.perform(save_tax_rate, Role.ADMIN, taxRateId=rate, name="VAT", note=None)
    assert (renamed["name"], renamed["note"], renamed["percent"], renamed["isDefault"]) == ("VAT", None, "20.00", True)
    raised = cast.perform(save_tax_rate, taxRateId=rate, components=[{"name": "VAT", "percent": "21"}])
    assert (raised["percent"], raised["components"]) == ("21.00", [{"name": "VAT", "percent": "21.00"}])
    assert history(cast, rate) == ["save_tax_rate"] * 3


@pytest.mark.parametrize("name", ["name", "category", "components", "status", "isDefault"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: "):
        cast.perform(save_tax_rate, taxRateId=a_rate(cast), **{name: None})


@pytest.mark.parametrize(("given", "kept"), [("0.0001", "0.0001"), (5.5, "5.50"), ("100", "100.00"), (100, "100.00")])
def test_a_percentage_is_kept_to_four_decimals(cast: Cast, given: object, kept: str) -> None:
    assert got(cast, a_rate(cast, components=[{"name": "VAT", "percent": given}]))["percent"] == kept


@pytest.mark.parametrize("given", ["0.00005", "-1", "1e1", "NaN", "20 %", "", None, True, []])
def test_what_is_no_percentage_is_refused_beside_its_row(cast: Cast, given: object) -> None:
    parts = [*VAT, {"name": "QST", "percent": given}]
    with pytest.raises(Invalid, match=r"^components\.1\.percent: is not a percentage such as 19 or 5.5, from 0 to 100"):
        a_rate(cast, components=parts)
    with pytest.raises(Invalid, match=r"^components\.0\.percent: is too large: at most 100 is possible$"):
        a_rate(cast, components=[{"name": "VAT", "percent": "100.0001"}])


@pytest.mark.parametrize("parts", [[], VAT * 5])
def test_it_has_from_one_to_four_taxes(cast: Cast, parts: list[dict[str, str]]) -> None:
    with pytest.raises(Invalid, match=r"^components: "):
        a_rate(cast, components=parts)


@pytest.mark.parametrize("category", ["zero", "exempt", "reverseCharge", "outside"])
def test_where_no_tax_is_due_none_is_charged(cast: Cast, category: str) -> None:
    assert got(cast, a_rate(cast, category=category, components=NO_TAX))["percent"] == "0.00"
    problem = f"^components: must be 0 percent where the category is {category}$"
    with pytest.raises(Invalid, match=problem):
        a_rate(cast, category=category)
    rate = a_rate(cast)
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=rate, category=category)
    assert cast.perform(save_tax_rate, taxRateId=rate, category=category, components=NO_TAX)["category"] == category


def test_a_standard_rate_charges_something(cast: Cast) -> None:
    problem = r"^category: is for rates above 0 percent: take another one$"
    with pytest.raises(Invalid, match=problem):
        a_rate(cast, components=NO_TAX)
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=a_rate(cast, category="zero", components=NO_TAX), category="standard")
    # One of its taxes may be none for now.
    assert got(cast, a_rate(cast, components=[*VAT, *NO_TAX]))["percent"] == "20.00"


def test_only_one_is_the_usual_one(cast: Cast) -> None:
    first = a_rate(cast, isDefault=True)
    second = a_rate(cast, "VAT 5 %", isDefault=True)
    assert (got(cast, first)["isDefault"], got(cast, second)["isDefault"]) == (False, True)
    assert history(cast, cast.organisation)[-2:] == ["save_tax_rate", "save_tax_rate"]
    # That the other one is not says nothing about this one.
    cast.perform(save_tax_rate, taxRateId=first, isDefault=False)
    assert got(cast, second)["isDefault"] is True
    assert cast.perform(save_tax_rate, taxRateId=second, isDefault=False)["isDefault"] is False


def test_the_history_tells_of_both_that_another_is_the_usual_one(cast: Cast) -> None:
    first = a_rate(cast, isDefault=True)
    second = a_rate(cast, "VAT 5 %")
    assert (got(cast, first)["version"], changed(cast, first)) == (1, [None])
    cast.perform(save_tax_rate, taxRateId=second, isDefault=True)
    for rate in (first, second):
        assert (got(cast, rate)["version"], changed(cast, rate)) == (2, [None, ["isDefault"]])
    # What else is saved with it is of the same version.
    cast.perform(save_tax_rate, taxRateId=second, isDefault=False, note="Reduced")
    assert (got(cast, second)["version"], sorted(changed(cast, second)[-1] or [])) == (3, ["isDefault", "note"])
    assert len(changed(cast, first)) == 2
    # That it is no longer is told once, by whom it was.
    cast.perform(save_tax_rate, taxRateId=second, isDefault=False)
    assert got(cast, second)["version"] == 3


def test_the_usual_one_is_not_archived(cast: Cast) -> None:
    problem = r"^status: is archived, and so cannot be the usual one: make another the usual one first$"
    rate = a_rate(cast, isDefault=True)
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=rate, status="archived")
    with pytest.raises(Invalid, match=problem):
        a_rate(cast, "Old", status="archived", isDefault=True)
    archived = a_rate(cast, "Old", status="archived")
    with pytest.raises(Invalid, match=problem):
        cast.perform(save_tax_rate, taxRateId=archived, isDefault=True)
    after = cast.perform(save_tax_rate, taxRateId=rate, status="archived", isDefault=False)
    assert (after["status"], after["isDefault"]) == ("archived", False)
    assert cast.perform(save_tax_rate, taxRateId=archived, status="active", isDefault=True)["isDefault"] is True


def test_once_a_document_names_it_its_percentages_stay(cast: Cast) -> None:
    rate = a_rate(cast)
    set_columns(cast, "tax_rate", rate, used=1)
    for given in (
        {"components": [{"name": "VAT", "percent": "21"}]},
        {"components": [*VAT, *NO_TAX]},
        {"components": NO_TAX, "category": "zero"},
    ):
        with pytest.raises(Conflict, match=r"^VAT 20 % stands on documents, so its percentages stay. Make a new"):
            cast.perform(save_tax_rate, taxRateId=rate, **given)
    # The same once more is no change, and what it is called is no percentage.
    same = [{"name": "Value added tax", "percent": "20.0"}]
    after = cast.perform(save_tax_rate, taxRateId=rate, name="VAT", components=same, category="standard", note="x")
    assert (after["name"], after["components"][0]["name"], after["percent"]) == ("VAT", "Value added tax", "20.00")
    assert cast.perform(save_tax_rate, taxRateId=rate, status="archived")["status"] == "archived"


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_only_admins_and_owners_change_taxes(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_tax_rate, role, name="x", components=VAT)
    assert cast.perform(list_tax_rates)["data"] == []


def test_what_is_a_stranger_s_is_not_found(cast: Cast, stranger: Cast) -> None:
    theirs = a_rate(stranger)
    with pytest.raises(NotFound, match=r"no tax rate"):
        cast.perform(save_tax_rate, taxRateId=theirs, name="x")
