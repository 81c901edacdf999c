"""The number of statements of each change. A change reads a row once, and answers from what it wrote.

If a change needs more statements, its number here is raised on purpose.
"""

from dataclasses import replace

import orjson
import pytest

from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun
from support.recorded_statements import RecordedStatement, RecordingDatabase

# What is asked knows no engine; with every engine it is tried in the long run.
pytestmark = pytest.mark.engines("sqlite")

# Of the example of each change. Three are who acts, the end of the trail and the act in it; one more names the records.
# What writes rows by a statement of its own reads them once more, so that they are hashed.
STATEMENT_COUNTS = {
    "update_organisation": 7,
    "change_subscription": 6,
    "update_settings": 7,
    "set_logo": 8,
    "remove_logo": 8,
    "retry_work": 7,
    "drop_work": 6,
    "invite_person": 13,
    "update_person": 10,
    "invite_again": 9,
    "change_role": 9,
    "name_owner": 9,
    "remove_person": 19,
    "sign_out_person": 6,
    "create_organisation": 15,
    "add_person": 16,
    "create_password_link": 7,
    "accept_invitation": 19,
    "create_customer": 10,
    "update_customer": 7,
    "archive_customer": 10,
    "restore_customer": 9,
    "save_site": 7,
    "save_contact": 7,
    "save_equipment": 10,
    "archive_equipment": 10,
    "restore_equipment": 10,
    "merge_customers": 34,
    "create_job": 15,
    "update_job": 11,
    "change_job_status": 11,
    "cancel_job": 32,
    "plan_visit": 17,
    "move_visit": 13,
    "cancel_visit": 18,
    "set_visit_status": 14,
    "plan_schedule": 17,
    "request_time_off": 10,
    "cancel_time_off": 6,
    "decide_time_off": 9,
    "rotate_calendar_link": 6,
    "remove_calendar_link": 6,
    "log_hours": 10,
    "update_hours": 8,
    "delete_hours": 6,
    "start_timer": 17,
    "stop_timer": 9,
    "submit_hours": 6,
    "review_hours": 8,
    "save_price_item": 8,
    "save_tax_rate": 7,
    "save_supplier": 10,
    "draft_quote": 15,
    "update_quote": 15,
    "revise_quote": 15,
    "send_quote": 16,
    "withdraw_quote": 9,
    "record_quote_decision": 20,
    "see_offered_quote": 12,
    "accept_offered_quote": 25,
    "decline_offered_quote": 16,
    "draft_purchase_order": 14,
    "update_purchase_order": 10,
    "send_purchase_order": 15,
    "receive_goods": 14,
    "close_purchase_order": 7,
    "cancel_purchase_order": 7,
    "record_bill": 13,
    "update_bill": 8,
    "void_bill": 12,
    "draft_invoice": 25,
    "update_invoice": 17,
    "delete_draft_invoice": 13,
    "send_invoice": 29,
    "void_invoice": 12,
    "send_reminder": 13,
    "send_reminders": 23,
    "send_statement": 28,
    "credit_invoice": 21,
    "record_payment": 17,
    "allocate_payment": 13,
    "reverse_payment": 14,
    "see_linked_invoice": 11,
    "add_note": 6,
    "add_document": 8,
    "request_upload": 7,
    "remove_document": 9,
    "create_key": 6,
    "update_key": 8,
    "revoke_key": 7,
    "approve_connection": 9,
    "start_connection": 10,
    "update_connection": 8,
    "revoke_connection": 7,
    "end_connection": 7,
    "sign_in": 11,
    "create_saved_view": 7,
    "update_saved_view": 7,
    "delete_saved_view": 7,
    "restore_saved_view": 7,
    "ask_assistant": 7,
    "stop_assistant": 5,
    "delete_conversation": 5,
    "update_assistant_settings": 7,
    "undo_change": 14,
    "change_password": 11,
    "reset_password": 13,
    "create_webhook": 8,
    "update_webhook": 7,
    "pause_webhook": 7,
    "resume_webhook": 7,
    "rotate_webhook_secret": 6,
    "delete_webhook": 7,
    "redeliver_event": 8,
    "redeliver_failed": 9,
    "send_test_event": 9,
    "disable_webhook": 10,
}


def record_statements(dry_run: DryRun, operation: Operation) -> list[RecordedStatement]:
    """What the example of a change asks of the database."""
    watched = RecordingDatabase(dry_run.database.inner, commits=False)
    actor, given = actor_for(dry_run.open, operation), orjson.dumps(dry_run.open.example_input(operation))
    replace(dry_run.performer, database=watched).perform(operation, actor, given, RequestDetails(new_id("req")))
    return watched.statements


def test_the_table_names_every_change() -> None:
    assert STATEMENT_COUNTS.keys() == {operation.name for operation in CHANGES}


@for_each(CHANGES)
def test_a_change_costs_what_the_table_says(dry_run: DryRun, operation: Operation) -> None:
    assert len(record_statements(dry_run, operation)) == STATEMENT_COUNTS[operation.name]


@for_each(CHANGES)
def test_what_the_organisation_decided_is_read_once(dry_run: DryRun, operation: Operation) -> None:
    asked = [
        one.sql
        for one in record_statements(dry_run, operation)
        if "hours_rounding_minutes, materials_markup" in one.sql
    ]
    assert len(asked) <= 1
