"""Every operation, event and reaction of the product, in the order in which doors show them."""

from mainstay.business.organisation.operations import change_subscription, get_organisation, update_organisation
from mainstay.business.people.joining import PersonJoined, accept_invitation, add_person, create_organisation
from mainstay.business.people.operations import (
    PersonInvited,
    PersonLeft,
    PersonUpdated,
    get_me,
    get_person,
    invite_again,
    invite_person,
    list_people,
    name_owner,
    remove_person,
    update_person,
)
from mainstay.business.people.reactions import invite_by_mail
from mainstay.identity.connections import approve_connection, list_connections, revoke_connection
from mainstay.identity.keys import create_key, list_keys, revoke_key
from mainstay.kernel.event import Event
from mainstay.kernel.operation import Operation
from mainstay.kernel.reaction import Reaction
from mainstay.webhooks.deliveries import (
    get_delivery,
    list_deliveries,
    redeliver_event,
    redeliver_failed,
    send_test_event,
)
from mainstay.webhooks.endpoints import (
    create_webhook,
    delete_webhook,
    get_webhook,
    list_webhooks,
    rotate_webhook_secret,
    update_webhook,
)
from mainstay.webhooks.feed import list_events

OPERATIONS: tuple[Operation, ...] = (
    # the organisation and the one who asks
    get_organisation,
    update_organisation,
    get_me,
    # people
    list_people,
    get_person,
    invite_person,
    update_person,
    remove_person,
    invite_again,
    name_owner,
    accept_invitation,
    # what happened
    list_events,
    # keys
    create_key,
    list_keys,
    revoke_key,
    # connected apps
    approve_connection,
    list_connections,
    revoke_connection,
    # webhooks
    create_webhook,
    list_webhooks,
    get_webhook,
    update_webhook,
    rotate_webhook_secret,
    delete_webhook,
    list_deliveries,
    get_delivery,
    redeliver_event,
    redeliver_failed,
    send_test_event,
    # the operator's
    create_organisation,
    add_person,
    change_subscription,
)

EVENTS: tuple[type[Event], ...] = (PersonInvited, PersonJoined, PersonUpdated, PersonLeft)

# What follows an event, by its name.
REACTIONS: dict[str, tuple[Reaction, ...]] = {
    PersonInvited.name: (invite_by_mail,),
}
