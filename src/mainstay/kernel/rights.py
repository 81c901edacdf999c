"""Who may do what: one enum of rights, one table of roles."""

from mainstay.values.words import Word


class Role(Word):
    """What a person is in an organisation."""

    OWNER = "owner"
    ADMIN = "admin"
    OFFICE = "office"
    MEMBER = "member"
    SUBCONTRACTOR = "subcontractor"


class Access(Word):
    """What a credential was made for; never more than its person may do."""

    READ = "read"
    WRITE = "write"


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


_SUBCONTRACTOR = frozenset({Right.ORGANISATION_READ, Right.ME_READ, Right.ME_CHANGE})
_MEMBER = _SUBCONTRACTOR | {Right.PEOPLE_READ, Right.CONNECTIONS_READ}
_OFFICE = _MEMBER | {Right.COSTS_READ, Right.CONNECTIONS_WRITE}
_ADMIN = _OFFICE | {Right.ORGANISATION_CHANGE, Right.PEOPLE_CHANGE, Right.KEYS_MANAGE, Right.CONNECTIONS_MANAGE}
_ADMIN |= {Right.WEBHOOKS_MANAGE, Right.EVENTS_READ}

RIGHTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: frozenset(Right),
    Role.ADMIN: _ADMIN,
    Role.OFFICE: _OFFICE,
    Role.MEMBER: _MEMBER,
    Role.SUBCONTRACTOR: _SUBCONTRACTOR,
}
