"""Permissions and roles. Only this module knows what each role may do."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from mainstay.values.choices import TextEnum


class Role(TextEnum):
    """The role of a person in an organisation; the highest first."""

    OWNER = "owner"
    ADMIN = "admin"
    OFFICE = "office"
    MEMBER = "member"
    SUBCONTRACTOR = "subcontractor"

    def is_above(self, other: "Role") -> bool:
        """Return whether this role ranks above another."""
        ranks = list(Role)
        return ranks.index(self) < ranks.index(other)


# Owners are appointed only in the office and by the operator, never by an API key or an agent.
AssignableRole = Literal["admin", "office", "member", "subcontractor"]


class Access(TextEnum):
    """The access of a credential; never more than its person may do."""

    READ = "read"
    WRITE = "write"

    @property
    def label(self) -> str:
        """The label that people read."""
        return "Read only" if self is Access.READ else "Read and write"


class Permission(TextEnum):
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
    # With a permission that begins with `all`, people see everyone's records instead of only their own.
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
    # To see what was ordered for a job, without prices, and to receive it; for people who work on the job.
    ORDERS_READ = "orders:read"
    GOODS_RECEIVE = "goods:receive"
    QUOTES_READ = "quotes:read"
    QUOTES_CHANGE = "quotes:change"
    INVOICES_READ = "invoices:read"
    INVOICES_CHANGE = "invoices:change"
    REPORTS_READ = "reports:read"
    # For customers with a link; no role has these.
    LINKED_QUOTE_READ = "linkedQuote:read"
    LINKED_QUOTE_ANSWER = "linkedQuote:answer"
    LINKED_INVOICE_READ = "linkedInvoice:read"
    SUBSCRIPTION_CHANGE = "subscription:change"

    @property
    def is_read_only(self) -> bool:
        """Whether it allows only reading, and so also works with a read-only credential."""
        return self.endswith(":read")


@dataclass(frozen=True, slots=True)
class RequiresPermission:
    """Annotates a field that needs a permission: without it, the field is null in outputs and refused in inputs."""

    permission: Permission


@dataclass(frozen=True, slots=True)
class RequiresPermissionForValues:
    """Annotates a field that needs a permission for some values: these are null in outputs and refused as filters."""

    permission: Permission
    values: tuple[str, ...]


Permissions = frozenset[Permission]


def find_withheld_values(marks: Iterable[object], permissions: Permissions) -> tuple[str, ...]:
    """Return the values of a field that are withheld from people with these permissions."""
    lacking = [
        mark for mark in marks if isinstance(mark, RequiresPermissionForValues) and mark.permission not in permissions
    ]
    return tuple(value for mark in lacking for value in mark.values)


def is_hidden(marks: Iterable[object], permissions: Permissions) -> bool:
    """Return whether a field with these marks is hidden from people with these permissions."""
    return any(isinstance(mark, RequiresPermission) and mark.permission not in permissions for mark in marks)


HIGHEST_ROLE, LOWEST_ROLE = Role.OWNER, Role.SUBCONTRACTOR

# The lowest role that has each permission; the roles above it have it too.
_LOWEST_ROLE_WITH: dict[Permission, Role] = {
    # The organisation, and the person's own account
    Permission.ORGANISATION_READ: Role.SUBCONTRACTOR,
    Permission.ORGANISATION_CHANGE: Role.ADMIN,
    Permission.SETTINGS_READ: Role.OFFICE,
    Permission.SUBSCRIPTION_CHANGE: Role.OWNER,
    Permission.ME_READ: Role.SUBCONTRACTOR,
    Permission.ME_CHANGE: Role.SUBCONTRACTOR,
    Permission.OVERVIEW_READ: Role.MEMBER,
    # People, their API keys and connected apps
    Permission.PEOPLE_READ: Role.MEMBER,
    Permission.PEOPLE_CHANGE: Role.ADMIN,
    Permission.OWNERS_NAME: Role.OWNER,
    Permission.KEYS_MANAGE: Role.ADMIN,
    Permission.CONNECTIONS_READ: Role.MEMBER,
    Permission.CONNECTIONS_WRITE: Role.OFFICE,
    Permission.CONNECTIONS_MANAGE: Role.ADMIN,
    Permission.WEBHOOKS_MANAGE: Role.ADMIN,
    # Notes, files and history of any record
    Permission.NOTES_WRITE: Role.SUBCONTRACTOR,
    Permission.OFFICE_NOTES_READ: Role.OFFICE,
    Permission.DOCUMENTS_READ: Role.SUBCONTRACTOR,
    Permission.DOCUMENTS_CHANGE: Role.SUBCONTRACTOR,
    Permission.MESSAGES_READ: Role.OFFICE,
    Permission.HISTORY_READ: Role.OFFICE,
    Permission.ALL_HISTORY_READ: Role.ADMIN,
    Permission.EVENTS_READ: Role.ADMIN,
    # Money
    Permission.COSTS_READ: Role.OFFICE,
    Permission.PRICES_READ: Role.OFFICE,
    Permission.PRICE_LIST_READ: Role.MEMBER,
    Permission.PRICE_LIST_CHANGE: Role.OFFICE,
    Permission.TAXES_CHANGE: Role.ADMIN,
    Permission.PURCHASING_READ: Role.OFFICE,
    Permission.PURCHASING_CHANGE: Role.OFFICE,
    Permission.ORDERS_READ: Role.MEMBER,
    Permission.GOODS_RECEIVE: Role.MEMBER,
    Permission.QUOTES_READ: Role.OFFICE,
    Permission.QUOTES_CHANGE: Role.OFFICE,
    Permission.INVOICES_READ: Role.OFFICE,
    Permission.INVOICES_CHANGE: Role.OFFICE,
    Permission.REPORTS_READ: Role.OFFICE,
    # Customers
    Permission.SITES_READ: Role.SUBCONTRACTOR,
    Permission.CUSTOMERS_READ: Role.MEMBER,
    Permission.ALL_CUSTOMERS_READ: Role.OFFICE,
    Permission.CUSTOMERS_CHANGE: Role.OFFICE,
    Permission.CUSTOMERS_MERGE: Role.ADMIN,
    # Jobs
    Permission.JOBS_READ: Role.SUBCONTRACTOR,
    Permission.JOBS_MOVE: Role.MEMBER,
    Permission.ALL_JOBS_READ: Role.OFFICE,
    Permission.JOBS_CHANGE: Role.OFFICE,
    # Schedule
    Permission.SCHEDULE_READ: Role.SUBCONTRACTOR,
    Permission.VISITS_MOVE: Role.SUBCONTRACTOR,
    Permission.ALL_SCHEDULE_READ: Role.OFFICE,
    Permission.SCHEDULE_CHANGE: Role.OFFICE,
    Permission.LEAVE_READ: Role.MEMBER,
    Permission.LEAVE_REQUEST: Role.MEMBER,
    Permission.ALL_LEAVE_READ: Role.OFFICE,
    Permission.LEAVE_DECIDE: Role.OFFICE,
    # Hours
    Permission.HOURS_READ: Role.MEMBER,
    Permission.HOURS_LOG: Role.MEMBER,
    Permission.ALL_HOURS_READ: Role.OFFICE,
    Permission.HOURS_REVIEW: Role.OFFICE,
}
_BASE_PERMISSIONS: dict[Role, Permissions] = {
    role: frozenset(right for right, lowest in _LOWEST_ROLE_WITH.items() if not lowest.is_above(role)) for role in Role
}


class Grant(TextEnum):
    """Additional permissions that an organisation can give to a role in its settings."""

    MEMBERS_SEE_PRICES = "membersSeePrices"
    MEMBERS_SEE_TEAM_SCHEDULE = "membersSeeTeamSchedule"
    SUBCONTRACTORS_LOG_HOURS = "subcontractorsLogHours"


_GRANTED_PERMISSIONS: dict[Grant, tuple[Role, Permissions]] = {
    Grant.MEMBERS_SEE_PRICES: (Role.MEMBER, frozenset({Permission.PRICES_READ})),
    Grant.MEMBERS_SEE_TEAM_SCHEDULE: (Role.MEMBER, frozenset({Permission.ALL_SCHEDULE_READ})),
    Grant.SUBCONTRACTORS_LOG_HOURS: (Role.SUBCONTRACTOR, frozenset({Permission.HOURS_READ, Permission.HOURS_LOG})),
}
# The grants of a new organisation, as they are stored.
DEFAULT_GRANTS = "membersSeeTeamSchedule subcontractorsLogHours"


@cache
def permissions_of(role: Role, grants: str) -> Permissions:
    """Return the permissions of a role in an organisation with these grants."""
    granted = [_GRANTED_PERMISSIONS[Grant(name)] for name in grants.split()]
    return _BASE_PERMISSIONS[role].union(
        *(permissions for granted_role, permissions in granted if granted_role is role)
    )


ROLE_PERMISSIONS: dict[Role, Permissions] = {role: permissions_of(role, DEFAULT_GRANTS) for role in Role}


def has_permission(role: Role, permission: Permission) -> bool:
    """Return whether a role always has a permission."""
    return permission in _BASE_PERMISSIONS[role]


def office_has_permission(permission: Permission) -> bool:
    """Return whether everyone in the office always has a permission."""
    return has_permission(Role.OFFICE, permission)


@cache
def sql_roles_with(permission: Permission) -> str:
    """Return the roles that have a permission as a list for SQL: `('owner', 'admin')`."""
    return "(" + ", ".join(f"'{role}'" for role in Role if has_permission(role, permission)) + ")"
