"""The history of a record in words: a text in the past tense for each operation.

Every operation that changes a record has its text here, including those that Mainstay performs by itself. A test checks
that none is missing.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label

_MAX_LENGTH = 120

PAST_TEXTS = {
    # The organisation and its people.
    "create_organisation": "Organisation created",
    "update_organisation": "Details edited",
    "update_settings": "Settings changed",
    "change_subscription": "Subscription changed",
    "set_logo": "Logo set",
    "remove_logo": "Logo removed",
    "retry_work": "Task retried",
    "drop_work": "Task dropped",
    "reckon_days_anew": "Dates recalculated for a new time zone",
    "forget_old_events": "Old events removed",
    "invite_person": "Person invited",
    "invite_again": "Invitation resent",
    "mail_invitation": "Invitation emailed",
    "accept_invitation": "Invitation accepted",
    "add_person": "Person added",
    "update_person": "Details edited",
    "change_role": "Role changed",
    "name_owner": "Role changed to owner",
    "remove_person": "Person left the organisation",
    "create_password_link": "Password reset link created",
    "unassign_visits": "Visits unassigned from a person who left",
    # Customers, jobs and visits.
    "create_customer": "Customer created",
    "undo_import": "Removed when its import was undone",
    "update_customer": "Details edited",
    "archive_customer": "Customer archived",
    "restore_customer": "Customer restored",
    "merge_customers": "Customers merged",
    "save_site": "Site saved",
    "save_contact": "Contact saved",
    "reword_records_of_customer": "Customer renamed",
    "create_job": "Job created",
    "update_job": "Details edited",
    "change_job_status": "Job changed",
    "cancel_job": "Job cancelled",
    "close_paid_job": "Job closed because it was fully paid",
    "reword_records_of_job": "Job renamed",
    "settle_job_billed_anew": "Amount to invoice recalculated",
    "tell_of_moved_jobs": "Job moved to another customer",
    "tell_of_moved_quotes": "Quote moved to another customer",
    "tell_of_moved_invoices": "Invoice moved to another customer",
    "plan_visit": "Visit planned",
    "move_visit": "Visit changed",
    "cancel_visit": "Visit cancelled",
    "set_visit_status": "Visit changed",
    "plan_schedule": "Schedule changed",
    "tell_of_schedule": "Person notified of their visits",
    "request_time_off": "Time off entered",
    "cancel_time_off": "Time off cancelled",
    "decide_time_off": "Time off decided",
    "rotate_calendar_link": "Calendar link created",
    "remove_calendar_link": "Calendar link removed",
    # Hours.
    "log_hours": "Hours logged",
    "update_hours": "Hours edited",
    "delete_hours": "Hours deleted",
    "start_timer": "Timer started",
    "stop_timer": "Timer stopped",
    "submit_hours": "Hours submitted",
    "review_hours": "Hours reviewed",
    # Prices, quotes, purchasing and invoices.
    "save_price_item": "Item saved",
    "save_tax_rate": "Tax rate saved",
    "save_supplier": "Supplier saved",
    "reword_records_of_supplier": "Supplier renamed",
    "price_materials_anew": "Materials repriced",
    "draft_quote": "Quote created",
    "update_quote": "Quote edited",
    "revise_quote": "Revision created",
    "send_quote": "Quote sent",
    "withdraw_quote": "Quote withdrawn",
    "record_quote_decision": "Decision recorded",
    "see_offered_quote": "Quote viewed",
    "accept_offered_quote": "Quote accepted",
    "decline_offered_quote": "Quote declined",
    "expire_quotes": "Quote expired",
    "draft_purchase_order": "Order created",
    "update_purchase_order": "Order edited",
    "send_purchase_order": "Order sent",
    "receive_goods": "Goods received",
    "close_purchase_order": "Order closed",
    "cancel_purchase_order": "Order cancelled",
    "record_bill": "Bill recorded",
    "update_bill": "Bill edited",
    "void_bill": "Bill voided",
    "draft_invoice": "Invoice created",
    "draft_deposit": "Deposit invoice created",
    "tell_office_of_acceptance": "Office notified of the acceptance",
    "confirm_acceptance": "Acceptance email sent",
    "update_invoice": "Invoice edited",
    "delete_draft_invoice": "Draft deleted",
    "send_invoice": "Invoice issued",
    "void_invoice": "Invoice voided",
    "credit_invoice": "Credit note issued",
    "send_reminder": "Reminder sent",
    "send_reminders": "Reminder sent",
    "send_statement": "Statement sent",
    "see_linked_invoice": "Invoice viewed",
    "became_overdue": "Invoice became overdue",
    "record_payment": "Payment recorded",
    "allocate_payment": "Payment allocated",
    "reverse_payment": "Payment reversed",
    # Notes, files and access.
    "add_note": "Note added",
    "add_document": "File added",
    "remove_document": "File removed",
    "create_key": "Key created",
    "revoke_key": "Key revoked",
    "approve_connection": "App connected",
    "start_connection": "App connected for the first time",
    "revoke_connection": "App disconnected",
    "end_connection": "App access ended",
    "sign_in": "Signed in",
    "change_password": "Password changed",
    "reset_password": "Password reset",
    "create_webhook": "Webhook created",
    "update_webhook": "Webhook edited",
    "pause_webhook": "Webhook paused",
    "resume_webhook": "Webhook resumed",
    "rotate_webhook_secret": "Webhook secret replaced",
    "delete_webhook": "Webhook deleted",
    "disable_webhook": "Webhook disabled",
    "redeliver_event": "Event resent",
    "redeliver_failed": "Failed events resent",
    "send_test_event": "Test event sent",
    # After an upgrade.
    "hash_rows": "Stored rows hashed",
}
# Operations whose text depends on a decision: the input field that holds it, and the text for each value.
DECISION_TEXTS: dict[str, tuple[str, dict[str, str]]] = {
    "decide_time_off": ("decision", {"approve": "Time off approved", "decline": "Time off declined"}),
    "review_hours": (
        "decision",
        {"approve": "Hours approved", "reject": "Hours rejected", "unapprove": "Hours unapproved"},
    ),
    "record_quote_decision": ("decision", {"accepted": "Acceptance recorded", "declined": "Decline recorded"}),
    "update_bill": (
        "status",
        {"approved": "Bill approved", "paid": "Bill marked as paid", "draft": "Bill changed back to draft"},
    ),
}
# Endings of texts to which the changed fields are added, and how many fields at most.
_ENDINGS_WITH_FIELDS, _MAX_FIELDS = ("edited", "changed", "saved"), 5
# Operations whose text names the new status.
_STATUS_NOUNS = {"change_job_status": "Job", "set_visit_status": "Visit"}


def describe_action(name: str, action_input: Mapping[str, Any], fields: Sequence[str] = ()) -> str:
    """Return the text of an action: `Visit planned`, `Job: in progress`, `Hours rejected: Which job was it?`.

    If a form was saved, the text names the changed fields: `Details edited: due date`.
    """
    outcome, reason = _describe_outcome(name, action_input), action_input.get("reason")
    if fields and outcome.endswith(_ENDINGS_WITH_FIELDS):
        rest = len(fields) - _MAX_FIELDS
        outcome += f": {', '.join(fields[:_MAX_FIELDS])}{f' and {rest} more' if rest > 0 else ''}"
    return f"{outcome}: {_shorten(str(reason))}" if reason else outcome


def changed_field_labels(operation: Operation, changed: Collection[str]) -> list[str]:
    """Return the labels of the input fields that an operation changed. Derived changes are left out."""
    return [label for name, label in _input_labels(operation).items() if name in changed]


@cache
def _input_labels(operation: Operation) -> dict[str, str]:
    model_fields = operation.input.model_fields.items()
    fields = {field.alias or name: field.title or to_label(name) for name, field in model_fields}
    # Lines are changed by the input field `edits`.
    labels = fields | ({"lines": "Lines"} if "edits" in fields else {})
    return {name: label[0].lower() + label[1:] for name, label in labels.items()}


def _describe_outcome(name: str, action_input: Mapping[str, Any]) -> str:
    if name in _STATUS_NOUNS and (status := action_input.get("status")):
        return f"{_STATUS_NOUNS[name]}: {to_label(str(status)).lower()}"
    field, words = DECISION_TEXTS.get(name, ("", {}))
    # Operations that no longer exist are shown by their name.
    return words.get(str(action_input.get(field)), PAST_TEXTS.get(name) or to_label(name))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[:_MAX_LENGTH]}\N{HORIZONTAL ELLIPSIS}"
