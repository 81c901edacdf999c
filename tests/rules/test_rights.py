"""Who may do what, written out by hand, so that a right is only changed on purpose."""

from dataclasses import astuple
from itertools import product

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.identity.authenticate import actor_of_link
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Access, RequiresPermission, Role
from mainstay.vocabulary.refusal import Forbidden, Lapsed, NotFound, Refusal, Unauthenticated
from rules.every import EACH_OPERATION, for_each
from rules.examples import DryRun, SampleRecords

# What someone may do knows no engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

# Everyone sees themselves and changes some of their own details; which of them, test_update_person tells. Of jobs,
# sites, contacts, notes, files and visits they see what they are assigned to or planned on; of the history, their own
# acts. A subcontractor's hours are theirs where the settings grant it, as they usually do.
SUBCONTRACTOR = {
    "get_organisation",
    "get_me",
    "get_person",
    "update_person",
    "accept_invitation",
    "sign_in",
    "change_password",
    "reset_password",
    "list_sites",
    "get_site",
    "list_contacts",
    "get_contact",
    "list_equipment",
    "get_equipment",
    "list_jobs",
    "get_job",
    "search",
    "get_history",
    "list_job_diary",
    "get_visit_versions",
    "list_notes",
    "add_note",
    "list_documents",
    "get_document",
    "add_document",
    "request_upload",
    "get_download_link",
    "remove_document",
    "list_visits",
    "get_schedule",
    "get_schedule_month",
    "get_calendar",
    "get_calendar_link",
    "rotate_calendar_link",
    "remove_calendar_link",
    "get_visit",
    "set_visit_status",
    "list_hours",
    "get_time_entry",
    "log_hours",
    "update_hours",
    "delete_hours",
    "start_timer",
    "stop_timer",
    "submit_hours",
    "undo_change",
    "list_saved_views",
    "create_saved_view",
    "update_saved_view",
    "delete_saved_view",
    "restore_saved_view",
}
MEMBER = SUBCONTRACTOR | {
    "list_people",
    "list_price_items",
    "get_price_item",
    "list_customers",
    "get_customer",
    "change_job_status",
    "get_overview",
    "list_purchase_orders",
    "get_purchase_order",
    "receive_goods",
    "list_time_off",
    "get_time_off",
    "request_time_off",
    "cancel_time_off",
    "approve_connection",
    "list_connections",
    "get_connection",
    "update_connection",
    "revoke_connection",
    "list_conversations",
    "get_conversation",
    "ask_assistant",
    "stop_assistant",
    "delete_conversation",
}
OFFICE = MEMBER | {
    "list_messages",
    "get_news",
    "get_settings",
    "create_customer",
    "update_customer",
    "archive_customer",
    "restore_customer",
    "save_site",
    "save_contact",
    "save_equipment",
    "archive_equipment",
    "restore_equipment",
    "create_job",
    "update_job",
    "cancel_job",
    "get_job_costing",
    "get_report",
    "get_month_end_pack",
    "get_customer_balance",
    "list_postings",
    "plan_visit",
    "move_visit",
    "cancel_visit",
    "plan_schedule",
    "find_free_time",
    "decide_time_off",
    "review_hours",
    "list_unbilled",
    "save_price_item",
    "list_tax_rates",
    "get_tax_rate",
    "list_suppliers",
    "get_supplier",
    "save_supplier",
    "list_quotes",
    "get_quote",
    "get_quote_pdf",
    "get_quote_proof",
    "draft_quote",
    "update_quote",
    "revise_quote",
    "send_quote",
    "record_quote_decision",
    "withdraw_quote",
    "get_purchase_order_pdf",
    "get_purchase_order_proof",
    "draft_purchase_order",
    "update_purchase_order",
    "send_purchase_order",
    "close_purchase_order",
    "cancel_purchase_order",
    "list_bills",
    "get_bill",
    "record_bill",
    "update_bill",
    "void_bill",
    "list_invoices",
    "get_invoice",
    "draft_invoice",
    "update_invoice",
    "delete_draft_invoice",
    "send_invoice",
    "void_invoice",
    "send_reminder",
    "send_reminders",
    "send_statement",
    "list_statements",
    "get_statement",
    "get_statement_pdf",
    "list_duplicate_customers",
    "credit_invoice",
    "list_credit_notes",
    "get_credit_note",
    "list_payments",
    "find_paid_invoices",
    "get_payment",
    "record_payment",
    "allocate_payment",
    "reverse_payment",
    "get_invoice_pdf",
    "get_invoice_proof",
    "get_reminder_proof",
    "get_credit_note_proof",
    "get_statement_proof",
    "get_invoice_ubl",
    "get_credit_note_pdf",
    "get_credit_note_ubl",
}
ADMIN = OFFICE | {
    "save_tax_rate",
    "update_organisation",
    "update_settings",
    "get_assistant_settings",
    "update_assistant_settings",
    "set_logo",
    "remove_logo",
    "merge_customers",
    "invite_person",
    "invite_again",
    "change_role",
    "remove_person",
    "sign_out_person",
    "create_key",
    "list_keys",
    "get_key",
    "update_key",
    "revoke_key",
    "list_events",
    "list_activity",
    "start_connection",
    "end_connection",
    "create_webhook",
    "list_webhooks",
    "get_webhook",
    "update_webhook",
    "pause_webhook",
    "resume_webhook",
    "disable_webhook",
    "rotate_webhook_secret",
    "delete_webhook",
    "list_deliveries",
    "get_delivery",
    "redeliver_event",
    "redeliver_failed",
    "send_test_event",
    "list_failed_work",
    "get_work",
    "retry_work",
    "drop_work",
}
OWNER = ADMIN | {"create_organisation", "add_person", "create_password_link", "change_subscription", "name_owner"}
# What a customer can do who comes by the link to a quote or an invoice, and nobody else.
BY_LINK_TO_QUOTE = {
    "get_offered_quote",
    "get_offered_quote_pdf",
    "see_offered_quote",
    "accept_offered_quote",
    "decline_offered_quote",
}
BY_LINK_TO_INVOICE = {
    "get_linked_invoice",
    "get_linked_invoice_pdf",
    "get_linked_invoice_ubl",
    "see_linked_invoice",
}
BY_LINK = BY_LINK_TO_QUOTE | BY_LINK_TO_INVOICE
ALLOWED = {
    Role.OWNER: OWNER,
    Role.ADMIN: ADMIN,
    Role.OFFICE: OFFICE,
    Role.MEMBER: MEMBER,
    Role.SUBCONTRACTOR: SUBCONTRACTOR,
}
# By their names, what begins like this; and what does not.
READS = {name for name in OWNER | BY_LINK if name.startswith(("get_", "list_", "find_"))} | {"search"}
OPEN_WHEN_LAPSED = {
    "stop_assistant",
    "delete_conversation",
    "remove_calendar_link",
    "revoke_key",
    "revoke_connection",
    "start_connection",
    "end_connection",
    "approve_connection",
    "delete_webhook",
    "change_subscription",
    "sign_in",
    "change_password",
    "reset_password",
}
# Let in like the others, and refused then for a reason of their own: this organisation exists, this is no link.
REFUSED_LATER = {"create_organisation", "accept_invitation", "reset_password"}

EACH_ROLE = pytest.mark.parametrize("role", list(Role))


def expected_outcome(name: str, role: Role, access: Access, *, lapsed: bool) -> str:
    if name not in READS and access is Access.READ:
        return "forbidden"
    if name not in ALLOWED[role]:
        return "forbidden"
    if lapsed and name not in READS | OPEN_WHEN_LAPSED:
        return "lapsed"
    return "refused" if name in REFUSED_LATER else "done"


def perform_outcome(dry_run: DryRun, operation: Operation, actor: Actor, given: dict[str, object]) -> str:
    try:
        dry_run.performer.perform(operation, actor, orjson.dumps(given), RequestDetails(new_id("req")))
    except Forbidden:
        return "forbidden"
    except Lapsed:
        return "lapsed"
    except NotFound as refusal:
        return refusal.text
    except Refusal:
        return "refused"
    return "done"


def open_and_lapsed(dry_run: DryRun) -> list[tuple[SampleRecords, bool]]:
    return [(dry_run.open, False), (dry_run.lapsed, True)]


def test_the_tables_name_operations_that_exist() -> None:
    assert {operation.name for operation in CATALOGUE.operations} == OWNER | BY_LINK
    assert READS | OPEN_WHEN_LAPSED | REFUSED_LATER <= OWNER | BY_LINK


@EACH_ROLE
@EACH_OPERATION
def test_a_person_can_do_what_the_table_says(dry_run: DryRun, operation: Operation, role: Role) -> None:
    for (samples, lapsed), access in product(open_and_lapsed(dry_run), Access):
        found = perform_outcome(
            dry_run, operation, samples.cast.actor(role, access), samples.example_input(operation, role)
        )
        assert found == expected_outcome(operation.name, role, access, lapsed=lapsed), access


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
@EACH_OPERATION
def test_a_key_can_do_what_its_maker_can(dry_run: DryRun, operation: Operation, role: Role) -> None:
    for (samples, lapsed), access in product(open_and_lapsed(dry_run), Access):
        found = perform_outcome(
            dry_run, operation, samples.actor_with_key(role, access), samples.example_input(operation, role)
        )
        assert found == expected_outcome(operation.name, role, access, lapsed=lapsed), access


def actor_with_link(samples: SampleRecords, operation: str) -> Actor:
    """Return a customer with a link to an invoice, or to a quote if the operation is not about invoices."""
    sent = samples.invoices.sent if operation in BY_LINK_TO_INVOICE else samples.quotes.sent
    with samples.cast.performer.database.read_transaction(samples.cast.organisation) as db:
        return actor_of_link(db, sent)


@pytest.mark.parametrize("kind", ["quote", "invoice"])
@EACH_OPERATION
def test_a_customer_can_do_what_their_link_is_for_and_nothing_else(
    dry_run: DryRun, operation: Operation, kind: str
) -> None:
    theirs = {"quote": BY_LINK_TO_QUOTE, "invoice": BY_LINK_TO_INVOICE}[kind]
    for samples, lapsed in open_and_lapsed(dry_run):
        customer = actor_with_link(samples, min(theirs))
        found = perform_outcome(dry_run, operation, customer, samples.example_input(operation))
        mine = "lapsed" if lapsed and operation.name not in READS else "done"
        assert found == (mine if operation.name in theirs else "forbidden")
        if operation.name in theirs:
            others = {"quoteId": samples.quotes.draft} if kind == "quote" else {"invoiceId": samples.invoices.paid}
            found = perform_outcome(dry_run, operation, customer, samples.example_input(operation) | others)
            assert found.startswith("There is no") or lapsed


def replace_record_ids(given: dict[str, object]) -> dict[str, object]:
    """Replace the record ids of an input by unknown ids of the same kind."""
    return {name: new_id(str(given[name]).split("_")[0]) if is_record_id_field(name) else given[name] for name in given}


def is_record_id_field(name: str) -> bool:
    """Whether a field holds the id of a record; a client belongs to no organisation."""
    return name.endswith("Id") and name != "clientId"


def has_record_input(operation: Operation) -> bool:
    """Whether the input names a record that must exist; an optional filter of a list need not.

    Changes are no records: each organisation numbers its own.
    Fields that need a permission are left out: only some may send them.
    """
    fields = [(field.alias or name, field) for name, field in operation.input.model_fields.items()]
    names = {name for name, _ in fields if is_record_id_field(name) or name.endswith("Ids")} - {"changeIds"}
    named = [field for name, field in fields if name in names]
    named = [field for field in named if not any(isinstance(mark, RequiresPermission) for mark in field.metadata)]
    return any(field.is_required() for field in named) if operation.returns_page else bool(named)


@EACH_ROLE
@for_each([*filter(has_record_input, CATALOGUE.operations)])
def test_a_foreign_record_is_as_unknown_as_one_that_never_was(
    dry_run: DryRun, operation: Operation, role: Role
) -> None:
    theirs = dry_run.foreign.example_input(operation, role)
    for samples, lapsed in open_and_lapsed(dry_run):
        actor = samples.cast.actor(role)
        foreign = perform_outcome(dry_run, operation, actor, theirs)
        assert foreign == perform_outcome(dry_run, operation, actor, replace_record_ids(theirs))
        let_in = expected_outcome(operation.name, role, Access.WRITE, lapsed=lapsed) == "done"
        assert foreign.startswith("There is no ") == let_in


OPERATIONS_THAT_ANSWER = [operation for operation in CATALOGUE.operations if operation.name not in REFUSED_LATER]


@for_each(OPERATIONS_THAT_ANSWER)
def test_no_answer_names_anything_of_another_organisation(dry_run: DryRun, operation: Operation) -> None:
    cast, foreign = dry_run.open.cast, dry_run.foreign
    given = orjson.dumps(dry_run.open.example_input(operation))
    actor = actor_with_link(dry_run.open, operation.name) if operation.name in BY_LINK else cast.actor(Role.OWNER)
    body = dry_run.performer.perform(operation, actor, given, RequestDetails("req_1")).body.decode()
    hidden = [
        foreign.cast.organisation,
        foreign.key,
        foreign.invited,
        foreign.webhook,
        foreign.paused,
        foreign.delivery,
        foreign.failed_work,
    ]
    hidden += [foreign.delivery, foreign.event, *foreign.cast.people.values(), *foreign.connections.values()]
    hidden += [*astuple(foreign.work_samples), *astuple(foreign.invoices)]
    assert [record_id for record_id in hidden if record_id in body] == []


def test_a_foreign_organisation_s_actor_does_not_help(dry_run: DryRun) -> None:
    # The organisation comes from the credential: a credential of one with the name of another opens nothing.
    mine, theirs = dry_run.open.cast.actor(Role.OWNER), dry_run.foreign.cast.actor(Role.OWNER)
    forged = mine._replace(organisation=theirs.organisation)
    for operation in CATALOGUE.operations:
        if operation.name not in READS | REFUSED_LATER | BY_LINK:
            given = dry_run.foreign.example_input(operation)
            with pytest.raises(Unauthenticated, match="no longer belong to this organisation"):
                dry_run.performer.perform(operation, forged, orjson.dumps(given), RequestDetails(new_id("req")))
