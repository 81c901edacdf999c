import pytest

from mainstay.business.organisation.assistant_settings import get_assistant_settings, update_assistant_settings
from mainstay.business.records.history import get_history
from mainstay.business.records.undo import undo_change
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.talks import in_office

OWN = {"assistantSource": "own", "assistantAddress": "https://llm.example.com/v1", "assistantModel": "own-1"}


def update(cast: Cast, **given: object) -> dict[str, object]:
    return cast.perform(update_assistant_settings, in_office(cast, Role.OWNER), **given)


def test_an_organisation_begins_with_the_model_of_the_installation(cast: Cast) -> None:
    settings = cast.perform(get_assistant_settings, in_office(cast, Role.ADMIN))
    assert (settings["assistantSource"], settings["hasAssistantKey"]) == ("installation", False)
    assert (settings["assistantContextTokens"], settings["assistantRetentionDays"]) == (128_000, 90)


def test_it_chooses_a_model_of_its_own_whose_key_nobody_reads(cast: Cast) -> None:
    settings = update(cast, **OWN, assistantKey="encrypted")
    assert (settings["assistantModel"], settings["hasAssistantKey"]) == ("own-1", True)
    assert "encrypted" not in str(settings)
    assert "encrypted" not in str(cast.perform(get_history, in_office(cast, Role.OWNER), recordId=cast.organisation))
    assert update(cast, assistantKey=None)["hasAssistantKey"] is False


def test_a_key_goes_to_no_other_server(cast: Cast) -> None:
    update(cast, **OWN, assistantKey="encrypted")
    assert update(cast, assistantModel="own-2")["hasAssistantKey"] is True
    assert update(cast, assistantAddress="https://evil.example/v1")["hasAssistantKey"] is False


def test_an_own_model_has_an_address_and_a_name(cast: Cast) -> None:
    with pytest.raises(Invalid, match="required for your own model") as refused:
        update(cast, assistantSource="own")
    assert {fault.field for fault in refused.value.faults} == {"assistantAddress", "assistantModel"}
    update(cast, **OWN)
    with pytest.raises(Invalid, match="required for your own model"):
        update(cast, assistantModel=None)


@pytest.mark.parametrize(
    "given",
    [
        {"assistantContextTokens": 7_999},
        {"assistantDailyTokens": -1},
        {"assistantRetentionDays": 0},
        {"assistantAddress": "ftp://llm.example.com"},
        {"assistantDialect": "telepathy"},
    ],
)
def test_what_makes_no_sense_is_refused(cast: Cast, given: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        update(cast, **given)


def test_it_is_undone(cast: Cast) -> None:
    update(cast, assistantDailyTokens=5)
    change = cast.perform(get_history, recordId=cast.organisation)["data"][0]["id"]
    cast.perform(undo_change, in_office(cast, Role.OWNER), changeIds=[change])
    assert cast.perform(get_assistant_settings, in_office(cast, Role.OWNER))["assistantDailyTokens"] == 1_000_000


def test_the_office_does_not_choose(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(update_assistant_settings, in_office(cast), assistantDailyTokens=5)
