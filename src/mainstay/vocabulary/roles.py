"""Roles of fields: said on the field of an output model, and read wherever its kind of record is used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from mainstay.vocabulary.schemas import Output


@dataclass(frozen=True, slots=True)
class RefersTo:
    """Annotates the id of another record: the prefix of the ids of such records."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Imported:
    """Annotates a field that can be imported from a file: other headings for its column, folded."""

    headings: tuple[str, ...] = ()
    # The label of the column, if it is not that of the field.
    label: str = ""
    required: bool = False
    # Whether it tells records apart that have no reference of another system.
    identifies: bool = False


@dataclass(frozen=True, slots=True)
class OutsiderText:
    """Annotates a field whose text is written by outsiders, such as customers, or may come from a file of theirs."""


Mark = TypeVar("Mark", RefersTo, Imported)


def find_marks(output: type[Output], mark: type[Mark]) -> Mapping[str, Mark]:
    """Return the fields of a model that have such a role."""
    return {name: one for name, field in output.model_fields.items() for one in field.metadata if isinstance(one, mark)}


# The same for every field.
OUTSIDER_TEXT = OutsiderText()

_CUSTOMER_HEADINGS = ("customer name", "client", "client name", "account name", "customer reference", "customer id")
IMPORTED_CUSTOMER = Imported(_CUSTOMER_HEADINGS, required=True, identifies=True)
IMPORTED_EMAIL = Imported(("e mail", "mail", "email address", "e mail address", "primary email", "contact email"))
IMPORTED_PHONE = Imported(
    ("telephone", "phone number", "tel", "mobile", "mobile number", "mobile phone", "cell phone", "contact number")
)
IMPORTED_TERMS = Imported(("payment terms", "terms", "payment days", "days to pay"))
IMPORTED_TAX_NUMBER = Imported(("tax number", "vat number", "vat", "vat no", "tax id", "vat id"))
IMPORTED_NOTES = Imported(("note", "comment", "comments", "remarks"))


def imported_reference(*headings: str) -> Imported:
    """Return the role of a field with the reference of another system."""
    common = ("reference", "ref", "id", "external ref", "external reference", "reference elsewhere")
    return Imported((*common, *headings))
