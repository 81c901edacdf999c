"""Everything the product can do, in the order in which doors show it."""

from mainstay.backing import soundness
from mainstay.business.costing import operations as costing
from mainstay.business.costing import unbilled
from mainstay.business.customers import duplicates, merging, places
from mainstay.business.customers import operations as customers
from mainstay.business.customers import proofs as customer_proofs
from mainstay.business.customers.store import REWORD
from mainstay.business.hours import operations as hours
from mainstay.business.hours import proofs as hours_proofs
from mainstay.business.hours import review, timers
from mainstay.business.importing import store as imports
from mainstay.business.importing.undoing import UNDO_IMPORT
from mainstay.business.invoices import crediting, overdue, papers, paying, reminding, rewording, statement
from mainstay.business.invoices import events as invoice_events
from mainstay.business.invoices import moved as invoices_moved
from mainstay.business.invoices import operations as invoices
from mainstay.business.invoices import proofs as invoice_proofs
from mainstay.business.invoices import public as invoice_public
from mainstay.business.invoices import reactions as invoice_reactions
from mainstay.business.invoices import sending as invoice_sending
from mainstay.business.jobs import events as job_events
from mainstay.business.jobs import moved as jobs_moved
from mainstay.business.jobs import operations as jobs
from mainstay.business.jobs import proofs as job_proofs
from mainstay.business.jobs.store import RETITLED
from mainstay.business.organisation import logo, messages, settings, work
from mainstay.business.organisation import operations as organisation
from mainstay.business.organisation.store import bring_days_forward
from mainstay.business.overview import operations as overview
from mainstay.business.people import events as people_events
from mainstay.business.people import joining, reactions, standing
from mainstay.business.people import operations as people
from mainstay.business.people import proofs as people_proofs
from mainstay.business.pricelist import operations as items
from mainstay.business.pricelist import proofs as price_proofs
from mainstay.business.pricelist import suppliers, taxes
from mainstay.business.pricelist.store import RENAMED
from mainstay.business.purchasing import bills, ending, receiving, repricing
from mainstay.business.purchasing import operations as orders
from mainstay.business.purchasing import proofs as purchase_proofs
from mainstay.business.purchasing import rewording as purchase_rewording
from mainstay.business.purchasing import sending as ordering
from mainstay.business.quotes import deciding, expiring, public, sending
from mainstay.business.quotes import events as quote_events
from mainstay.business.quotes import moved as quotes_moved
from mainstay.business.quotes import operations as quotes
from mainstay.business.quotes import proofs as quote_proofs
from mainstay.business.quotes import reactions as quote_reactions
from mainstay.business.records import activity, documents, history, notes, search
from mainstay.business.records import rewording as record_rewording
from mainstay.business.records.proofs import FILES, PAPERS, STORAGE, copies_agree, found_by_words, still_there
from mainstay.business.reporting import balance, journal, statement_sending
from mainstay.business.reporting import operations as reporting
from mainstay.business.schedule import board, calendar, cancelling, free_time, leave, planning
from mainstay.business.schedule import operations as visits
from mainstay.business.schedule import proofs as schedule_proofs
from mainstay.business.schedule import reactions as schedule_reactions
from mainstay.business.schedule import telling as schedule_telling
from mainstay.identity import clients, connections, devices, entering, keys, links, sessions, tickets, tokens
from mainstay.kernel.catalogue import Catalogue
from mainstay.ledger import outbox, replay
from mainstay.ledger import proofs as ledger_proofs
from mainstay.webhooks import deliveries, endpoints, feed, retention
from mainstay.webhooks.disabling import disable_webhook

CATALOGUE = Catalogue(
    operations=(
        *organisation.OPERATIONS,
        *settings.OPERATIONS,
        *logo.OPERATIONS,
        *messages.OPERATIONS,
        *work.OPERATIONS,
        *people.OPERATIONS,
        *standing.OPERATIONS,
        *joining.OPERATIONS,
        *customers.OPERATIONS,
        *places.OPERATIONS,
        *merging.OPERATIONS,
        *duplicates.OPERATIONS,
        *jobs.OPERATIONS,
        *cancelling.OPERATIONS,
        *visits.OPERATIONS,
        *planning.OPERATIONS,
        *free_time.OPERATIONS,
        *leave.OPERATIONS,
        *board.OPERATIONS,
        *calendar.OPERATIONS,
        *hours.OPERATIONS,
        *timers.OPERATIONS,
        *review.OPERATIONS,
        *items.OPERATIONS,
        *taxes.OPERATIONS,
        *suppliers.OPERATIONS,
        *quotes.OPERATIONS,
        *sending.OPERATIONS,
        *deciding.OPERATIONS,
        *public.OPERATIONS,
        *orders.OPERATIONS,
        *ordering.OPERATIONS,
        *receiving.OPERATIONS,
        *ending.OPERATIONS,
        *bills.OPERATIONS,
        *invoices.OPERATIONS,
        *invoice_sending.OPERATIONS,
        *reminding.OPERATIONS,
        *crediting.OPERATIONS,
        *paying.OPERATIONS,
        *statement.OPERATIONS,
        *papers.OPERATIONS,
        *invoice_public.OPERATIONS,
        *costing.OPERATIONS,
        *unbilled.OPERATIONS,
        *reporting.OPERATIONS,
        *journal.OPERATIONS,
        *balance.OPERATIONS,
        *statement_sending.OPERATIONS,
        *overview.OPERATIONS,
        *search.OPERATIONS,
        *notes.OPERATIONS,
        *documents.OPERATIONS,
        *history.OPERATIONS,
        *activity.OPERATIONS,
        feed.list_events,
        *keys.OPERATIONS,
        *connections.OPERATIONS,
        *entering.OPERATIONS,
        *endpoints.OPERATIONS,
        *deliveries.OPERATIONS,
        disable_webhook,
    ),
    events=(*people_events.EVENTS, *job_events.EVENTS, *quote_events.EVENTS, *invoice_events.EVENTS),
    reactions=(
        *reactions.REACTIONS,
        *schedule_reactions.REACTIONS,
        *invoice_reactions.REACTIONS,
        *quote_reactions.REACTIONS,
    ),
    consequences=invoice_reactions.CONSEQUENCES,
    timers=(*retention.TIMERS, *expiring.TIMERS, *overdue.TIMERS),
    chores=(
        *rewording.CHORES,
        *record_rewording.CHORES,
        *purchase_rewording.CHORES,
        *repricing.CHORES,
        *jobs_moved.CHORES,
        *quotes_moved.CHORES,
        *invoices_moved.CHORES,
        *overdue.CHORES,
        *schedule_telling.CHORES,
        *invoice_reactions.CHORES,
    ),
)

# What is removed now and then in the whole installation, because it opens nothing any more.
UPKEEP = (
    replay.forget_old,
    tokens.forget_expired,
    clients.forget_never_approved,
    sessions.forget_old,
    devices.forget_old,
    links.forget_old,
    tickets.forget_old,
    imports.forget_old,
    outbox.bring_forward,
    retention.bring_forward,
    bring_days_forward,
)

# What must hold of all that is kept; the first ones say whether the others can be looked at.
PROOFS = (
    *soundness.PROOFS,
    *ledger_proofs.PROOFS,
    FILES,
    PAPERS,
    STORAGE,
    # What is done and gone, and what people can remove, is told of by the trail alone.
    still_there(CATALOGUE.listings, {"out", "entry", "document", "webhook", "delivery", "invoice"}, UNDO_IMPORT),
    found_by_words(CATALOGUE.listings, renewing=(REWORD, RENAMED, RETITLED, record_rewording.REWORD_RECORD)),
    copies_agree(CATALOGUE.listings),
    *people_proofs.PROOFS,
    *customer_proofs.PROOFS,
    *job_proofs.PROOFS,
    *schedule_proofs.PROOFS,
    *hours_proofs.PROOFS,
    *price_proofs.PROOFS,
    *quote_proofs.PROOFS,
    *purchase_proofs.PROOFS,
    *invoice_proofs.PROOFS,
)
