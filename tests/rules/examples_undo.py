"""More changes to undo than the one example of each operation: all fields, lines, crews, kits and what follows."""

from collections.abc import Callable
from typing import Any

from mainstay.business.customers.operations import update_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.hours.operations import log_hours, update_hours
from mainstay.business.hours.timers import stop_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.invoices.drafting.operations import get_invoice, update_invoice
from mainstay.business.invoices.payments.recording import allocate_payment
from mainstay.business.jobs.operations import change_job_status, create_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import update_person
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.purchasing.bills import get_bill, update_bill
from mainstay.business.purchasing.operations import get_purchase_order, update_purchase_order
from mainstay.business.quotes.operations import get_quote, update_quote
from mainstay.business.schedule.operations import cancel_visit, move_visit, plan_visit
from mainstay.business.schedule.planning import plan_schedule
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from rules.examples import SampleRecords
from rules.examples_schedule import DAY

Given = dict[str, object]
# Performs an operation, and returns its answer.
Do = Callable[..., dict[str, Any]]
# Makes what is needed first, and returns the change to undo.
Variant = Callable[[Do, SampleRecords], tuple[Operation, Given]]


def change_every_line_of_a_quote(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    quote = samples.quotes.draft
    more = [
        {"edit": "add", "kind": "heading", "description": "Boiler"},
        {"edit": "add", "itemId": samples.prices.item, "quantity": "2", "optional": True},
        {"edit": "add", "description": "Pipe", "unitPrice": "3", "unit": "m", "discountPercent": "5"},
        {"edit": "add", "kind": "text", "description": "Two years of warranty."},
    ]
    do(update_quote, quoteId=quote, edits=more, discount={"percent": "5"}, deposit={"amount": "50"}, terms="Net")
    lines = [line["id"] for line in do(get_quote, quoteId=quote)["lines"]]
    edits = [
        {"edit": "remove", "lineId": lines[1]},
        {"edit": "remove", "lineId": lines[2]},
        {"edit": "move", "lineId": lines[4], "position": 1},
        {"edit": "set", "lineId": lines[3], "quantity": "7", "unitPrice": "4", "taxRateId": None},
        {"edit": "set", "lineId": lines[0], "itemId": samples.prices.item, "description": "Another"},
        {"edit": "add", "description": "Sundries", "unitPrice": "1"},
    ]
    return update_quote, {
        "quoteId": quote,
        "edits": edits,
        "title": "Other",
        "discount": {"amount": "10"},
        "deposit": None,
        "terms": None,
        "validUntil": "2038-01-01",
        "siteId": samples.work_samples.site,
        "jobId": samples.work_samples.job,
    }


def change_lines_and_delivery_of_an_order(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    order = samples.purchases.draft
    do(update_purchase_order, purchaseOrderId=order, edits=[{"edit": "add", "itemId": samples.prices.item}])
    lines = [line["id"] for line in do(get_purchase_order, purchaseOrderId=order)["lines"]]
    edits = [{"edit": "remove", "lineId": lines[0]}, {"edit": "set", "lineId": lines[1], "quantity": "3"}]
    given: Given = {"deliverTo": "pickup", "neededOn": "2038-02-01", "notes": "Ring first."}
    return update_purchase_order, {"purchaseOrderId": order, "edits": edits, **given}


def change_the_job_of_an_order(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return update_purchase_order, {"purchaseOrderId": samples.purchases.draft, "jobId": None}


def change_lines_of_a_bill(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    bill = samples.purchases.bill
    line = do(get_bill, billId=bill)["lines"][0]["id"]
    edits = [
        {"edit": "add", "description": "Flux", "quantity": "1", "unitPrice": "6", "taxRateId": None},
        {"edit": "remove", "lineId": line},
    ]
    given: Given = {"supplierNumber": "4713", "on": "2026-02-03", "dueOn": "2026-03-03", "notes": "Late"}
    return update_bill, {"billId": bill, "edits": edits, "total": "6", **given}


def mark_a_bill_as_paid(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    do(update_bill, billId=samples.purchases.bill, status="approved")
    return update_bill, {"billId": samples.purchases.bill, "status": "paid", "paidOn": "2026-02-05"}


def change_lines_of_an_invoice(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    invoice = samples.invoices.draft
    lines = [line["id"] for line in do(get_invoice, invoiceId=invoice)["lines"] if not line["source"]]
    edits = [{"edit": "remove", "lineId": lines[0]}, {"edit": "add", "itemId": samples.prices.item}]
    given: Given = {"title": "Other", "discount": {"percent": "10"}, "dueOn": "2038-02-01", "notes": None}
    return update_invoice, {"invoiceId": invoice, "edits": edits, **given}


def bill_more_hours(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return update_invoice, {"invoiceId": samples.invoices.draft, "sources": [samples.invoices.unbilled]}


def change_when_it_was_supplied(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {"suppliedFrom": "2026-01-05", "suppliedUntil": "2026-01-09"}
    return update_invoice, {"invoiceId": samples.invoices.draft, **given}


def allocate_to_others(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    payment = samples.invoices.on_account
    do(allocate_payment, paymentId=payment, allocations=[{"invoiceId": samples.invoices.sent, "amount": "30"}])
    wanted = {samples.invoices.sent: "5", samples.invoices.part_paid: "20"}
    allocations = [{"invoiceId": invoice, "amount": amount} for invoice, amount in wanted.items()]
    return allocate_payment, {"paymentId": payment, "allocations": allocations}


def change_every_field_of_a_customer(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    customer = samples.work_samples.other
    address = {"line1": "1 Mill Lane", "city": "Halifax"}
    do(update_customer, customerId=customer, billingAddress=address, reference="A", externalRef="7", notes="Nice")
    given: Given = {
        "name": "Ryburn Lettings",
        "kind": "individual",
        "email": "a@b.example",
        "taxNumber": "GB1",
    }
    given |= {"reference": None, "externalRef": "8", "paymentTermsDays": 7, "language": "de", "notes": None}
    address = {"line1": "2 Mill Lane", "line2": "Flat 2", "postalCode": "HX1 1AA", "country": "GB"}
    return update_customer, {"customerId": customer, "billingAddress": address, **given}


def take_away_an_address(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    do(update_customer, customerId=samples.work_samples.other, billingAddress={"line1": "1 Mill Lane"})
    return update_customer, {"customerId": samples.work_samples.other, "billingAddress": None}


def add_an_address(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return update_customer, {"customerId": samples.work_samples.other, "billingAddress": {"line1": "1 Mill Lane"}}


def change_every_field_of_a_site(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {"name": "Weir", "timeZone": "Europe/Berlin", "accessNotes": "Ring", "contactId": None}
    address = {"line1": "3 Weir Lane", "city": "Halifax"}
    return save_site, {"siteId": samples.work_samples.site, "address": address, "externalRef": "9", **given}


def add_a_site(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return save_site, {"customerId": samples.work_samples.customer, "address": {"line1": "3 Weir Lane"}}


def archive_a_contact(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return save_contact, {"contactId": samples.work_samples.contact, "status": "archived"}


def change_every_field_of_a_job(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    job = samples.work_samples.job
    do(update_job, jobId=job, tags=["boiler"], budget="1200", dueOn="2038-01-01")
    people = samples.cast.people
    given: Given = {
        "title": "Other",
        "siteId": None,
        "description": "All of it",
        "priority": "high",
        "billing": "fixed",
    }
    given |= {"customerOrderNumber": "4711", "budget": "900.50", "dueOn": None, "leadPersonId": people[Role.MEMBER]}
    return update_job, {"jobId": job, "assigned": [people[Role.OFFICE]], "tags": [], "externalRef": "5", **given}


def start_an_enquiry_by_hours(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    job = do(create_job, customerId=samples.work_samples.customer, title="Gutter", status="enquiry")["id"]
    return log_hours, {"jobId": job, "on": samples.hours.today, "minutes": 5}


def start_a_job_by_its_visit(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    job = do(create_job, customerId=samples.work_samples.customer, title="Gutter")["id"]
    visit = do(plan_visit, jobId=job, personIds=[samples.cast.people[Role.OWNER]], on=DAY)["id"]
    return set_visit_status, {"visitId": visit, "status": "done"}


def plan_a_visit(do: Do, samples: SampleRecords) -> str:
    job = do(create_job, customerId=samples.work_samples.customer, title="Gutter")["id"]
    return str(do(plan_visit, jobId=job, personIds=[samples.cast.people[Role.OWNER]], on=DAY)["id"])


def finish_a_visit(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    visit = plan_a_visit(do, samples)
    do(set_visit_status, visitId=visit, status="started", startedAt="2026-02-02T08:00")
    return set_visit_status, {"visitId": visit, "status": "done", "startedAt": "2026-02-02T07:00"}


def reopen_a_visit(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    visit = plan_a_visit(do, samples)
    times = {"startedAt": "2026-02-02T08:00", "endedAt": "2026-02-02T09:30"}
    do(set_visit_status, visitId=visit, status="done", **times)
    return set_visit_status, {"visitId": visit, "status": "planned"}


def reopen_a_visit_that_took_no_time(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    visit = plan_a_visit(do, samples)
    do(set_visit_status, visitId=visit, status="done")
    return set_visit_status, {"visitId": visit, "status": "started"}


def start_a_visit_with_the_timer(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    do(stop_timer)
    visit = do(plan_visit, jobId=samples.hours.job, personIds=[samples.cast.people[Role.OWNER]], on=DAY)["id"]
    return set_visit_status, {"visitId": visit, "status": "started", "timer": True}


def close_a_job(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {"title": "Gutter", "billing": "nonBillable"}
    job = do(create_job, customerId=samples.work_samples.customer, **given)["id"]
    do(change_job_status, jobId=job, status="done")
    return change_job_status, {"jobId": job, "status": "closed"}


def change_the_job_of_hours(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    job = do(create_job, customerId=samples.work_samples.customer, title="Gutter", billing="fixed")["id"]
    return update_hours, {"timeEntryId": samples.hours.drafts[Role.OWNER], "jobId": job}


def give_hours_their_times(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    times = {"startedAt": "2026-02-02T08:00", "endedAt": "2026-02-02T10:00", "breakMinutes": 15}
    return update_hours, {"timeEntryId": samples.hours.drafts[Role.OWNER], "note": "Flushed", **times}


def take_their_times_from_hours(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    times = {"startedAt": "2026-02-02T08:00", "endedAt": "2026-02-02T10:00", "breakMinutes": 15}
    do(update_hours, timeEntryId=samples.hours.drafts[Role.OWNER], **times)
    given: Given = {
        "startedAt": None,
        "endedAt": None,
        "breakMinutes": 0,
        "on": "2026-02-03",
        "minutes": 20,
    }
    return update_hours, {"timeEntryId": samples.hours.drafts[Role.OWNER], **given}


def move_a_visit_to_a_date(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    visit = samples.schedule.visits[Role.OWNER]
    return move_visit, {"visitId": visit, "on": "2038-02-02", "personId": None, "kind": "assessment", "notes": None}


def move_a_whole_series(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    people = [samples.cast.people[role] for role in (Role.OFFICE, Role.ADMIN)]
    times = {"startsAt": "2038-02-01T08:00", "durationMinutes": 60, "repeat": {"every": 1, "unit": "day", "count": 3}}
    visit = do(plan_visit, title="Stock", personIds=people, **times)["id"]
    return move_visit, {"visitId": visit, "startsAt": "2038-02-02T08:00", "scope": "all"}


def cancel_a_whole_series(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    times = {"startsAt": "2038-02-01T08:00", "durationMinutes": 60, "repeat": {"every": 1, "unit": "day", "count": 3}}
    visit = do(plan_visit, title="Stock", personIds=[samples.cast.people[Role.OFFICE]], **times)["id"]
    return cancel_visit, {"visitId": visit, "scope": "all"}


def book_twice(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {"startsAt": f"{DAY}T10:30", "allowOverlap": True, "overlapReason": "Both are near."}
    return move_visit, {"visitId": samples.schedule.visits[Role.OWNER], **given}


def swap_two_visits(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    visits, people = samples.schedule.visits, samples.cast.people
    swap = [
        {"change": "move", "visitId": visits[Role.OWNER], "personId": people[Role.ADMIN]},
        {"change": "move", "visitId": visits[Role.ADMIN], "personId": people[Role.OWNER]},
        {"change": "cancel", "visitId": visits[Role.MEMBER]},
        {"change": "plan", "title": "Stock", "on": DAY},
    ]
    return plan_schedule, {"changes": swap, "confirmed": True}


def change_the_parts_of_a_kit(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    parts = [{"itemId": samples.prices.item, "quantity": "3"}]
    return save_price_item, {"itemId": samples.prices.kit, "components": parts, "sellPrice": "2000"}


def make_a_kit_an_item(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return save_price_item, {"itemId": samples.prices.kit, "components": [], "sellPrice": "2000", "costPrice": "1"}


def make_another_rate_the_default(do: Do, _samples: SampleRecords) -> tuple[Operation, Given]:
    zero = do(save_tax_rate, name="Zero", category="zero", components=[{"name": "VAT", "percent": "0"}])["id"]
    return save_tax_rate, {"taxRateId": zero, "note": "Zero rate", "isDefault": True}


def add_a_default_rate(_do: Do, _samples: SampleRecords) -> tuple[Operation, Given]:
    return save_tax_rate, {"name": "VAT 21%", "components": [{"name": "VAT", "percent": "21"}], "isDefault": True}


def add_the_first_default_rate(do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    do(save_tax_rate, taxRateId=samples.prices.tax, isDefault=False)
    return add_a_default_rate(do, samples)


def have_no_default_rate(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    return save_tax_rate, {"taxRateId": samples.prices.tax, "isDefault": False}


def change_every_field_of_a_person(_do: Do, samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {
        "name": "Mia",
        "email": "mia@new.example",
        "skills": ["gas"],
        "companyName": "Mia Ltd",
        "costRate": "32.50",
    }
    hours = {"monday": [{"from": "08:00", "until": "16:00"}]}
    return update_person, {
        "personId": samples.cast.people[Role.MEMBER],
        "workingHours": hours,
        "billRate": "85",
        **given,
    }


def change_many_settings(_do: Do, _samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {"membersSeePrices": True, "subcontractorsLogHours": False, "materialsMarkupPercent": 25}
    given |= {"quoteTerms": "Net", "paymentTermsDays": 30, "booksClosedUntil": "2020-12-31", "language": "de"}
    return update_settings, {"workingHours": {"monday": [{"from": "09:00", "until": "12:00"}]}, **given}


def change_the_numbers_of_jobs(_do: Do, _samples: SampleRecords) -> tuple[Operation, Given]:
    return update_settings, {"jobNumbers": {"prefix": "JOB-", "next": 4711}}


def change_organisation_and_settings(_do: Do, _samples: SampleRecords) -> tuple[Operation, Given]:
    given: Given = {
        "name": "Other",
        "legalName": "Other Ltd",
        "address": {"line1": "1 Mill Lane"},
        "email": "a@b.example",
    }
    return update_organisation, {"hoursRoundingMinutes": 15, "invoiceNotes": "Thanks", **given}


VARIANTS: tuple[Variant, ...] = (
    change_every_line_of_a_quote,
    change_lines_and_delivery_of_an_order,
    change_the_job_of_an_order,
    change_lines_of_a_bill,
    mark_a_bill_as_paid,
    change_lines_of_an_invoice,
    bill_more_hours,
    change_when_it_was_supplied,
    allocate_to_others,
    change_every_field_of_a_customer,
    take_away_an_address,
    add_an_address,
    change_every_field_of_a_site,
    add_a_site,
    archive_a_contact,
    change_every_field_of_a_job,
    start_an_enquiry_by_hours,
    start_a_job_by_its_visit,
    finish_a_visit,
    reopen_a_visit,
    reopen_a_visit_that_took_no_time,
    start_a_visit_with_the_timer,
    close_a_job,
    change_the_job_of_hours,
    give_hours_their_times,
    take_their_times_from_hours,
    move_a_visit_to_a_date,
    move_a_whole_series,
    cancel_a_whole_series,
    book_twice,
    swap_two_visits,
    change_the_parts_of_a_kit,
    make_a_kit_an_item,
    make_another_rate_the_default,
    add_a_default_rate,
    add_the_first_default_rate,
    have_no_default_rate,
    change_every_field_of_a_person,
    change_many_settings,
    change_the_numbers_of_jobs,
    change_organisation_and_settings,
)
