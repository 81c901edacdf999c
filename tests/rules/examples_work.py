"""Customers, jobs and what stands beside them, and for each of their operations an input that it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.equipment.operations import archive_equipment, save_equipment
from mainstay.business.jobs.operations import create_job
from mainstay.business.records.notes import add_note
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

ExampleInput = dict[str, object]


@dataclass(frozen=True)
class WorkSamples:
    """What there is to work on; members and subcontractors are assigned to the job."""

    customer: str
    other: str
    archived: str
    contact: str
    site: str
    job: str
    note: str
    equipment: str
    old_equipment: str


def make_work_samples(cast: Cast) -> WorkSamples:
    """Make the samples."""
    customer, other, archived = (
        str(cast.perform(create_customer, name=f"{name} Property")["id"]) for name in ("Calder", "Ryburn", "Colne")
    )
    cast.perform(archive_customer, customerId=archived)
    contact = str(cast.perform(save_contact, customerId=customer, name="Ann Boyle", phone="07700 900111")["id"])
    address = {"line1": "2 Weir Lane", "postalCode": "HX6 2AG"}
    site = str(cast.perform(save_site, customerId=customer, address=address, contactId=contact)["id"])
    field = [cast.people[role] for role in (Role.MEMBER, Role.SUBCONTRACTOR)]
    job = cast.perform(create_job, customerId=customer, siteId=site, title="Replace the boiler", assigned=field)
    note = cast.perform(add_note, recordId=job["id"], text="The key is under the mat.")
    equipment, old = (str(cast.perform(save_equipment, siteId=site, name=name)["id"]) for name in ("Boiler", "Pump"))
    cast.perform(archive_equipment, equipmentId=old)
    return WorkSamples(customer, other, archived, contact, site, str(job["id"]), str(note["id"]), equipment, old)


WORK_EXAMPLES: dict[str, Callable[[WorkSamples], ExampleInput]] = {
    "get_settings": lambda _: {},
    "update_settings": lambda _: {"hoursRoundingMinutes": 15},
    "get_overview": lambda _: {},
    "get_news": lambda _: {},
    "list_customers": lambda _: {},
    "get_customer": lambda work: {"customerId": work.customer},
    "create_customer": lambda _: {"name": "Hebden Mill Trust"},
    "update_customer": lambda work: {"customerId": work.customer, "phone": "1"},
    "archive_customer": lambda work: {"customerId": work.other},
    "restore_customer": lambda work: {"customerId": work.archived},
    "merge_customers": lambda work: {
        "customerId": work.customer,
        "intoCustomerId": work.other,
        "confirmed": True,
    },
    "list_duplicate_customers": lambda _: {},
    "list_sites": lambda _: {},
    "get_site": lambda work: {"siteId": work.site},
    "save_site": lambda work: {"siteId": work.site, "accessNotes": "Ring twice."},
    "list_contacts": lambda _: {},
    "get_contact": lambda work: {"contactId": work.contact},
    "save_contact": lambda work: {"contactId": work.contact, "role": "caretaker"},
    "list_equipment": lambda _: {},
    "get_equipment": lambda work: {"equipmentId": work.equipment},
    "save_equipment": lambda work: {"equipmentId": work.equipment, "notes": "In the loft."},
    "archive_equipment": lambda work: {"equipmentId": work.equipment},
    "restore_equipment": lambda work: {"equipmentId": work.old_equipment},
    "list_jobs": lambda _: {},
    "get_job": lambda work: {"jobId": work.job},
    "create_job": lambda work: {"customerId": work.customer, "title": "Mend the leak"},
    "update_job": lambda work: {"jobId": work.job, "priority": "high"},
    "change_job_status": lambda work: {"jobId": work.job, "status": "onHold"},
    "search": lambda _: {"text": "boiler"},
    "list_notes": lambda work: {"recordId": work.job},
    "add_note": lambda work: {"recordId": work.job, "text": "Done by noon."},
    "get_history": lambda work: {"recordId": work.job},
    "list_job_diary": lambda work: {"jobId": work.job},
    "get_visit_versions": lambda _: {"from": "2038-01-11", "until": "2038-01-12"},
    "list_activity": lambda _: {},
}
