"""Customers, contacts and sites: their output models, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from mainstay.business.records.model import ArchivableStatus
from mainstay.documents.snapshot import Language
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.duplicate_keys import duplicate_keys_of
from mainstay.values.part_changes import RecordPart
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Reason
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
    """What a contact is sent."""

    quotes: bool = Field(default=False, description="Whether quotes are mailed to them.")
    invoices: bool = Field(default=False, description="Whether invoices and reminders are mailed to them.")


class CustomerOut(Record):
    """Someone the organisation works for."""

    noun = "customer"
    office_path = "/customers/{id}"
    states = make_states(active="good", archived="over")

    name: str = Field(examples=["Calder Property Services"])
    kind: CustomerKind
    status: ArchivableStatus
    email: str | None = Field(title="E-mail address")
    phone: str | None
    billing_address: Address | None
    tax_number: Annotated[str | None, _OFFICE_ONLY]
    registration_number: Annotated[str | None, _OFFICE_ONLY]
    e_invoice_address: Annotated[EInvoiceAddress | None, _OFFICE_ONLY] = Field(title="E-invoice address")
    reference: Annotated[str | None, _OFFICE_ONLY] = Field(description="What they want to read on every invoice.")
    payment_terms_days: Annotated[int | None, _OFFICE_ONLY] = Field(
        title="Days to pay", description="Null for the organisation's usual terms."
    )
    language: Language | None = Field(description="Of what they are sent; null for the organisation's own.")
    notes: Annotated[str | None, _OFFICE_ONLY] = Field(description="What the office knows of them.")
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(
        title="Reference elsewhere", description="What another system calls them."
    )
    merged_into_id: Annotated[str | None, _OFFICE_ONLY] = Field(
        title="Merged into", description="The customer that took over all that was theirs."
    )


class ContactOut(Record):
    """Someone to speak to at a customer's."""

    noun = "contact"
    office_path = "/contacts/{id}"
    states = make_states(active="good", archived="over")

    customer_id: str = Field(examples=[_EXAMPLE_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: str = Field(examples=["Ann Boyle"])
    role: str | None = Field(description="What they are there, such as caretaker.")
    email: str | None = Field(title="E-mail address")
    phone: str | None
    receives: Receives = Field(description="What is mailed to them.")
    status: ArchivableStatus
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="Reference elsewhere")


class SiteOut(Record):
    """A place where work is done."""

    noun = "site"
    office_path = "/sites/{id}"
    states = make_states(active="good", archived="over")

    customer_id: str = Field(examples=[_EXAMPLE_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: str
    address: Address = Field(examples=[_EXAMPLE_ADDRESS])
    time_zone: str | None = Field(description="IANA name; null for the organisation's own.")
    access_notes: str | None = Field(title="Access", description="How one gets in.")
    contact_id: str | None
    contact_name: str | None = Field(title="Contact")
    contact_phone: str | None = Field(title="Contact's phone")
    status: ArchivableStatus
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="Reference elsewhere")


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
    # Name and id of the customer they were merged into.
    survivor: str | None

    @property
    def display_name(self) -> str:
        """The customer's name."""
        return self.name

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
            return self.reasons_if_merged() or [Reason(f"{self.name} is archived already.")]
        if self.busy:
            text = f"{self.name} has jobs that are not over. Finish, close or cancel them first."
            return [Reason(text, unblocked_by="list_jobs")]
        return []

    def not_restorable(self, _by: Actor) -> list[Reason]:
        """Return why they cannot be restored."""
        return self.reasons_if_merged() if self.status == "archived" else [Reason(f"{self.name} is not archived.")]

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Return why they can be neither changed nor merged."""
        return self.reasons_if_merged()

    def additions_blocked_by(self) -> list[Reason]:
        """Return why notes and files cannot be added: nobody would look for them at a merged customer."""
        return self.reasons_if_merged()

    def reasons_if_merged(self) -> list[Reason]:
        """Return the reason that they were merged into another customer, if they were."""
        if self.merged_into_id:
            text = f"{self.name} was merged into {self.survivor}. Use that customer instead."
            return [Reason(text, "get_customer", unblock_on=self.merged_into_id)]
        return []

    def not_usable(self) -> list[Reason]:
        """Return why there can be no new work for them."""
        archived = Reason(
            f"{self.name} is archived. Restore the customer first.", "restore_customer", unblock_on=self.id
        )
        return self.reasons_if_merged() or ([archived] if self.status == "archived" else [])


@dataclass(frozen=True, slots=True)
class Contact(StoredRecord):
    """A contact, as seen by the rules."""

    output = ContactOut

    name: str
    customer_id: str
    customer_name: str
    status: ArchivableStatus

    @property
    def display_name(self) -> str:
        """The contact's name."""
        return self.name

    @property
    def detail(self) -> str:
        """The name of their customer."""
        return self.customer_name


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
    def display_name(self) -> str:
        """The site's name."""
        return self.name

    @property
    def parsed_address(self) -> Address:
        """The site's address."""
        return Address.model_validate_json(self.address)

    @property
    def is_named_after_address(self) -> bool:
        """Whether its name is the beginning of its address."""
        return self.name == choose_site_name(None, self.parsed_address)

    @property
    def detail(self) -> str:
        """The name of its customer."""
        return self.customer_name


def choose_site_name(name: str | None, address: Address) -> str:
    """Return a site's name: the given one, or else the beginning of its address."""
    return name or address.line1 or address.city or address.postal_code or address.country or "Site"
