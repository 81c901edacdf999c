"""Who may do what: one enum of rights, one table of roles. Nothing else in the house knows what a role may do."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mainstay.values.words import Word


class Role(Word):
    """What a person is in an organisation; the highest first."""

    OWNER = "owner"
    ADMIN = "admin"
    OFFICE = "office"
    MEMBER = "member"
    SUBCONTRACTOR = "subcontractor"

    def is_above(self, other: "Role") -> bool:
        """Whether this role ranks above another."""
        ranks = list(Role)
        return ranks.index(self) < ranks.index(other)


# The highest are named in the office and by the operator, never by a key or an agent.
AssignableRole = Literal["admin", "office", "member", "subcontractor"]


class Access(Word):
    """What a credential was made for; never more than its person may do."""

    READ = "read"
    WRITE = "write"

    @property
    def words(self) -> str:
        """What people call it."""
        return "Read only" if self is Access.READ else "Read and write"


class Right(Word):
    """What an operation asks for, as `area:verb`. Connecting an app for read or write is a right of its own."""

    ORGANISATION_READ = "organisation:read"
    ORGANISATION_CHANGE = "organisation:change"
    ME_READ = "me:read"
    ME_CHANGE = "me:change"
    PEOPLE_READ = "people:read"
    PEOPLE_CHANGE = "people:change"
    OWNERS_NAME = "owners:name"
    COSTS_READ = "costs:read"
    MESSAGES_READ = "messages:read"
    KEYS_MANAGE = "keys:manage"
    CONNECTIONS_READ = "connections:read"
    CONNECTIONS_WRITE = "connections:write"
    CONNECTIONS_MANAGE = "connections:manage"
    WEBHOOKS_MANAGE = "webhooks:manage"
    EVENTS_READ = "events:read"
    SETTINGS_READ = "settings:read"
    HISTORY_READ = "history:read"
    ALL_HISTORY_READ = "allHistory:read"
    OVERVIEW_READ = "overview:read"
    NOTES_WRITE = "notes:write"
    OFFICE_NOTES_READ = "officeNotes:read"
    DOCUMENTS_READ = "documents:read"
    DOCUMENTS_CHANGE = "documents:change"
    PRICES_READ = "prices:read"
    # What begins with `all` lets one see everyone's, where others see their own.
    CUSTOMERS_READ = "customers:read"
    ALL_CUSTOMERS_READ = "allCustomers:read"
    CUSTOMERS_CHANGE = "customers:change"
    CUSTOMERS_MERGE = "customers:merge"
    SITES_READ = "sites:read"
    JOBS_READ = "jobs:read"
    ALL_JOBS_READ = "allJobs:read"
    JOBS_CHANGE = "jobs:change"
    JOBS_MOVE = "jobs:move"
    SCHEDULE_READ = "schedule:read"
    ALL_SCHEDULE_READ = "allSchedule:read"
    SCHEDULE_CHANGE = "schedule:change"
    VISITS_MOVE = "visits:move"
    LEAVE_READ = "leave:read"
    ALL_LEAVE_READ = "allLeave:read"
    LEAVE_REQUEST = "leave:request"
    LEAVE_DECIDE = "leave:decide"
    HOURS_READ = "hours:read"
    ALL_HOURS_READ = "allHours:read"
    HOURS_LOG = "hours:log"
    HOURS_REVIEW = "hours:review"
    PRICE_LIST_READ = "priceList:read"
    PRICE_LIST_CHANGE = "priceList:change"
    TAXES_CHANGE = "taxes:change"
    PURCHASING_READ = "purchasing:read"
    PURCHASING_CHANGE = "purchasing:change"
    # What whoever works on a job sees and does of what was ordered for it: without prices.
    ORDERS_READ = "orders:read"
    GOODS_RECEIVE = "goods:receive"
    QUOTES_READ = "quotes:read"
    QUOTES_CHANGE = "quotes:change"
    INVOICES_READ = "invoices:read"
    INVOICES_CHANGE = "invoices:change"
    REPORTS_READ = "reports:read"
    # What a customer may who comes by a link; no role has it.
    LINKED_QUOTE_READ = "linkedQuote:read"
    LINKED_QUOTE_ANSWER = "linkedQuote:answer"
    LINKED_INVOICE_READ = "linkedInvoice:read"
    SUBSCRIPTION_CHANGE = "subscription:change"

    @property
    def reads_only(self) -> bool:
        """Whether it lets one see and not change, and so is left to credentials that only read."""
        return self.endswith(":read")


@dataclass(frozen=True, slots=True)
class Needs:
    """Beside a field: whoever lacks the right is shown null there, and may not send it."""

    right: Right


@dataclass(frozen=True, slots=True)
class NeedsFor:
    """Beside a field: whoever lacks the right is shown null there for one of these, and may not ask by them."""

    right: Right
    values: tuple[str, ...]


Rights = frozenset[Right]


def withheld(marks: Iterable[object], rights: Rights) -> tuple[str, ...]:
    """What a field with these marks does not say to those who have these rights, and cannot be asked by."""
    lacking = [mark for mark in marks if isinstance(mark, NeedsFor) and mark.right not in rights]
    return tuple(value for mark in lacking for value in mark.values)


def is_hidden(marks: Iterable[object], rights: Rights) -> bool:
    """Return whether a field with these marks is hidden from those who have these rights."""
    return any(isinstance(mark, Needs) and mark.right not in rights for mark in marks)


HIGHEST, LOWEST = Role.OWNER, Role.SUBCONTRACTOR

# The lowest role that has each right; those above it have it too.
_LOWEST: dict[Right, Role] = {
    # The organisation and oneself
    Right.ORGANISATION_READ: Role.SUBCONTRACTOR,
    Right.ORGANISATION_CHANGE: Role.ADMIN,
    Right.SETTINGS_READ: Role.OFFICE,
    Right.SUBSCRIPTION_CHANGE: Role.OWNER,
    Right.ME_READ: Role.SUBCONTRACTOR,
    Right.ME_CHANGE: Role.SUBCONTRACTOR,
    Right.OVERVIEW_READ: Role.MEMBER,
    # People, and what acts for them
    Right.PEOPLE_READ: Role.MEMBER,
    Right.PEOPLE_CHANGE: Role.ADMIN,
    Right.OWNERS_NAME: Role.OWNER,
    Right.KEYS_MANAGE: Role.ADMIN,
    Right.CONNECTIONS_READ: Role.MEMBER,
    Right.CONNECTIONS_WRITE: Role.OFFICE,
    Right.CONNECTIONS_MANAGE: Role.ADMIN,
    Right.WEBHOOKS_MANAGE: Role.ADMIN,
    # What belongs to any record
    Right.NOTES_WRITE: Role.SUBCONTRACTOR,
    Right.OFFICE_NOTES_READ: Role.OFFICE,
    Right.DOCUMENTS_READ: Role.SUBCONTRACTOR,
    Right.DOCUMENTS_CHANGE: Role.SUBCONTRACTOR,
    Right.MESSAGES_READ: Role.OFFICE,
    Right.HISTORY_READ: Role.OFFICE,
    Right.ALL_HISTORY_READ: Role.ADMIN,
    Right.EVENTS_READ: Role.ADMIN,
    # Money
    Right.COSTS_READ: Role.OFFICE,
    Right.PRICES_READ: Role.OFFICE,
    Right.PRICE_LIST_READ: Role.MEMBER,
    Right.PRICE_LIST_CHANGE: Role.OFFICE,
    Right.TAXES_CHANGE: Role.ADMIN,
    Right.PURCHASING_READ: Role.OFFICE,
    Right.PURCHASING_CHANGE: Role.OFFICE,
    Right.ORDERS_READ: Role.MEMBER,
    Right.GOODS_RECEIVE: Role.MEMBER,
    Right.QUOTES_READ: Role.OFFICE,
    Right.QUOTES_CHANGE: Role.OFFICE,
    Right.INVOICES_READ: Role.OFFICE,
    Right.INVOICES_CHANGE: Role.OFFICE,
    Right.REPORTS_READ: Role.OFFICE,
    # Customers
    Right.SITES_READ: Role.SUBCONTRACTOR,
    Right.CUSTOMERS_READ: Role.MEMBER,
    Right.ALL_CUSTOMERS_READ: Role.OFFICE,
    Right.CUSTOMERS_CHANGE: Role.OFFICE,
    Right.CUSTOMERS_MERGE: Role.ADMIN,
    # Jobs
    Right.JOBS_READ: Role.SUBCONTRACTOR,
    Right.JOBS_MOVE: Role.MEMBER,
    Right.ALL_JOBS_READ: Role.OFFICE,
    Right.JOBS_CHANGE: Role.OFFICE,
    # Schedule
    Right.SCHEDULE_READ: Role.SUBCONTRACTOR,
    Right.VISITS_MOVE: Role.SUBCONTRACTOR,
    Right.ALL_SCHEDULE_READ: Role.OFFICE,
    Right.SCHEDULE_CHANGE: Role.OFFICE,
    Right.LEAVE_READ: Role.MEMBER,
    Right.LEAVE_REQUEST: Role.MEMBER,
    Right.ALL_LEAVE_READ: Role.OFFICE,
    Right.LEAVE_DECIDE: Role.OFFICE,
    # Hours
    Right.HOURS_READ: Role.MEMBER,
    Right.HOURS_LOG: Role.MEMBER,
    Right.ALL_HOURS_READ: Role.OFFICE,
    Right.HOURS_REVIEW: Role.OFFICE,
}
_ALWAYS: dict[Role, Rights] = {
    role: frozenset(right for right, lowest in _LOWEST.items() if not lowest.is_above(role)) for role in Role
}


class Grant(Word):
    """What an organisation's settings let some of its people do besides."""

    MEMBERS_SEE_PRICES = "membersSeePrices"
    MEMBERS_SEE_TEAM_SCHEDULE = "membersSeeTeamSchedule"
    SUBCONTRACTORS_LOG_HOURS = "subcontractorsLogHours"


_GRANTED: dict[Grant, tuple[Role, Rights]] = {
    Grant.MEMBERS_SEE_PRICES: (Role.MEMBER, frozenset({Right.PRICES_READ})),
    Grant.MEMBERS_SEE_TEAM_SCHEDULE: (Role.MEMBER, frozenset({Right.ALL_SCHEDULE_READ})),
    Grant.SUBCONTRACTORS_LOG_HOURS: (Role.SUBCONTRACTOR, frozenset({Right.HOURS_READ, Right.HOURS_LOG})),
}
# What an organisation grants that has not said otherwise, as it is kept.
USUAL_GRANTS = "membersSeeTeamSchedule subcontractorsLogHours"


@cache
def rights_of(role: Role, grants: str) -> Rights:
    """What people of a role may do in an organisation whose settings grant this."""
    granted = [_GRANTED[Grant(name)] for name in grants.split()]
    return _ALWAYS[role].union(*(rights for to, rights in granted if to is role))


RIGHTS: dict[Role, Rights] = {role: rights_of(role, USUAL_GRANTS) for role in Role}


def holds(role: Role, right: Right) -> bool:
    """Whether people of this role always have a right."""
    return right in _ALWAYS[role]


def office_holds(right: Right) -> bool:
    """Whether everyone in the office always has a right."""
    return holds(Role.OFFICE, right)


@cache
def holders(right: Right) -> str:
    """The roles that have a right, as a list in a statement: `('owner', 'admin')`."""
    return "(" + ", ".join(f"'{role}'" for role in Role if holds(role, right)) + ")"
