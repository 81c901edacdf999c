"""Everything the product can do, in the order in which doors show it."""

from mainstay.business.assistant import operations as assistant
from mainstay.business.assistant import reactions as assistant_reactions
from mainstay.business.assistant import store as conversations
from mainstay.business.costing import operations as costing
from mainstay.business.costing import unbilled
from mainstay.business.customers import duplicates, merging, sites_and_contacts
from mainstay.business.customers import invariants as customer_invariants
from mainstay.business.customers import operations as customers
from mainstay.business.customers.store import REFRESH_CUSTOMER_SEARCH
from mainstay.business.equipment import operations as equipment
from mainstay.business.hours import approval, timers, visit_status
from mainstay.business.hours import invariants as hours_invariants
from mainstay.business.hours import operations as hours
from mainstay.business.hours import reactions as hours_reactions
from mainstay.business.importing import store as imports
from mainstay.business.importing.undo import UNDO_IMPORT
from mainstay.business.invoices import events as invoice_events
from mainstay.business.invoices import invariants as invoice_invariants
from mainstay.business.invoices import reactions as invoice_reactions
from mainstay.business.invoices.drafting import operations as invoices
from mainstay.business.invoices.issuing import crediting, document_files, overdue, proofs, reminders
from mainstay.business.invoices.issuing import public as invoice_public
from mainstay.business.invoices.issuing import sending as issuing
from mainstay.business.invoices.payments import bank_statement
from mainstay.business.invoices.payments import recording as payments
from mainstay.business.jobs import events as job_events
from mainstay.business.jobs import invariants as job_invariants
from mainstay.business.jobs import operations as jobs
from mainstay.business.jobs import reactions as job_reactions
from mainstay.business.jobs.store import REFRESH_JOB_SEARCH
from mainstay.business.organisation import assistant_settings, failed_work, logo, sent_emails, settings
from mainstay.business.organisation import operations as organisation
from mainstay.business.organisation.store import reset_early_days
from mainstay.business.overview import job_diary, news, visit_versions
from mainstay.business.overview import operations as overview
from mainstay.business.people import events as people_events
from mainstay.business.people import invariants as people_invariants
from mainstay.business.people import invitations, reactions, roles
from mainstay.business.people import operations as people
from mainstay.business.pricelist import invariants as price_invariants
from mainstay.business.pricelist import operations as items
from mainstay.business.pricelist import suppliers, taxes
from mainstay.business.pricelist.store import REFRESH_SUPPLIER_SEARCH
from mainstay.business.purchasing import bills, closing, receiving
from mainstay.business.purchasing import invariants as purchase_invariants
from mainstay.business.purchasing import operations as orders
from mainstay.business.purchasing import reactions as purchase_reactions
from mainstay.business.purchasing import sending as order_sending
from mainstay.business.quotes import decisions, expiry, public, sending
from mainstay.business.quotes import events as quote_events
from mainstay.business.quotes import invariants as quote_invariants
from mainstay.business.quotes import operations as quotes
from mainstay.business.quotes import reactions as quote_reactions
from mainstay.business.records import activity, attachments, file_links, history, notes, search, undo
from mainstay.business.records.invariants import (
    FILES,
    SHARED_FILES,
    STORAGE,
    make_copies_invariant,
    make_existence_invariant,
    make_search_words_invariant,
)
from mainstay.business.reporting import balance, journal, month_end, statement_sending
from mainstay.business.reporting import operations as reporting
from mainstay.business.saved_views import operations as saved_views
from mainstay.business.saved_views import reactions as saved_view_reactions
from mainstay.business.schedule import board, calendar, free_time, job_cancellation, leave, month, planning
from mainstay.business.schedule import emails as schedule_emails
from mainstay.business.schedule import invariants as schedule_invariants
from mainstay.business.schedule import operations as visits
from mainstay.business.schedule import reactions as schedule_reactions
from mainstay.changes import confirmations, idempotency, outbox
from mainstay.changes import invariants as ledger_invariants
from mainstay.changes import undo as stored_changes
from mainstay.identity import (
    clients,
    connections,
    devices,
    keys,
    links,
    person_sign_in,
    return_tickets,
    sessions,
    tokens,
    upload_addresses,
)
from mainstay.infrastructure import database_checks
from mainstay.kernel.catalogue import Catalogue
from mainstay.webhooks import deliveries, endpoints, feed, retention
from mainstay.webhooks.disabling import disable_webhook

CATALOGUE = Catalogue(
    operations=(
        *organisation.OPERATIONS,
        *settings.OPERATIONS,
        *assistant_settings.OPERATIONS,
        *logo.OPERATIONS,
        *sent_emails.OPERATIONS,
        *failed_work.OPERATIONS,
        *people.OPERATIONS,
        *roles.OPERATIONS,
        *invitations.OPERATIONS,
        *customers.OPERATIONS,
        *sites_and_contacts.OPERATIONS,
        *merging.OPERATIONS,
        *duplicates.OPERATIONS,
        *equipment.OPERATIONS,
        *jobs.OPERATIONS,
        *job_cancellation.OPERATIONS,
        *visits.OPERATIONS,
        *visit_status.OPERATIONS,
        *planning.OPERATIONS,
        *free_time.OPERATIONS,
        *leave.OPERATIONS,
        *board.OPERATIONS,
        *month.OPERATIONS,
        *calendar.OPERATIONS,
        *hours.OPERATIONS,
        *timers.OPERATIONS,
        *approval.OPERATIONS,
        *items.OPERATIONS,
        *taxes.OPERATIONS,
        *suppliers.OPERATIONS,
        *quotes.OPERATIONS,
        *sending.OPERATIONS,
        *decisions.OPERATIONS,
        *public.OPERATIONS,
        *orders.OPERATIONS,
        *order_sending.OPERATIONS,
        *receiving.OPERATIONS,
        *closing.OPERATIONS,
        *bills.OPERATIONS,
        *invoices.OPERATIONS,
        *issuing.OPERATIONS,
        *reminders.OPERATIONS,
        *crediting.OPERATIONS,
        *proofs.OPERATIONS,
        *payments.OPERATIONS,
        *bank_statement.OPERATIONS,
        *document_files.OPERATIONS,
        *invoice_public.OPERATIONS,
        *costing.OPERATIONS,
        *unbilled.OPERATIONS,
        *reporting.OPERATIONS,
        *month_end.OPERATIONS,
        *journal.OPERATIONS,
        *balance.OPERATIONS,
        *statement_sending.OPERATIONS,
        *overview.OPERATIONS,
        *news.OPERATIONS,
        *job_diary.OPERATIONS,
        *visit_versions.OPERATIONS,
        *search.OPERATIONS,
        *notes.OPERATIONS,
        *attachments.OPERATIONS,
        *file_links.OPERATIONS,
        *history.OPERATIONS,
        *activity.OPERATIONS,
        *undo.OPERATIONS,
        *saved_views.OPERATIONS,
        *assistant.OPERATIONS,
        feed.list_events,
        *keys.OPERATIONS,
        *connections.OPERATIONS,
        *person_sign_in.OPERATIONS,
        *endpoints.OPERATIONS,
        *deliveries.OPERATIONS,
        disable_webhook,
    ),
    events=(*people_events.EVENTS, *equipment.EVENTS, *job_events.EVENTS, *quote_events.EVENTS, *invoice_events.EVENTS),
    reactions=(
        *reactions.REACTIONS,
        *schedule_reactions.REACTIONS,
        *invoice_reactions.REACTIONS,
        *quote_reactions.REACTIONS,
        *saved_view_reactions.REACTIONS,
        *assistant_reactions.REACTIONS,
    ),
    immediate_reactions=(
        *hours_reactions.IMMEDIATE_REACTIONS,
        *schedule_reactions.IMMEDIATE_REACTIONS,
        *invoice_reactions.IMMEDIATE_REACTIONS,
    ),
    timers=(*retention.TIMERS, *expiry.TIMERS, *overdue.TIMERS),
    task_kinds=(
        *purchase_reactions.TASK_KINDS,
        *job_reactions.TASK_KINDS,
        *quote_reactions.TASK_KINDS,
        *overdue.TASK_KINDS,
        *schedule_emails.TASK_KINDS,
        *invoice_reactions.TASK_KINDS,
    ),
)

# Functions that the worker runs now and then for the whole installation: they delete old data and correct wrong times.
UPKEEP = (
    idempotency.delete_old,
    confirmations.delete_old,
    tokens.delete_expired,
    clients.delete_unapproved,
    sessions.delete_old,
    devices.delete_old,
    links.delete_old,
    return_tickets.delete_old,
    upload_addresses.delete_old,
    imports.delete_old,
    conversations.delete_old,
    stored_changes.delete_old,
    outbox.bring_forward,
    retention.bring_deliveries_forward,
    reset_early_days,
)

# The invariants of all stored data. The first ones check whether the others can be checked at all.
INVARIANTS = (
    *database_checks.INVARIANTS,
    *ledger_invariants.INVARIANTS,
    FILES,
    SHARED_FILES,
    STORAGE,
    # Only the audit trail remembers records of these kinds that are finished or that people deleted.
    make_existence_invariant(
        CATALOGUE.record_stores, {"out", "entry", "document", "webhook", "delivery", "invoice"}, UNDO_IMPORT
    ),
    make_search_words_invariant(
        CATALOGUE.record_stores, refresh_kinds=(REFRESH_CUSTOMER_SEARCH, REFRESH_SUPPLIER_SEARCH, REFRESH_JOB_SEARCH)
    ),
    make_copies_invariant(CATALOGUE.record_stores),
    *people_invariants.INVARIANTS,
    *customer_invariants.INVARIANTS,
    *job_invariants.INVARIANTS,
    *schedule_invariants.INVARIANTS,
    *hours_invariants.INVARIANTS,
    *price_invariants.INVARIANTS,
    *quote_invariants.INVARIANTS,
    *purchase_invariants.INVARIANTS,
    *invoice_invariants.INVARIANTS,
)
