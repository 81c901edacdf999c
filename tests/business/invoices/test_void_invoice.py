import pytest

from mainstay.business.invoices.issuing.sending import void_invoice
from mainstay.business.jobs.operations import get_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import list_task_kinds, make_customer, make_job
from support.hours import cast_at as at_noon
from support.hours import set_organisation_columns
from support.invoices import (
    credit_issued,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    pay_invoice,
    reread_invoice,
    void_issued,
)
from support.quotes import make_default_tax_rate
from support.reports import name_rows, perform_report
from support.stored_state import operations_on, read_last_event, to_event_record, waiting_emails


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_keeps_its_number_and_nothing_is_owed(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    void = cast.perform(void_invoice, role, invoiceId="inv-0001", reason="Twice", confirmed=True)
    assert (void["number"], void["status"], void["due"], void["total"]) == ("INV-0001", "void", "0.00", "1000.00")
    assert (void["voidReason"], void["voidedAt"] is not None) == ("Twice", True)
    assert void["availableActions"] == []
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.voided", to_event_record(void))
    assert operations_on(cast, sent["id"]) == ["draft_invoice", "send_invoice", "void_invoice"]
    assert issue_invoice(cast)["number"] == "INV-0002"
    assert waiting_emails(cast) == []
    # As it was issued, and stamped.
    assert list_task_kinds(cast).count("print") == 3


def test_a_preview_voids_nothing_and_says_what_would_happen(cast: Cast) -> None:
    sent = issue_invoice(cast)
    preview = cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="Twice")
    assert preview["summary"] == "INV-0001 New heating will be voided: Calder Property will no longer owe 1000.00 GBP."
    assert preview["effects"][0].startswith("The invoice will keep its number, and its PDF will be stamped as void.")
    assert preview["blockers"] == []
    assert to_event_record(reread_invoice(cast, sent)) == to_event_record(sent)


def test_a_second_time_is_answered_sensibly(cast: Cast) -> None:
    void = void_issued(cast, issue_invoice(cast))
    with pytest.raises(Blocked, match=r"^INV-0001 is already void\.$"):
        void_issued(cast, void)


@pytest.mark.parametrize("wrong", ["true", 1, None, "yes"])
def test_only_a_plain_true_confirms(cast: Cast, wrong: object) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^confirmed"):
        cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="Twice", confirmed=wrong)
    assert reread_invoice(cast, sent)["status"] == "sent"


def test_with_a_payment_it_is_credited_instead(cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent, "250")
    with pytest.raises(Blocked) as refusal:
        void_issued(cast, sent)
    (reason,) = refusal.value.reasons
    assert reason.text == "250.00 GBP of INV-0001 has been paid. Credit it instead, or reverse the payment first."
    assert (reason.first, reason.instead) == ("reverse_payment", "credit_invoice")
    assert "void_invoice" not in reread_invoice(cast, sent)["availableActions"]
    assert payment["status"] == "recorded"


def test_every_reason_is_told(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    pay_invoice(noon, sent, "1")
    credit_issued(noon, sent, amount="1")
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    preview = noon.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="x")
    assert preview["blockers"] == [
        "1.00 GBP of INV-0001 has been paid. Credit it instead, or reverse the payment first.",
        "INV-0001 is already partly credited. Credit the rest of it instead.",
        "The books are closed up to 2026-11-16. Credit INV-0001 instead.",
    ]


def test_of_what_is_wholly_credited_nothing_is_left(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    credit_issued(noon, sent)
    with pytest.raises(Blocked, match=r"^INV-0001 is already credited in full, so it can't be voided\.$"):
        void_issued(noon, sent)


def test_what_comes_to_nothing_is_void_though_its_books_are_closed(cast: Cast) -> None:
    make_default_tax_rate(cast)
    noon = at_noon(cast)
    quote = make_accepted_quote(noon)
    deposit = issue_invoice(noon, make_invoice(noon, quoteId=quote["id"], part={"percent": "100"}))
    pay_invoice(noon, deposit)
    final = issue_invoice(noon, make_invoice(noon, quoteId=quote["id"]))
    assert (final["total"], final["status"]) == ("0.00", "paid")
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    with pytest.raises(Blocked, match=r"^The total of INV-0002 is zero\. Void it instead\.$"):
        credit_issued(noon, final)
    # Nor today, as long as that is closed as well.
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-11-16, so nothing dated 2026-11-16 can be changed"
    ):
        void_issued(noon, final)
    tomorrow = at_noon(cast, "2026-11-17T12:00:00Z")
    assert "void_invoice" in reread_invoice(tomorrow, final)["availableActions"]
    assert void_issued(tomorrow, final)["status"] == "void"
    given_back = credit_issued(tomorrow, deposit)
    assert (given_back["status"], given_back["paid"]) == ("credited", "0.00")
    # What is closed stays as it was.
    (closed,) = name_rows(perform_report(tomorrow, "taxSummary", **{"from": "2026-11-01", "until": "2026-11-16"}))
    assert (closed["invoicedNet"], closed["creditedNet"]) == ("1091.10", "0.00")


def test_a_draft_is_deleted_instead(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^This is a draft\. Delete it instead\.$"):
        void_issued(cast, make_invoice(cast))


def test_its_job_is_to_be_invoiced_again(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), status="open")
    sent = issue_invoice(cast, make_invoice(cast, jobId=job["id"]))
    void_issued(cast, sent)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT invoiced, owed FROM job WHERE organisation_id = :organisation AND id = :id"
        assert db.one(sql, id=job["id"]) == (0, 0)
    assert cast.perform(get_job, jobId=job["id"])["stage"] == job["stage"]


def test_why_is_required(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^reason"):
        cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_void_none(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Forbidden):
        cast.perform(void_invoice, role, invoiceId=sent["id"], reason="x", confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(NotFound):
        void_issued(other_cast, sent)
    cast.lapse()
    with pytest.raises(Lapsed):
        void_issued(cast, sent)
