"""Customers, contacts and sites: their output models, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from mainstay.business.records.model import ArchivableStatus
from mainstay.documents.snapshot import Language
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.duplicate_keys import duplicate_keys_of
from mainstay.values.message import Message
from mainstay.values.part_changes import RecordPart
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import (
    IMPORTED_CUSTOMER,
    IMPORTED_EMAIL,
    IMPORTED_PHONE,
    OUTSIDER_TEXT,
    Imported,
    RefersTo,
    imported_reference,
)
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

CustomerKind = Literal["company", "individual"]

_OFFICE_ONLY = RequiresPermission(Permission.ALL_CUSTOMERS_READ)
# For examples.
_EXAMPLE_CUSTOMER = "customer_01KA3R2D4F6H8J0K2N4P6R8T0V"
_EXAMPLE_ADDRESS: dict[str, Any] = {
    "line1": "2 Weir Lane",
    "city": "Sowerby Bridge",
    "postalCode": "HX6 2AG",
    "country": "GB",
}


class Receives(RecordPart):
    """Which documents a contact gets."""

    quotes: bool = Field(default=False, description="Email quotes to them.")
    invoices: bool = Field(default=False, description="Email invoices and reminders to them.")


class CustomerOut(Record):
    """A customer."""

    noun = "customer"
    office_path = "/customers/{id}"
    states = make_states(active="good", archived="over")

    name: str = Field(examples=["Calder Property Services"])
    kind: CustomerKind
    status: ArchivableStatus
    email: str | None
    phone: str | None
    billing_address: Address | None
    tax_number: Annotated[str | None, _OFFICE_ONLY]
    registration_number: Annotated[str | None, _OFFICE_ONLY]
    e_invoice_address: Annotated[EInvoiceAddress | None, _OFFICE_ONLY] = Field(title="E-invoice address")
    reference: Annotated[str | None, _OFFICE_ONLY] = Field(description="Printed on every invoice.")
    payment_terms_days: Annotated[int | None, _OFFICE_ONLY] = Field(
        title="Payment terms (days)", description="Null for the organisation's usual terms."
    )
    language: Language | None = Field(description="For their documents and emails; null for the organisation's.")
    notes: Annotated[str | None, _OFFICE_ONLY, OUTSIDER_TEXT] = Field(
        description="Office only. Hidden from field staff."
    )
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="External ID", description="ID in another system.")
    merged_into_id: Annotated[str | None, _OFFICE_ONLY, RefersTo("customer")] = Field(
        title="Merged into", description="The customer that this one was merged into."
    )


class ContactOut(Record):
    """A contact person of a customer."""

    noun = "contact"
    office_path = "/contacts/{id}"
    states = make_states(active="good", archived="over")

    customer_id: Annotated[str, RefersTo("customer"), IMPORTED_CUSTOMER] = Field(examples=[_EXAMPLE_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: Annotated[str, Imported(("contact", "contact name", "full name"), required=True, identifies=True)] = Field(
        examples=["Ann Boyle"]
    )
    role: Annotated[str | None, Imported(("position", "job title", "title", "function"))] = Field(
        description="Their role, e.g. caretaker."
    )
    email: Annotated[str | None, IMPORTED_EMAIL]
    phone: Annotated[str | None, IMPORTED_PHONE]
    receives: Receives = Field(description="Which documents are emailed to them.")
    status: ArchivableStatus
    external_ref: Annotated[str | None, _OFFICE_ONLY, imported_reference("contact id", "contact reference")] = Field(
        title="External ID"
    )


class SiteOut(Record):
    """A place where work is done."""

    noun = "site"
    office_path = "/sites/{id}"
    states = make_states(active="good", archived="over")

    customer_id: Annotated[str, RefersTo("customer"), IMPORTED_CUSTOMER] = Field(examples=[_EXAMPLE_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: Annotated[str, Imported(("site", "site name", "property"), identifies=True)]
    address: Annotated[Address, Imported(identifies=True)] = Field(examples=[_EXAMPLE_ADDRESS])
    time_zone: str | None = Field(description="IANA name; null for the organisation's.")
    access_notes: Annotated[str | None, Imported(("access notes", "access information", "notes")), OUTSIDER_TEXT] = (
        Field(title="Access", description="How to get in.")
    )
    contact_id: Annotated[str | None, RefersTo("contact")]
    contact_name: str | None = Field(title="Contact")
    contact_phone: str | None = Field(title="Contact phone")
    status: ArchivableStatus
    external_ref: Annotated[str | None, _OFFICE_ONLY, imported_reference("site id", "site no", "site reference")] = (
        Field(title="External ID")
    )


@dataclass(frozen=True, slots=True)
class Customer(StoredRecord):
    """A customer, as seen by the rules."""

    output = CustomerOut

    name: str
    phone: str | None
    email: str | None
    tax_number: str | None
    # As JSON.
    billing_address: str | None
    language: Language | None
    payment_terms_days: int | None
    status: ArchivableStatus
    merged_into_id: str | None
    # Whether they have jobs that are not done, closed or cancelled.
    busy: bool
    # The name of the customer they were merged into.
    survivor: str | None

    @property
    def detail(self) -> str | None:
        """Their phone number or email address."""
        return self.phone or self.email

    @property
    def is_replaced(self) -> bool:
        """Whether they were merged into another customer."""
        return self.merged_into_id is not None

    @property
    def duplicate_keys(self) -> frozenset[str]:
        """The keys that a duplicate of this customer would share. Archived customers have none."""
        if self.status != "active":
            return frozenset()
        address = orjson.loads(self.billing_address) if self.billing_address else None
        return duplicate_keys_of(self.name, self.email, self.phone, self.tax_number, address)

    def not_archivable(self, _by: Actor) -> list[Reason]:
        """Return why they cannot be archived."""
        if self.status == "archived":
            return self.reasons_if_merged() or [Reason(Message("{customer} is already archived.", customer=self.name))]
        if self.busy:
            message = Message("{customer} has unfinished jobs. Finish, close or cancel them first.", customer=self.name)
            return [Reason(message, first="list_jobs")]
        return []

    def not_restorable(self, _by: Actor) -> list[Reason]:
        """Return why they cannot be restored."""
        if self.status != "archived":
            return [Reason(Message("{customer} is not archived.", customer=self.name))]
        return self.reasons_if_merged()

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Return why they can be neither changed nor merged."""
        return self.reasons_if_merged()

    def additions_blocked_by(self) -> list[Reason]:
        """Return why notes and files cannot be added: nobody would look for them at a merged customer."""
        return self.reasons_if_merged()

    def reasons_if_merged(self) -> list[Reason]:
        """Return the reason that they were merged into another customer, if they were."""
        if self.merged_into_id:
            message = Message(
                "{customer} was merged into {other}. Use that customer instead.",
                for_programs=Message("Its id is {id}.", id=self.merged_into_id),
                customer=self.name,
                other=self.survivor or "",
            )
            return [Reason(message, instead="get_customer", unblocking_record_id=self.merged_into_id)]
        return []

    def not_usable(self) -> list[Reason]:
        """Return why there can be no new work for them."""
        message = Message("{customer} is archived. Restore the customer first.", customer=self.name)
        archived = Reason(message, first="restore_customer", unblocking_record_id=self.id)
        return self.reasons_if_merged() or ([archived] if self.status == "archived" else [])


@dataclass(frozen=True, slots=True)
class Contact(StoredRecord):
    """A contact, as seen by the rules."""

    output = ContactOut

    name: str
    customer_id: str
    customer_name: str
    status: ArchivableStatus


@dataclass(frozen=True, slots=True)
class Site(StoredRecord):
    """A site, as seen by the rules."""

    output = SiteOut

    name: str
    customer_id: str
    customer_name: str
    address: str
    time_zone: str | None
    status: ArchivableStatus

    @property
    def parsed_address(self) -> Address:
        """The site's address."""
        return Address.model_validate_json(self.address)

    @property
    def is_named_after_address(self) -> bool:
        """Whether its name is the beginning of its address."""
        return self.name == choose_site_name(None, self.parsed_address)


def choose_site_name(name: str | None, address: Address) -> str:
    """Return a site's name: the given one, or else the beginning of its address."""
    return name or address.line1 or address.city or address.postal_code or address.country or "Site"
