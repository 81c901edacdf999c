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
    KEYS_MANAGE = "keys:manage"
    CONNECTIONS_READ = "connections:read"
    CONNECTIONS_WRITE = "connections:write"
    CONNECTIONS_MANAGE = "connections:manage"
    WEBHOOKS_MANAGE = "webhooks:manage"
    EVENTS_READ = "events:read"
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

_SUBCONTRACTOR = frozenset({Right.ORGANISATION_READ, Right.ME_READ, Right.ME_CHANGE})
_MEMBER = _SUBCONTRACTOR | {Right.PEOPLE_READ, Right.CONNECTIONS_READ}
_OFFICE = _MEMBER | {Right.COSTS_READ, Right.CONNECTIONS_WRITE}
_ADMIN = _OFFICE | {Right.ORGANISATION_CHANGE, Right.PEOPLE_CHANGE, Right.KEYS_MANAGE, Right.CONNECTIONS_MANAGE}
_ADMIN |= {Right.WEBHOOKS_MANAGE, Right.EVENTS_READ}

RIGHTS: dict[Role, Rights] = {
    Role.OWNER: frozenset(Right),
    Role.ADMIN: _ADMIN,
    Role.OFFICE: _OFFICE,
    Role.MEMBER: _MEMBER,
    Role.SUBCONTRACTOR: _SUBCONTRACTOR,
}


def holds(role: Role, right: Right) -> bool:
    """Whether people of this role have a right."""
    return right in RIGHTS[role]


@cache
def holders(right: Right) -> str:
    """The roles that have a right, as a list in a statement: `('owner', 'admin')`."""
    return "(" + ", ".join(f"'{role}'" for role in Role if holds(role, right)) + ")"
