"""Who may do what: one enum of rights, one table of roles. Nothing else in the house knows what a role may do."""

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
    SUBSCRIPTION_CHANGE = "subscription:change"

    @property
    def reads_only(self) -> bool:
        """Whether it lets one see and not change, and so is left to credentials that only read."""
        return self.endswith(":read")


@dataclass(frozen=True, slots=True)
class Needs:
    """Beside a field: whoever lacks the right is shown null there, and may not send it."""

    right: Right


Rights = frozenset[Right]

HIGHEST = Role.OWNER

_R = Right
_SUBCONTRACTOR = frozenset(
    {_R.ORGANISATION_READ, _R.ME_READ, _R.ME_CHANGE, _R.SITES_READ, _R.JOBS_READ, _R.SCHEDULE_READ, _R.VISITS_MOVE}
) | {_R.NOTES_WRITE, _R.DOCUMENTS_READ, _R.DOCUMENTS_CHANGE}
_MEMBER = (
    _SUBCONTRACTOR
    | {_R.PEOPLE_READ, _R.CONNECTIONS_READ, _R.OVERVIEW_READ, _R.CUSTOMERS_READ, _R.JOBS_MOVE}
    | {_R.LEAVE_READ, _R.LEAVE_REQUEST, _R.HOURS_READ, _R.HOURS_LOG}
)
_OFFICE = (
    _MEMBER
    | {
        _R.COSTS_READ,
        _R.PRICES_READ,
        _R.MESSAGES_READ,
        _R.CONNECTIONS_WRITE,
        _R.SETTINGS_READ,
        _R.HISTORY_READ,
        _R.OFFICE_NOTES_READ,
    }
    | {_R.ALL_CUSTOMERS_READ, _R.CUSTOMERS_CHANGE, _R.ALL_JOBS_READ, _R.JOBS_CHANGE}
    | {_R.ALL_SCHEDULE_READ, _R.SCHEDULE_CHANGE, _R.ALL_LEAVE_READ, _R.LEAVE_DECIDE}
    | {_R.ALL_HOURS_READ, _R.HOURS_REVIEW}
)
_ADMIN = (
    _OFFICE
    | {_R.ORGANISATION_CHANGE, _R.PEOPLE_CHANGE, _R.KEYS_MANAGE, _R.CONNECTIONS_MANAGE, _R.WEBHOOKS_MANAGE}
    | {_R.EVENTS_READ, _R.CUSTOMERS_MERGE}
)
_ALWAYS: dict[Role, Rights] = {
    Role.OWNER: frozenset(Right),
    Role.ADMIN: _ADMIN,
    Role.OFFICE: _OFFICE,
    Role.MEMBER: _MEMBER,
    Role.SUBCONTRACTOR: _SUBCONTRACTOR,
}


class Grant(Word):
    """What an organisation's settings let some of its people do besides."""

    MEMBERS_SEE_PRICES = "membersSeePrices"
    MEMBERS_SEE_TEAM_SCHEDULE = "membersSeeTeamSchedule"
    SUBCONTRACTORS_LOG_HOURS = "subcontractorsLogHours"


_GRANTED: dict[Grant, tuple[Role, Rights]] = {
    Grant.MEMBERS_SEE_PRICES: (Role.MEMBER, frozenset({_R.PRICES_READ})),
    Grant.MEMBERS_SEE_TEAM_SCHEDULE: (Role.MEMBER, frozenset({_R.ALL_SCHEDULE_READ})),
    Grant.SUBCONTRACTORS_LOG_HOURS: (Role.SUBCONTRACTOR, frozenset({_R.HOURS_READ, _R.HOURS_LOG})),
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
