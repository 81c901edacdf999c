"""Saved views: their output model, and the rules of what can be done with them."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from mainstay.business.records.model import ArchivableStatus
from mainstay.values.descriptions import describe
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.roles import RefersTo
from mainstay.vocabulary.schemas import Record, StoredRecord, make_states

# Who may share views sees those that others share: the office.
SHARING = Permission.ALL_CUSTOMERS_READ


class SavedViewOut(Record):
    """The filters of a list, saved under a name."""

    noun = "savedView"
    states = make_states(active="good", archived="over")

    person_id: Annotated[str, RefersTo("person")] = Field(description="Who saved it.")
    person_name: str = Field(title="Person")
    list_name: str = Field(title="List", description=describe("[[The list: `invoices` for that of `GET /invoices`.]]"))
    name: str
    query: str = Field(title="Filters", description="Filters and order, as in the address of the list's page.")
    shared: bool = Field(description="Whether the office sees it too; otherwise only its person.")
    status: ArchivableStatus


@dataclass(frozen=True, slots=True)
class SavedView(StoredRecord):
    """A saved view, as seen by the rules."""

    output = SavedViewOut

    person_id: str
    person_name: str
    list_name: str
    name: str
    query: str
    shared: bool
    status: ArchivableStatus

    def not_private(self, by: Actor) -> list[Reason]:
        """Return why it cannot be made private: the actor would not see it any more."""
        if self.shared and self.person_id != by.id:
            return [
                Reason(
                    Message(
                        "Only {person} can make this view private. You can delete it instead.", person=self.person_name
                    )
                )
            ]
        return []

    def not_deletable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be deleted."""
        if self.status == "archived":
            return [Reason(Message("{view} was deleted already.", view=self.name))]
        return []

    def not_restorable(self, _by: Actor) -> list[Reason]:
        """Return why it cannot be brought back."""
        if self.status == "active":
            return [Reason(Message("{view} was not deleted.", view=self.name))]
        return []
