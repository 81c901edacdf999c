from concurrent.futures import ThreadPoolExecutor

import pytest

from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.quotes.decisions import record_quote_decision
from mainstay.business.quotes.operations import get_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.quotes import accept_quote, cast_later, issue_quote, make_default_tax_rate, make_quote
from support.stored_state import list_events_of, read_last_event, to_event_record


def decline(cast: Cast, quote: dict[str, object], **given: object) -> dict[str, object]:
    values = {"decision": "declined", "confirmed": True, **given}
    return cast.perform(record_quote_decision, Role.OFFICE, quoteId=quote["id"], **values)


def test_an_accepted_quote_makes_a_job_at_its_price(cast: Cast) -> None:
    make_default_tax_rate(cast)
    customer = make_customer(cast, email="a@b.example")
    site = make_site(cast, customer)
    quote = accept_quote(
        cast, issue_quote(cast, make_quote(cast, customerId=customer, siteId=site)), method="paper", note="By post."
    )
    assert (quote["status"], quote["jobNumber"]) == ("accepted", "J-0001")
    job = cast.perform(get_job, jobId=quote["jobId"])
    assert (job["title"], job["customerId"], job["siteId"]) == ("New heating", customer, site)
    assert (job["billing"], job["budget"], job["quoteId"]) == ("fixed", "1000.00", quote["id"])
    assert (job["status"], job["stage"]) == ("open", "toSchedule")
    acceptance = quote["acceptance"]
    assert (acceptance["method"], acceptance["name"], acceptance["note"]) == ("paper", "Ann Boyle", "By post.")
    assert acceptance["recordedBy"]["person"]["name"] == "Orla Office"
    assert acceptance["at"] == quote["decidedAt"]
    assert [event["type"] for event in list_events_of(cast)][-2:] == ["job.created", "quote.accepted"]
    assert read_last_event(cast)["data"]["object"] == to_event_record(quote)


def test_what_was_chosen_is_fixed_and_counts(cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast)
    warranty = quote["lines"][1]["id"]
    plain_hash = accept_quote(cast, issue_quote(cast))["acceptance"]["contentHash"]
    after = accept_quote(cast, quote, chosen=[warranty])
    assert [line["chosen"] for line in after["lines"]] == [True, True]
    assert (after["net"], after["total"]) == ("1200.00", "1440.00")
    assert cast.perform(get_job, jobId=after["jobId"])["budget"] == "1200.00"
    assert after["acceptance"]["contentHash"] != plain_hash


def test_the_job_that_it_is_for_goes_on(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="a@b.example"), status="enquiry")
    quote = accept_quote(cast, issue_quote(cast, make_quote(cast, jobId=job["id"])))
    after = cast.perform(get_job, jobId=job["id"])
    assert quote["jobId"] == job["id"]
    assert (after["status"], after["stage"], after["billing"]) == ("open", "toSchedule", "fixed")
    assert (after["budget"], after["quoteId"]) == ("1000.00", quote["id"])
    assert len(cast.perform(list_jobs)["data"]) == 1
    assert [event["type"] for event in list_events_of(cast)][-2:] == ["job.updated", "quote.accepted"]


def test_where_its_job_was_called_off_there_is_a_new_one(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="a@b.example"))
    quote = issue_quote(cast, make_quote(cast, jobId=job["id"]))
    cast.perform(cancel_job, jobId=job["id"], reason="No.", confirmed=True)
    assert accept_quote(cast, quote)["jobNumber"] == "J-0002"
    with cast.performer.database.read_transaction(cast.organisation) as db:
        waits = db.all("SELECT quoting FROM job WHERE organisation_id = :organisation")
    assert {quoting for (quoting,) in waits} == {0}


def test_a_preview_tells_what_follows(cast: Cast) -> None:
    quote = issue_quote(cast)
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann"}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    assert preview["summary"] == "Q-0001 New heating will be recorded as accepted by Ann: 1000.00 GBP."
    assert preview["effects"][0] == "The job J-0001 New heating will be created."
    assert cast.perform(list_jobs)["data"] == []


@pytest.mark.parametrize(
    ("taken_off", "told"),
    [
        ("-60", ["With these options, the total of Q-0001 is less than its deposit of 80.00 GBP."]),
        (
            "-150",
            [
                "With these options, the total of Q-0001 is below zero.",
                "With these options, the total of Q-0001 is less than its deposit of 80.00 GBP.",
            ],
        ),
    ],
)
def test_options_that_take_off_too_much_are_refused_and_promise_nothing(
    cast: Cast, taken_off: str, told: list[str]
) -> None:
    make_default_tax_rate(cast)
    rebate = {"description": "Rebate", "unitPrice": taken_off, "optional": True}
    pump = {"description": "Pump", "unitPrice": "100"}
    quote = issue_quote(cast, make_quote(cast, lines=[pump, rebate], deposit={"amount": "80"}))
    given = {"quoteId": quote["id"], "decision": "accepted", "name": "Ann", "chosen": [quote["lines"][1]["id"]]}
    preview = cast.perform(record_quote_decision, Role.OFFICE, **given)
    assert preview["blockers"] == [f"{one} Choose others, or revise the quote." for one in told]
    assert preview["effects"] == []
    with pytest.raises(Blocked) as refused:
        accept_quote(cast, quote, chosen=given["chosen"])
    assert {reason.instead for reason in refused.value.reasons} == {"revise_quote"}
    assert cast.perform(list_jobs)["data"] == []
    assert accept_quote(cast, quote)["total"] == "120.00"


def test_options_may_take_off_all_but_the_deposit_and_all_where_there_is_none(cast: Cast) -> None:
    free = {"description": "Rebate", "unitPrice": "-100", "optional": True}
    pump = {"description": "Pump", "unitPrice": "100"}
    for deposit, taken_off in (({"amount": "80"}, "-20"), (None, "-100")):
        quote = issue_quote(cast, make_quote(cast, lines=[pump, free | {"unitPrice": taken_off}], deposit=deposit))
        assert accept_quote(cast, quote, chosen=[quote["lines"][1]["id"]])["status"] == "accepted"


def test_however_often_at_once_there_is_one_job(cast: Cast) -> None:
    quote = issue_quote(cast)
    with ThreadPoolExecutor(6) as racers:
        answers = list(racers.map(lambda _: str(accept_quote(cast, quote)["jobId"]), range(6)))
    assert len(set(answers)) == 1
    assert len(cast.perform(list_jobs)["data"]) == 1


def test_a_declined_quote_says_why_and_its_job_is_quoted_no_more(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="a@b.example"), status="enquiry")
    quote = decline(cast, issue_quote(cast, make_quote(cast, jobId=job["id"])), reason="Too dear.")
    assert (quote["status"], quote["declineReason"]) == ("declined", "Too dear.")
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "enquiry"
    assert read_last_event(cast)["type"] == "quote.declined"
    assert quote["availableActions"] == ["revise_quote"]


def test_after_it_has_expired_it_is_accepted_with_a_note(cast: Cast) -> None:
    quote, after = issue_quote(cast), cast_later(cast, days=40)
    with pytest.raises(
        Invalid, match=r"^note: is required, because the quote has expired: say why it's still accepted$"
    ):
        accept_quote(after, quote)
    assert accept_quote(after, quote, note="Agreed on the phone.")["status"] == "accepted"


def test_who_accepts_has_a_name(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^name: is required to accept a quote$"):
        accept_quote(cast, issue_quote(cast), name=None)


def test_only_options_can_be_chosen(cast: Cast) -> None:
    quote = issue_quote(cast)
    boiler = quote["lines"][0]["id"]
    with pytest.raises(Invalid, match=rf"^chosen: includes {boiler}, which is not an optional line$"):
        accept_quote(cast, quote, chosen=[boiler])


def test_only_what_was_sent_is_answered(cast: Cast) -> None:
    draft = make_quote(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 is a draft\. Send it first\.$"):
        accept_quote(cast, draft)
    cast.perform(withdraw_quote, quoteId=draft["id"], confirmed=True)
    with pytest.raises(Blocked, match=r"^Q-0001 was withdrawn\. Revise it instead\.$"):
        accept_quote(cast, draft)
    assert cast.perform(get_quote, quoteId=draft["id"])["acceptance"] is None


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_records_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(record_quote_decision, role, quoteId=issue_quote(cast)["id"], decision="declined", confirmed=True)
