"""What a member or a subcontractor must never be told, each piece in words of its own that nothing else contains.

Beside the work that is theirs there is a stranger's: a customer with sites, a job, visits, hours, notes, files. And on
their own work there is what only the office knows. Wherever such a word comes up, someone was shown too much.
"""

from typing import Any

from cast import Cast, open_accounts
from filing import add
from house.examples_hours import Hours
from house.examples_schedule import DAY, Schedule
from house.examples_work import Work
from house.hidden_words import MEMBERS, NOBODY, TEAM, Hidden, Viewer, Viewers
from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.customers.places import save_contact, save_site
from mainstay.business.hours.operations import log_hours
from mainstay.business.invoices.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.operations import draft_invoice
from mainstay.business.invoices.paying import record_payment
from mainstay.business.invoices.sending import send_invoice
from mainstay.business.jobs.operations import create_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.joining import add_person
from mainstay.business.people.operations import update_person
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.purchasing.bills import record_bill
from mainstay.business.purchasing.operations import draft_purchase_order
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import request_time_off
from mainstay.business.schedule.operations import move_visit, plan_visit
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import operator
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from telling import set_columns

# Words that stand in no page, no document and no other record.
# Of a price, digits that none has by chance; shown without a separator of thousands.
PRICES = {"budget": "617.83", "cost": "618.47", "bill": "619.57"}
STRANGER_S_BUDGET = "613.19"
# Of an item what it is sold for and what it costs, and of a kit of three of it.
ITEM_S_PRICES, KIT_S_PRICES = ("615.31", "614.29"), ("1845.93", "1842.87")
IBAN, BIC = "GB82WEST12345698765432", "WESTGB2L"
# Of an invoice what it comes to, what was paid of it and what was credited.
INVOICE_S_PRICES = ("616.41", "107.39", "103.27")
# What it costs that is bought for their own job.
BOUGHT_AT = "616.17"


def hide(cast: Cast, work: Work, schedule: Schedule, hours: Hours) -> Hidden:
    """Put it there, beside work that members and subcontractors see."""
    hidden = Hidden()
    colleague = _colleague(cast, hidden)
    customer = _customer(cast, hidden)
    _work(cast, hidden, customer, colleague)
    _on_what_they_see(cast, hidden, work)
    _of_colleagues(cast, hidden, schedule, hours)
    _prices(cast, hidden)
    _bank(cast, hidden)
    _invoices(cast, hidden, work.customer, work.job)
    _purchases(cast, hidden, work)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        set_columns(cast, "person", cast.people[role], cost_rate=6_184_700, bill_rate=6_195_700)
        set_columns(cast, "time_entry", hours.drafts[role], cost_rate=6_184_700, bill_rate=6_195_700)
        overlap = {"allowOverlap": True, "overlapReason": hidden.word(f"overlap{role}")}
        cast.perform(move_visit, visitId=schedule.visits[role], **overlap)
    prices = [*PRICES.values(), STRANGER_S_BUDGET, *ITEM_S_PRICES, *KIT_S_PRICES, *INVOICE_S_PRICES, BOUGHT_AT]
    hidden.words |= dict.fromkeys(prices, NOBODY)
    return hidden


def everything(cast: Cast, operation: Operation, **given: object) -> dict[str, Any]:
    """Perform it with every field that it has: one that is added to it later has to be hidden here as well."""
    fields = {field.alias or name for name, field in operation.input.model_fields.items()}
    assert fields - given.keys() <= {"status", "repeat", "endsAt", "visitId", "siteId", "contactId", "on", "timeZone"}
    return cast.perform(operation, **given)


def _colleague(cast: Cast, hidden: Hidden) -> str:
    """Someone who works for the stranger alone; members know their colleagues, but not what they earn."""
    email = f"{hidden.word('mail', MEMBERS)}{new_id('x')}@colleague.example".lower()
    open_accounts(cast.stage, email)
    person = cast.perform(
        add_person,
        operator(cast.organisation),
        name=f"Cara {hidden.word('colleague', MEMBERS)}",
        email=email,
        role="member",
        password="a password for the cast",
    )
    cast.perform(
        update_person,
        personId=person["id"],
        phone=hidden.phone(11, MEMBERS),
        companyName=hidden.word("company", MEMBERS),
        costRate=PRICES["cost"],
        billRate=PRICES["bill"],
    )
    return hidden.keep(person, MEMBERS)


def _place(hidden: Hidden, what: str, seen_by: Viewers = NOBODY) -> dict[str, str]:
    code = hidden.word(f"{what}code", seen_by)
    return {"postalCode": code} | {
        name: hidden.word(f"{what}{name}", seen_by) for name in ("line1", "line2", "city", "region")
    }


def _customer(cast: Cast, hidden: Hidden) -> str:
    made = everything(
        cast,
        create_customer,
        makeSite=True,
        name=f"Mrs {hidden.word('customer')}",
        kind="individual",
        email=f"{hidden.word('billing').lower()}@stranger.example",
        phone=hidden.phone(21),
        billingAddress=_place(hidden, "billing") | {"country": "GB"},
        taxNumber=hidden.word("tax"),
        registrationNumber=hidden.word("register"),
        eInvoiceAddress={"scheme": "0088", "id": hidden.word("peppol")},
        reference=hidden.word("reference"),
        paymentTermsDays=17,
        language="nl",
        notes=hidden.word("knows"),
        externalRef=hidden.word("customerelsewhere"),
    )
    return hidden.keep(made)


def _work(cast: Cast, hidden: Hidden, customer: str, colleague: str) -> None:
    contact = everything(
        cast,
        save_contact,
        customerId=customer,
        name=hidden.word("contact"),
        role=hidden.word("caretaker"),
        email=f"{hidden.word('met').lower()}@stranger.example",
        phone=hidden.phone(31),
        receives={"quotes": True, "invoices": True},
        externalRef=hidden.word("contactelsewhere"),
    )
    site = cast.perform(
        save_site,
        customerId=customer,
        name=hidden.word("site"),
        address=_place(hidden, "site"),
        accessNotes=hidden.word("access"),
        contactId=hidden.keep(contact),
        externalRef=hidden.word("siteelsewhere"),
    )
    job = everything(
        cast,
        create_job,
        customerId=customer,
        siteId=hidden.keep(site),
        title=hidden.word("job"),
        description=hidden.word("description"),
        priority="urgent",
        billing="timeAndMaterials",
        customerOrderNumber=hidden.word("order"),
        budget=STRANGER_S_BUDGET,
        dueOn="2026-01-02",
        leadPersonId=colleague,
        assigned=[colleague],
        tags=[hidden.word("tag")],
        externalRef=hidden.word("jobelsewhere"),
    )
    identity = hidden.keep(job)
    # Whoever sees the team's schedule reads there to which number a colleague goes.
    hidden.number = job["number"]
    hidden.words[hidden.number] = TEAM
    times = {"startsAt": f"{DAY}T10:00", "durationMinutes": 60}
    notes = hidden.word("visit")
    hidden.keep(cast.perform(plan_visit, jobId=identity, personIds=[colleague], notes=notes, **times), TEAM)
    talk = cast.perform(plan_visit, title=hidden.word("talk"), personIds=[colleague], on=DAY)
    hidden.keep(talk, TEAM)
    # Nobody goes yet, so it is in nobody's day; the team is told that it is there.
    hidden.keep(cast.perform(plan_visit, jobId=identity, on=DAY, notes=hidden.word("unassigned")), TEAM)
    off = {"personId": colleague, "from": "2038-02-02", "note": hidden.word("leave")}
    hidden.keep(cast.perform(request_time_off, **off))
    logged = {"jobId": identity, "on": "2026-11-02", "minutes": 77, "personId": colleague}
    hidden.keep(cast.perform(log_hours, **logged, note=hidden.word("hours")))
    for record in (identity, customer, site["id"]):
        kind = record.partition("_")[0]
        cast.perform(add_note, recordId=record, text=hidden.word(f"noteof{kind}"))
        hidden.keep(add(cast, record, name=f"{hidden.word(f'fileof{kind}')}.pdf"))


def _on_what_they_see(cast: Cast, hidden: Hidden, work: Work) -> None:
    """What only the office knows of their own job, and what of its customer is not at its site."""
    cast.perform(
        update_customer,
        customerId=work.customer,
        email=f"{hidden.word('ownmail', MEMBERS).lower()}@calder.example",
        phone=hidden.phone(41, MEMBERS),
        billingAddress=_place(hidden, "own", MEMBERS),
        taxNumber=hidden.word("owntax"),
        registrationNumber=hidden.word("ownregister"),
        eInvoiceAddress={"scheme": "0088", "id": hidden.word("ownpeppol")},
        reference=hidden.word("ownreference"),
        notes=hidden.word("ownknows"),
        externalRef=hidden.word("ownelsewhere"),
    )
    order = hidden.word("ownorder")
    cast.perform(update_job, jobId=work.job, budget=PRICES["budget"], customerOrderNumber=order)
    cast.perform(add_note, recordId=work.job, text=hidden.word("officenote"), visibility="office")
    hidden.keep(add(cast, work.job, name=f"{hidden.word('officefile')}.pdf", visibility="office"))
    about = {"customerId": work.customer}
    other = cast.perform(save_contact, **about, name=hidden.word("accounts", MEMBERS), phone=hidden.phone(51, MEMBERS))
    hidden.keep(other, MEMBERS)
    elsewhere = cast.perform(save_site, **about, address=_place(hidden, "else", MEMBERS))
    hidden.keep(elsewhere, MEMBERS)
    hidden.records |= {work.other: NOBODY, work.archived: NOBODY, work.customer: MEMBERS}
    hidden.named.add(work.customer)


def _prices(cast: Cast, hidden: Hidden) -> None:
    """Members know what is on the price list, and neither what it costs nor from whom it comes."""
    supplier = everything(
        cast,
        save_supplier,
        supplierId=None,
        name=hidden.word("supplier"),
        email=f"{hidden.word('orders').lower()}@supplier.example",
        phone=hidden.phone(61),
        address=_place(hidden, "supplier"),
        taxNumber=hidden.word("suppliertax"),
        accountNumber=hidden.word("ournumber"),
        paymentTermsDays=23,
        language="fr",
        notes=hidden.word("suppliernotes"),
        externalRef=hidden.word("supplierelsewhere"),
    )
    rate = everything(
        cast,
        save_tax_rate,
        taxRateId=None,
        name=hidden.word("rate", MEMBERS),
        category="standard",
        components=[{"name": hidden.word("taxpart"), "percent": "7"}],
        note=hidden.word("taxnote"),
        isDefault=False,
    )
    item = everything(
        cast,
        save_price_item,
        itemId=None,
        code=hidden.word("code", MEMBERS).upper(),
        name=hidden.word("item", MEMBERS),
        description=hidden.word("itemtext", MEMBERS),
        kind="fee",
        unit=hidden.word("unit", MEMBERS),
        sellPrice=ITEM_S_PRICES[0],
        costPrice=ITEM_S_PRICES[1],
        taxRateId=hidden.keep(rate, MEMBERS),
        supplierId=hidden.keep(supplier),
        components=[],
        externalRef=hidden.word("itemelsewhere"),
    )
    parts = [{"itemId": hidden.keep(item, MEMBERS), "quantity": "3"}]
    hidden.keep(cast.perform(save_price_item, name=hidden.word("kit", MEMBERS), components=parts), MEMBERS)


def _bank(cast: Cast, hidden: Hidden) -> None:
    """Everyone knows the organisation, and the office alone where it is paid."""
    words = {name: hidden.word(f"bank{name}") for name in ("name", "account", "sortCode")}
    hidden.words |= dict.fromkeys((IBAN, BIC), NOBODY)
    cast.perform(update_organisation, bank=words | {"iban": IBAN, "bic": BIC})


def _invoices(cast: Cast, hidden: Hidden, customer: str, job: str) -> None:
    """What their own customer is asked for, has paid and was credited, for the very job they work on."""
    total, paid, credited = INVOICE_S_PRICES
    line = {"description": "Boiler", "unitPrice": total, "taxRateId": None}
    invoice = cast.perform(
        draft_invoice, customerId=customer, jobId=job, title=hidden.word("invoice"), lines=[line], dueOn="2099-01-01"
    )
    known = {"invoiceId": hidden.keep(invoice), "deliver": "none", "confirmed": True}
    hidden.words[cast.perform(send_invoice, **known)["number"]] = NOBODY
    payment = everything(
        cast,
        record_payment,
        invoiceId=None,
        customerId=customer,
        amount=paid,
        method="cheque",
        reference=hidden.word("paidfor"),
        note=hidden.word("paidnote"),
        allocations=[{"invoiceId": invoice["id"], "amount": paid}],
        externalRef=hidden.word("paidelsewhere"),
    )
    hidden.keep(payment)
    cast.perform(credit_invoice, **known, amount=credited, reason=hidden.word("credited"))
    (note,) = cast.perform(list_credit_notes, invoiceId=invoice["id"])["data"]
    hidden.words[note["number"]] = NOBODY
    hidden.keep(note)


def _purchases(cast: Cast, hidden: Hidden, work: Work) -> None:
    """Members know what comes for their own job, but no price, no draft and no bill; and nothing of another's."""
    supplier = cast.perform(save_supplier, name="Seen Supplies")["id"]

    def order(job: str, what: str, seen_by: Viewers = NOBODY) -> dict[str, Any]:
        goods = {
            "description": hidden.word(what, seen_by),
            "unitPrice": BOUGHT_AT,
            "taxRateId": None,
        }
        told = {"supplierId": supplier, "jobId": job, "lines": [goods], "notes": hidden.word(f"noteson{what}")}
        made = cast.perform(draft_purchase_order, **told)
        hidden.keep(made, seen_by)
        return made

    own, another_s = order(work.job, "goods", MEMBERS), order(hidden.number, "theirgoods")
    order(work.job, "draftgoods")
    for one in (own, another_s):
        cast.perform(send_purchase_order, purchaseOrderId=one["id"], deliver="none", confirmed=True)
    bill = {"supplierNumber": hidden.word("billnumber"), "on": "2026-02-02", "total": BOUGHT_AT}
    hidden.keep(cast.perform(record_bill, purchaseOrderId=own["id"], notes=hidden.word("onbill"), **bill))


def _of_colleagues(cast: Cast, hidden: Hidden, schedule: Schedule, hours: Hours) -> None:
    """Their colleagues' part in the same job: members see when they are there, and nothing of leave and hours."""
    for role in Role:
        mine: Viewers = frozenset(viewer for viewer in Viewer if viewer.role is role)
        hidden.records[schedule.visits[role]] = mine | TEAM
        hidden.records[schedule.leave[role]] = mine
        hidden.records[hours.drafts[role]] = mine
    hidden.records[hours.submitted] = MEMBERS
    set_columns(cast, "time_entry", hours.submitted, note=hidden.word("submitted", MEMBERS))
