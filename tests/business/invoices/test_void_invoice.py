import pytest

from billing import a_sold_quote, an_invoice, credited, issued, now, paid, voided
from cast import Cast
from evidence import as_told, history, last_event, mails
from labour import at as at_noon
from labour import decide
from mainstay.business.invoices.sending import void_invoice
from mainstay.business.jobs.operations import get_job
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import usual_tax
from reporting import report, rows
from trade import a_customer, a_job, left_to_do


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_keeps_its_number_and_nothing_is_owed(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    void = cast.perform(void_invoice, role, invoiceId="inv-0001", reason="Twice", confirmed=True)
    assert (void["number"], void["status"], void["due"], void["total"]) == ("INV-0001", "void", "0.00", "1000.00")
    assert (void["voidReason"], void["voidedAt"] is not None) == ("Twice", True)
    assert void["availableActions"] == []
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.voided", as_told(void))
    assert history(cast, sent["id"]) == ["draft_invoice", "send_invoice", "void_invoice"]
    assert issued(cast)["number"] == "INV-0002"
    assert mails(cast) == []
    # As it was issued, and stamped.
    assert left_to_do(cast).count("print") == 3


def test_a_preview_voids_nothing_and_says_what_would_happen(cast: Cast) -> None:
    sent = issued(cast)
    preview = cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="Twice")
    assert preview["summary"] == "INV-0001 New heating becomes void: Calder Property owes nothing of 1000.00 GBP."
    assert preview["effects"][0].startswith("Its number stays in the books, and its PDF gets a stamped copy.")
    assert preview["blockers"] == []
    assert as_told(now(cast, sent)) == as_told(sent)


def test_a_second_time_is_answered_sensibly(cast: Cast) -> None:
    void = voided(cast, issued(cast))
    with pytest.raises(Blocked, match=r"^INV-0001 is void already\.$"):
        voided(cast, void)


@pytest.mark.parametrize("wrong", ["true", 1, None, "yes"])
def test_only_a_plain_true_confirms(cast: Cast, wrong: object) -> None:
    sent = issued(cast)
    with pytest.raises(Invalid, match=r"^confirmed"):
        cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="Twice", confirmed=wrong)
    assert now(cast, sent)["status"] == "sent"


def test_with_a_payment_it_is_credited_instead(cast: Cast) -> None:
    sent = issued(cast)
    payment = paid(cast, sent, "250")
    with pytest.raises(Blocked) as refusal:
        voided(cast, sent)
    (reason,) = refusal.value.reasons
    assert reason.text == "250.00 GBP of INV-0001 is paid. Credit it instead, or reverse the payment first."
    assert reason.unblock == "credit_invoice"
    assert "void_invoice" not in now(cast, sent)["availableActions"]
    assert payment["status"] == "recorded"


def test_every_reason_is_told(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    paid(noon, sent, "1")
    credited(noon, sent, amount="1")
    decide(cast, books_closed_until="2026-11-16")
    preview = noon.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], reason="x")
    assert preview["blockers"] == [
        "1.00 GBP of INV-0001 is paid. Credit it instead, or reverse the payment first.",
        "INV-0001 was credited. Credit what is left of it instead.",
        "The books are closed until 2026-11-16. Credit INV-0001 instead.",
    ]


def test_of_what_is_wholly_credited_nothing_is_left(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    credited(noon, sent)
    with pytest.raises(Blocked, match=r"^INV-0001 is credited already, so nothing is left to be made void\.$"):
        voided(noon, sent)


def test_what_comes_to_nothing_is_void_though_its_books_are_closed(cast: Cast) -> None:
    usual_tax(cast)
    noon = at_noon(cast)
    quote = a_sold_quote(noon)
    deposit = issued(noon, an_invoice(noon, quoteId=quote["id"], part={"percent": "100"}))
    paid(noon, deposit)
    final = issued(noon, an_invoice(noon, quoteId=quote["id"]))
    assert (final["total"], final["status"]) == ("0.00", "paid")
    decide(cast, books_closed_until="2026-11-16")
    with pytest.raises(Blocked, match=r"^INV-0002 comes to nothing\. Void it instead\.$"):
        credited(noon, final)
    # Nor today, as long as that is closed as well.
    with pytest.raises(Blocked, match=r"^The books are closed until 2026-11-16, so nothing of 2026-11-16 changes"):
        voided(noon, final)
    tomorrow = at_noon(cast, "2026-11-17T12:00:00Z")
    assert "void_invoice" in now(tomorrow, final)["availableActions"]
    assert voided(tomorrow, final)["status"] == "void"
    given_back = credited(tomorrow, deposit)
    assert (given_back["status"], given_back["paid"]) == ("credited", "0.00")
    # What is closed stays as it was.
    (closed,) = rows(report(tomorrow, "taxSummary", **{"from": "2026-11-01", "until": "2026-11-16"}))
    assert (closed["invoicedNet"], closed["creditedNet"]) == ("1091.10", "0.00")


def test_a_draft_is_deleted_instead(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^A draft has no number\. Delete it instead\.$"):
        voided(cast, an_invoice(cast))


def test_its_job_is_to_be_invoiced_again(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), status="open")
    sent = issued(cast, an_invoice(cast, jobId=job["id"]))
    voided(cast, sent)
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = "SELECT invoiced, owed FROM job WHERE organisation_id = :organisation AND id = :id"
        assert rows.one(sql, id=job["id"]) == (0, 0)
    assert cast.perform(get_job, jobId=job["id"])["stage"] == job["stage"]


def test_why_is_required(cast: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(Invalid, match=r"^reason"):
        cast.perform(void_invoice, Role.OFFICE, invoiceId=sent["id"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_void_none(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    with pytest.raises(Forbidden):
        cast.perform(void_invoice, role, invoiceId=sent["id"], reason="x", confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(NotFound):
        voided(stranger, sent)
    cast.lapse()
    with pytest.raises(Lapsed):
        voided(cast, sent)
