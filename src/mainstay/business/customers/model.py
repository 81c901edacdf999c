"""Customers, contacts and sites, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from mainstay.business.organisation.model import Language
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Reason
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Record, states
from mainstay.values.address import Address, EInvoiceAddress
from mainstay.values.alike import keys_of
from mainstay.values.parts import Part

Kind = Literal["company", "individual"]
Status = Literal["active", "archived"]

_OFFICE_ONLY = Needs(Right.ALL_CUSTOMERS_READ)
# For examples.
_CUSTOMER = "customer_01KA3R2D4F6H8J0K2N4P6R8T0V"
_ADDRESS: dict[str, Any] = {"line1": "2 Weir Lane", "city": "Sowerby Bridge", "postalCode": "HX6 2AG", "country": "GB"}


class Receives(Part):
    """What a contact is sent."""

    quotes: bool = Field(default=False, description="Whether quotes are mailed to them.")
    invoices: bool = Field(default=False, description="Whether invoices and reminders are mailed to them.")


class CustomerOut(Record):
    """Someone the organisation works for."""

    noun = "customer"
    place = "/customers/{id}"
    states = states(active="good", archived="over")

    name: str = Field(examples=["Calder Property Services"])
    kind: Kind
    status: Status
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
    place = "/contacts/{id}"
    states = states(active="good", archived="over")

    customer_id: str = Field(examples=[_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: str = Field(examples=["Ann Boyle"])
    role: str | None = Field(description="What they are there, such as caretaker.")
    email: str | None = Field(title="E-mail address")
    phone: str | None
    receives: Receives = Field(description="What is mailed to them.")
    status: Status
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="Reference elsewhere")


class SiteOut(Record):
    """A place where work is done."""

    noun = "site"
    place = "/sites/{id}"
    states = states(active="good", archived="over")

    customer_id: str = Field(examples=[_CUSTOMER])
    customer_name: str = Field(title="Customer")
    name: str
    address: Address = Field(examples=[_ADDRESS])
    time_zone: str | None = Field(description="IANA name; null for the organisation's own.")
    access_notes: str | None = Field(title="Access", description="How one gets in.")
    contact_id: str | None
    contact_name: str | None = Field(title="Contact")
    contact_phone: str | None = Field(title="Contact's phone")
    status: Status
    external_ref: Annotated[str | None, _OFFICE_ONLY] = Field(title="Reference elsewhere")


@dataclass(frozen=True, slots=True)
class Customer(Kept):
    """A customer as the rules see them."""

    shown = CustomerOut

    name: str
    phone: str | None
    email: str | None
    tax_number: str | None
    # As JSON.
    billing_address: str | None
    language: Language | None
    payment_terms_days: int | None
    status: Status
    merged_into_id: str | None
    # Whether there is work for them that is not over.
    busy: bool
    # Name and id of the customer who has all that was theirs.
    survivor: str | None

    @property
    def called(self) -> str:
        """Their name."""
        return self.name

    @property
    def detail(self) -> str | None:
        """How to reach them."""
        return self.phone or self.email

    @property
    def is_replaced(self) -> bool:
        """Whether they were merged into another customer."""
        return self.merged_into_id is not None

    @property
    def duplicate_keys(self) -> frozenset[str]:
        """What another customer who may be the same would have in common; of one who is archived, nothing."""
        if self.status != "active":
            return frozenset()
        address = orjson.loads(self.billing_address) if self.billing_address else None
        return keys_of(self.name, self.email, self.phone, self.tax_number, address)

    def not_archivable(self, _by: Actor) -> list[Reason]:
        """Why they cannot be put away."""
        if self.status == "archived":
            return self.if_merged() or [Reason(f"{self.name} is archived already.")]
        if self.busy:
            text = f"{self.name} has jobs that are not over. Finish, close or cancel them first."
            return [Reason(text, unblock="list_jobs")]
        return []

    def not_restorable(self, _by: Actor) -> list[Reason]:
        """Why they need not, or cannot, be brought back."""
        return self.if_merged() if self.status == "archived" else [Reason(f"{self.name} is not archived.")]

    def not_changeable(self, _by: Actor) -> list[Reason]:
        """Why nothing of them changes, and they are merged into no other customer."""
        return self.if_merged()

    def not_added_to(self) -> list[Reason]:
        """Why nothing is put beside them any more: nobody would look for it there."""
        return self.if_merged()

    def if_merged(self) -> list[Reason]:
        """Why one turns to another customer instead."""
        if self.merged_into_id:
            text = f"{self.name} was merged into {self.survivor}. Use that customer instead."
            return [Reason(text, "get_customer", at=self.merged_into_id)]
        return []

    def not_usable(self) -> list[Reason]:
        """Why there is no new work for them."""
        archived = Reason(f"{self.name} is archived. Restore the customer first.", "restore_customer", at=self.id)
        return self.if_merged() or ([archived] if self.status == "archived" else [])


@dataclass(frozen=True, slots=True)
class Contact(Kept):
    """A contact as the rules see them."""

    shown = ContactOut

    name: str
    customer_id: str
    customer_name: str
    status: Status

    @property
    def called(self) -> str:
        """Their name."""
        return self.name

    @property
    def detail(self) -> str:
        """Whose contact they are."""
        return self.customer_name


@dataclass(frozen=True, slots=True)
class Site(Kept):
    """A site as the rules see it."""

    shown = SiteOut

    name: str
    customer_id: str
    customer_name: str
    address: str
    time_zone: str | None
    status: Status

    @property
    def called(self) -> str:
        """Its name."""
        return self.name

    @property
    def place(self) -> Address:
        """Where it is."""
        return Address.model_validate_json(self.address)

    @property
    def is_called_by_its_address(self) -> bool:
        """Whether nobody gave it a name."""
        return self.name == site_name(None, self.place)

    @property
    def detail(self) -> str:
        """Whose site it is."""
        return self.customer_name


def site_name(name: str | None, address: Address) -> str:
    """What people call a site: its name or, where it has none, the beginning of its address."""
    return name or address.line1 or address.city or address.postal_code or address.country or "Site"
