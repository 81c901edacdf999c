"""What a member or a subcontractor must never be told, each piece in words of its own that nothing else contains.

Beside the work that is theirs there is a stranger's: a customer with sites, a job, visits, hours, notes, files. And on
their own work there is what only the office knows. Wherever such a word comes up, someone was shown too much.
"""

from typing import Any

from mainstay.business.customers.operations import create_customer, update_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.hours.operations import log_hours
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.crediting import credit_invoice, list_credit_notes
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.operations import create_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.invitations import add_person
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
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from rules.examples_hours import HoursSamples
from rules.examples_schedule import DAY, ScheduleSamples
from rules.examples_work import WorkSamples
from rules.hidden_words import MEMBERS, NOBODY, TEAM, AllowedViewers, HiddenData, RestrictedViewer
from support.attachments import add_file
from support.cast import Cast, open_accounts
from support.webhooks import set_columns

# Words that stand in no page, no document and no other record.
# Of a price, digits that none has by chance; shown without a separator of thousands.
PRICES = {"budget": "617.83", "cost": "618.47", "bill": "619.57"}
OTHER_JOB_BUDGET = "613.19"
# Of an item what it is sold for and what it costs, and of a kit of three of it.
ITEM_PRICES, KIT_PRICES = ("615.31", "614.29"), ("1845.93", "1842.87")
IBAN, BIC = "GB82WEST12345698765432", "WESTGB2L"
# Of an invoice what it comes to, what was paid of it and what was credited.
INVOICE_AMOUNTS = ("616.41", "107.39", "103.27")
# What it costs that is bought for their own job.
PURCHASE_PRICE = "616.17"


def add_hidden_records(cast: Cast, work: WorkSamples, schedule: ScheduleSamples, hours: HoursSamples) -> HiddenData:
    """Add hidden records and details beside work that members and subcontractors see."""
    hidden = HiddenData()
    colleague = _add_colleague(cast, hidden)
    customer = _add_customer(cast, hidden)
    _add_other_job(cast, hidden, customer, colleague)
    _hide_details_of_own_job(cast, hidden, work)
    _hide_colleagues_records(cast, hidden, schedule, hours)
    _add_prices(cast, hidden)
    _add_bank_details(cast, hidden)
    _add_invoice(cast, hidden, work.customer, work.job)
    _add_purchases(cast, hidden, work)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        set_columns(cast, "person", cast.people[role], cost_rate=6_184_700, bill_rate=6_195_700)
        set_columns(cast, "time_entry", hours.drafts[role], cost_rate=6_184_700, bill_rate=6_195_700)
        overlap = {"allowOverlap": True, "overlapReason": hidden.add_word(f"overlap{role}")}
        cast.perform(move_visit, visitId=schedule.visits[role], **overlap)
    prices = [*PRICES.values(), OTHER_JOB_BUDGET, *ITEM_PRICES, *KIT_PRICES, *INVOICE_AMOUNTS, PURCHASE_PRICE]
    hidden.words |= dict.fromkeys(prices, NOBODY)
    return hidden


def perform_with_all_fields(cast: Cast, operation: Operation, **given: object) -> dict[str, Any]:
    """Perform an operation with every field set: a field that is added later must be hidden here too."""
    fields = {field.alias or name for name, field in operation.input.model_fields.items()}
    assert fields - given.keys() <= {"status", "repeat", "endsAt", "visitId", "siteId", "contactId", "on", "timeZone"}
    return cast.perform(operation, **given)


def _add_colleague(cast: Cast, hidden: HiddenData) -> str:
    """Someone who works for the stranger alone; members know their colleagues, but not what they earn."""
    email = f"{hidden.add_word('mail', MEMBERS)}{new_id('x')}@colleague.example".lower()
    open_accounts(cast.performer, email)
    person = cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name=f"Cara {hidden.add_word('colleague', MEMBERS)}",
        email=email,
        role="member",
        password="a password for the cast",
    )
    cast.perform(
        update_person,
        personId=person["id"],
        phone=hidden.add_phone(11, MEMBERS),
        companyName=hidden.add_word("company", MEMBERS),
        costRate=PRICES["cost"],
        billRate=PRICES["bill"],
    )
    return hidden.add_record(person, MEMBERS)


def _make_address(hidden: HiddenData, what: str, seen_by: AllowedViewers = NOBODY) -> dict[str, str]:
    code = hidden.add_word(f"{what}code", seen_by)
    return {"postalCode": code} | {
        name: hidden.add_word(f"{what}{name}", seen_by) for name in ("line1", "line2", "city", "region")
    }


def _add_customer(cast: Cast, hidden: HiddenData) -> str:
    customer = perform_with_all_fields(
        cast,
        create_customer,
        makeSite=True,
        name=f"Mrs {hidden.add_word('customer')}",
        kind="individual",
        email=f"{hidden.add_word('billing').lower()}@stranger.example",
        phone=hidden.add_phone(21),
        billingAddress=_make_address(hidden, "billing") | {"country": "GB"},
        taxNumber=hidden.add_word("tax"),
        registrationNumber=hidden.add_word("register"),
        eInvoiceAddress={"scheme": "0088", "id": hidden.add_word("peppol")},
        reference=hidden.add_word("reference"),
        paymentTermsDays=17,
        language="nl",
        notes=hidden.add_word("knows"),
        externalRef=hidden.add_word("customerelsewhere"),
    )
    return hidden.add_record(customer)


def _add_other_job(cast: Cast, hidden: HiddenData, customer: str, colleague: str) -> None:
    contact = perform_with_all_fields(
        cast,
        save_contact,
        customerId=customer,
        name=hidden.add_word("contact"),
        role=hidden.add_word("caretaker"),
        email=f"{hidden.add_word('met').lower()}@stranger.example",
        phone=hidden.add_phone(31),
        receives={"quotes": True, "invoices": True},
        externalRef=hidden.add_word("contactelsewhere"),
    )
    site = cast.perform(
        save_site,
        customerId=customer,
        name=hidden.add_word("site"),
        address=_make_address(hidden, "site"),
        accessNotes=hidden.add_word("access"),
        contactId=hidden.add_record(contact),
        externalRef=hidden.add_word("siteelsewhere"),
    )
    job = perform_with_all_fields(
        cast,
        create_job,
        customerId=customer,
        siteId=hidden.add_record(site),
        title=hidden.add_word("job"),
        description=hidden.add_word("description"),
        priority="urgent",
        billing="timeAndMaterials",
        customerOrderNumber=hidden.add_word("order"),
        budget=OTHER_JOB_BUDGET,
        dueOn="2026-01-02",
        leadPersonId=colleague,
        assigned=[colleague],
        tags=[hidden.add_word("tag")],
        externalRef=hidden.add_word("jobelsewhere"),
    )
    record_id = hidden.add_record(job)
    # People who see the team's schedule read the numbers of their colleagues' jobs there.
    hidden.number = job["number"]
    hidden.words[hidden.number] = TEAM
    times = {"startsAt": f"{DAY}T10:00", "durationMinutes": 60}
    notes = hidden.add_word("visit")
    hidden.add_record(cast.perform(plan_visit, jobId=record_id, personIds=[colleague], notes=notes, **times), TEAM)
    talk = cast.perform(plan_visit, title=hidden.add_word("talk"), personIds=[colleague], on=DAY)
    hidden.add_record(talk, TEAM)
    # Nobody goes yet, so it is in nobody's day; the team is told that it is there.
    hidden.add_record(cast.perform(plan_visit, jobId=record_id, on=DAY, notes=hidden.add_word("unassigned")), TEAM)
    off = {"personId": colleague, "from": "2038-02-02", "note": hidden.add_word("leave")}
    hidden.add_record(cast.perform(request_time_off, **off))
    logged = {"jobId": record_id, "on": "2026-11-02", "minutes": 77, "personId": colleague}
    hidden.add_record(cast.perform(log_hours, **logged, note=hidden.add_word("hours")))
    for record in (record_id, customer, site["id"]):
        kind = record.partition("_")[0]
        cast.perform(add_note, recordId=record, text=hidden.add_word(f"noteof{kind}"))
        hidden.add_record(add_file(cast, record, name=f"{hidden.add_word(f'fileof{kind}')}.pdf"))


def _hide_details_of_own_job(cast: Cast, hidden: HiddenData, work: WorkSamples) -> None:
    """Hide what only the office knows of their own job and its customer."""
    cast.perform(
        update_customer,
        customerId=work.customer,
        email=f"{hidden.add_word('ownmail', MEMBERS).lower()}@calder.example",
        phone=hidden.add_phone(41, MEMBERS),
        billingAddress=_make_address(hidden, "own", MEMBERS),
        taxNumber=hidden.add_word("owntax"),
        registrationNumber=hidden.add_word("ownregister"),
        eInvoiceAddress={"scheme": "0088", "id": hidden.add_word("ownpeppol")},
        reference=hidden.add_word("ownreference"),
        notes=hidden.add_word("ownknows"),
        externalRef=hidden.add_word("ownelsewhere"),
    )
    order = hidden.add_word("ownorder")
    cast.perform(update_job, jobId=work.job, budget=PRICES["budget"], customerOrderNumber=order)
    cast.perform(add_note, recordId=work.job, text=hidden.add_word("officenote"), visibility="office")
    hidden.add_record(add_file(cast, work.job, name=f"{hidden.add_word('officefile')}.pdf", visibility="office"))
    about = {"customerId": work.customer}
    other = cast.perform(
        save_contact, **about, name=hidden.add_word("accounts", MEMBERS), phone=hidden.add_phone(51, MEMBERS)
    )
    hidden.add_record(other, MEMBERS)
    elsewhere = cast.perform(save_site, **about, address=_make_address(hidden, "else", MEMBERS))
    hidden.add_record(elsewhere, MEMBERS)
    hidden.records |= {work.other: NOBODY, work.archived: NOBODY, work.customer: MEMBERS}
    hidden.ids_shown_anyway.add(work.customer)


def _add_prices(cast: Cast, hidden: HiddenData) -> None:
    """Members know what is on the price list, and neither what it costs nor from whom it comes."""
    supplier = perform_with_all_fields(
        cast,
        save_supplier,
        supplierId=None,
        name=hidden.add_word("supplier"),
        email=f"{hidden.add_word('orders').lower()}@supplier.example",
        phone=hidden.add_phone(61),
        address=_make_address(hidden, "supplier"),
        taxNumber=hidden.add_word("suppliertax"),
        accountNumber=hidden.add_word("ournumber"),
        paymentTermsDays=23,
        language="fr",
        notes=hidden.add_word("suppliernotes"),
        externalRef=hidden.add_word("supplierelsewhere"),
    )
    rate = perform_with_all_fields(
        cast,
        save_tax_rate,
        taxRateId=None,
        name=hidden.add_word("rate", MEMBERS),
        category="standard",
        components=[{"name": hidden.add_word("taxpart"), "percent": "7"}],
        note=hidden.add_word("taxnote"),
        isDefault=False,
    )
    item = perform_with_all_fields(
        cast,
        save_price_item,
        itemId=None,
        code=hidden.add_word("code", MEMBERS).upper(),
        name=hidden.add_word("item", MEMBERS),
        description=hidden.add_word("itemtext", MEMBERS),
        kind="fee",
        unit=hidden.add_word("unit", MEMBERS),
        sellPrice=ITEM_PRICES[0],
        costPrice=ITEM_PRICES[1],
        taxRateId=hidden.add_record(rate, MEMBERS),
        supplierId=hidden.add_record(supplier),
        components=[],
        externalRef=hidden.add_word("itemelsewhere"),
    )
    parts = [{"itemId": hidden.add_record(item, MEMBERS), "quantity": "3"}]
    hidden.add_record(cast.perform(save_price_item, name=hidden.add_word("kit", MEMBERS), components=parts), MEMBERS)


def _add_bank_details(cast: Cast, hidden: HiddenData) -> None:
    """Everyone knows the organisation, and the office alone where it is paid."""
    words = {name: hidden.add_word(f"bank{name}") for name in ("name", "account", "sortCode")}
    hidden.words |= dict.fromkeys((IBAN, BIC), NOBODY)
    cast.perform(update_organisation, bank=words | {"iban": IBAN, "bic": BIC})


def _add_invoice(cast: Cast, hidden: HiddenData, customer: str, job: str) -> None:
    """What their own customer is asked for, has paid and was credited, for the very job they work on."""
    total, paid, credited = INVOICE_AMOUNTS
    line = {"description": "Boiler", "unitPrice": total, "taxRateId": None}
    invoice = cast.perform(
        draft_invoice,
        customerId=customer,
        jobId=job,
        title=hidden.add_word("invoice"),
        lines=[line],
        dueOn="2099-01-01",
    )
    known = {"invoiceId": hidden.add_record(invoice), "deliver": "none", "confirmed": True}
    hidden.words[cast.perform(send_invoice, **known)["number"]] = NOBODY
    payment = perform_with_all_fields(
        cast,
        record_payment,
        invoiceId=None,
        customerId=customer,
        amount=paid,
        method="cheque",
        reference=hidden.add_word("paidfor"),
        note=hidden.add_word("paidnote"),
        allocations=[{"invoiceId": invoice["id"], "amount": paid}],
        externalRef=hidden.add_word("paidelsewhere"),
    )
    hidden.add_record(payment)
    cast.perform(credit_invoice, **known, amount=credited, reason=hidden.add_word("credited"))
    (note,) = cast.perform(list_credit_notes, invoiceId=invoice["id"])["data"]
    hidden.words[note["number"]] = NOBODY
    hidden.add_record(note)


def _add_purchases(cast: Cast, hidden: HiddenData, work: WorkSamples) -> None:
    """Members know what comes for their own job, but no price, no draft and no bill; and nothing of another's."""
    supplier = cast.perform(save_supplier, name="Seen Supplies")["id"]

    def draft_order(job: str, what: str, seen_by: AllowedViewers = NOBODY) -> dict[str, Any]:
        goods = {
            "description": hidden.add_word(what, seen_by),
            "unitPrice": PURCHASE_PRICE,
            "taxRateId": None,
        }
        values = {"supplierId": supplier, "jobId": job, "lines": [goods], "notes": hidden.add_word(f"noteson{what}")}
        order_json = cast.perform(draft_purchase_order, **values)
        hidden.add_record(order_json, seen_by)
        return order_json

    own, another_s = draft_order(work.job, "goods", MEMBERS), draft_order(hidden.number, "theirgoods")
    draft_order(work.job, "draftgoods")
    for one in (own, another_s):
        cast.perform(send_purchase_order, purchaseOrderId=one["id"], deliver="none", confirmed=True)
    bill = {"supplierNumber": hidden.add_word("billnumber"), "on": "2026-02-02", "total": PURCHASE_PRICE}
    hidden.add_record(cast.perform(record_bill, purchaseOrderId=own["id"], notes=hidden.add_word("onbill"), **bill))


def _hide_colleagues_records(cast: Cast, hidden: HiddenData, schedule: ScheduleSamples, hours: HoursSamples) -> None:
    """Their colleagues' part in the same job: members see when they are there, and nothing of leave and hours."""
    for role in Role:
        mine: AllowedViewers = frozenset(viewer for viewer in RestrictedViewer if viewer.role is role)
        hidden.records[schedule.visits[role]] = mine | TEAM
        hidden.records[schedule.leave[role]] = mine
        hidden.records[hours.drafts[role]] = mine
    hidden.records[hours.submitted] = MEMBERS
    set_columns(cast, "time_entry", hours.submitted, note=hidden.add_word("submitted", MEMBERS))
