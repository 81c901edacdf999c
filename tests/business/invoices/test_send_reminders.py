from typing import Any

import pytest

from billing import an_invoice, issued, now, paid
from cast import Cast
from evidence import history, mails
from labour import at as at_noon
from mainstay.business.invoices.reminding import MOST_AT_ONCE, send_reminders
from mainstay.business.organisation.operations import update_organisation
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import later
from trade import a_customer


def reminded(cast: Cast, *invoices: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_reminders, Role.OFFICE, invoiceIds=[one["id"] for one in invoices], **given)


def owing(cast: Cast, name: str, **given: object) -> dict[str, Any]:
    """An invoice of a new customer, issued at noon of a day."""
    return issued(cast, an_invoice(cast, customerId=a_customer(cast, name, email=f"{name.lower()}@x.example"), **given))


@pytest.fixture
def late(cast: Cast) -> Cast:
    """The same people when invoices issued at noon are overdue; they have a bank and an address."""
    cast.perform(update_organisation, bank={"account": "12345678"}, email="office@x.example")
    return later(at_noon(cast), days=20)


def test_one_preview_says_who_is_reminded_of_what_and_then_all_are(cast: Cast, late: Cast) -> None:
    noon = at_noon(cast)
    ann, bob = owing(noon, "Ann"), owing(noon, "Bob")
    other = owing(noon, "Cid")
    paid(noon, bob, "250")
    preview = reminded(late, ann, bob)
    assert preview["summary"] == "Reminders of 2 invoices go to 2 customers: 1750.00 GBP is to be paid."
    told = [effect for effect in preview["effects"] if not effect.startswith("Webhooks")]
    assert told == [
        "INV-0001 is mailed to ann@x.example: Reminder: invoice INV-0001 from " + late_name(late),
        "INV-0002 is mailed to bob@x.example: Reminder: invoice INV-0002 from " + late_name(late),
    ]
    assert (preview["warnings"], preview["blockers"], mails(cast)) == ([], [], [])
    done = reminded(late, ann, bob, confirmed=True)
    assert (done["due"], done["currency"]) == ("1750.00", "GBP")
    assert [(one["number"], one["due"], one["reminders"]) for one in done["invoices"]] == [
        ("INV-0001", "1000.00", 1),
        ("INV-0002", "750.00", 1),
    ]
    assert sorted(mail["to"] for mail in mails(cast)) == ["ann@x.example", "bob@x.example"]
    assert history(cast, ann["id"])[-1] == "send_reminders"
    assert now(late, other)["reminders"] == 0


def late_name(cast: Cast) -> str:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    return str(row[0]) if row else ""


def test_each_invoice_that_cannot_be_reminded_of_is_named_with_its_reason_and_nothing_is_sent(
    cast: Cast, late: Cast
) -> None:
    noon = at_noon(cast)
    fine, draft, settled = owing(noon, "Ann"), an_invoice(noon), owing(noon, "Bob")
    paid(noon, settled)
    preview = reminded(late, fine, draft, settled)
    assert preview["blockers"] == [
        "Draft invoice New heating: A draft was never sent. Send it first.",
        "INV-0002 New heating: There is nothing left to pay of INV-0002.",
    ]
    with pytest.raises(Blocked):
        reminded(late, fine, draft, settled, confirmed=True)
    assert (now(late, fine)["reminders"], mails(cast)) == (0, [])


def test_whoever_has_no_address_is_named_and_nothing_is_sent(cast: Cast, late: Cast) -> None:
    noon = at_noon(cast)
    fine, silent = owing(noon, "Ann"), issued(noon, an_invoice(noon, customerId=a_customer(noon, "Zoe")))
    [blocker] = reminded(late, fine, silent)["blockers"]
    assert blocker.startswith("INV-0002 New heating: There is no address to mail it to. Give Zoe one")
    with pytest.raises(Blocked):
        reminded(late, fine, silent, confirmed=True)
    assert mails(cast) == []


def test_what_is_worth_a_look_names_the_invoice(cast: Cast, late: Cast) -> None:
    noon = at_noon(cast)
    customer = a_customer(noon, "Ann", email="ann@x.example")
    first, second = (issued(noon, an_invoice(noon, customerId=customer)) for _ in range(2))
    fresh = issued(late, an_invoice(late, customerId=customer))
    reminded(late, first, confirmed=True)
    assert reminded(later(late, days=1), first, second, fresh)["warnings"] == [
        "They were reminded of INV-0001 on 2026-12-06 already.",
        "INV-0003 is not overdue: there is time until 2026-12-20.",
        "Ann gets 3 emails, one for each invoice. send_statement lists all of them in one.",
    ]


def test_the_same_invoice_is_not_named_twice_nor_too_many_at_once(cast: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(Invalid, match=r"^invoiceIds\.1: is named twice$"):
        cast.perform(send_reminders, Role.OFFICE, invoiceIds=[sent["id"], sent["number"]])
    for wrong in ([], [sent["id"]] * (MOST_AT_ONCE + 1)):
        with pytest.raises(Invalid, match=r"^invoiceIds"):
            cast.perform(send_reminders, Role.OFFICE, invoiceIds=wrong)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_remind_nobody(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_reminders, role, invoiceIds=[sent["id"]], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    sent, theirs = issued(cast), issued(stranger)
    with pytest.raises(NotFound):
        reminded(stranger, theirs, sent, confirmed=True)
    assert mails(stranger) == []
    cast.lapse()
    with pytest.raises(Lapsed):
        reminded(cast, sent, confirmed=True)
