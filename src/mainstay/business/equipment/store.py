"""Storage of equipment."""

from mainstay.business.customers.store import IS_MINE, make_visibility
from mainstay.business.equipment.model import Equipment
from mainstay.kernel.kind import Kind
from mainstay.values.search_words import combine_words, words_of_text
from mainstay.vocabulary.list_queries import SearchFields

_SELECT_FROM_SITE = (
    "(SELECT {} FROM site JOIN customer ON customer.organisation_id = :organisation AND customer.id = site.customer_id"
    " WHERE site.organisation_id = :organisation AND site.id = equipment.site_id)"
)
# People see the equipment of the sites that they see: those of customers they work for, or only of their own jobs.
_AT_CUSTOMERS = (
    "SELECT known.id FROM own_customer AS mine"
    " JOIN site AS place ON place.organisation_id = mine.organisation_id AND place.customer_id = mine.id"
    " JOIN equipment AS known ON known.organisation_id = place.organisation_id AND known.site_id = place.id"
    f" WHERE {IS_MINE}"
)
_IS_AT_CUSTOMER = (
    "EXISTS (SELECT 1 FROM site AS place JOIN own_customer AS mine ON mine.id = place.customer_id"
    f" WHERE place.organisation_id = :organisation AND place.id = equipment.site_id AND {IS_MINE})"
)
_AT_JOBS = (
    "SELECT known.id FROM own_job AS mine JOIN equipment AS known ON known.organisation_id = mine.organisation_id"
    f" AND known.site_id = mine.site_id WHERE {IS_MINE} AND mine.site_id IS NOT NULL"
)
_IS_AT_JOB = f"EXISTS (SELECT 1 FROM own_job AS mine WHERE {IS_MINE} AND mine.site_id = equipment.site_id)"


def _words_of_equipment(name: str, make: str | None, model: str | None, serial_number: str | None) -> frozenset[str]:
    # A serial number is also found without its separators.
    joined = (serial_number or "").replace("-", "").replace(" ", "")
    return combine_words(words_of_text(f"{name} {make or ''} {model or ''} {serial_number or ''} {joined}"))


EQUIPMENT = Kind(
    Equipment,
    source="equipment",
    plural="equipment",
    area="Customers",
    columns={
        "customer_id": _SELECT_FROM_SITE.format("customer.id"),
        "customer_name": _SELECT_FROM_SITE.format("customer.name"),
        "site_name": _SELECT_FROM_SITE.format("site.name"),
    },
    visibility=make_visibility((_AT_CUSTOMERS, _IS_AT_CUSTOMER), (_AT_JOBS, _IS_AT_JOB)),
    equal_filters=("site_id", "status"),
    default_conditions={"status": "equipment.status = 'active'"},
    search_fields=(SearchFields(("name", "make", "model", "serial_number"), _words_of_equipment),),
)
