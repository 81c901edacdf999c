"""Order of the actions of a draft document: add lines first, then send it."""

from collections.abc import Sequence

from mainstay.doors.office.kit.record_layout import Action, RecordLayout, has_priced_lines, mark_next_step
from mainstay.doors.office.kit.reference_fields import AnyRecord


def order_draft_actions(layout: RecordLayout, record: AnyRecord, actions: Sequence[Action]) -> list[Action]:
    """Put the next step of a draft first: adding lines if there are none, otherwise sending it.

    The actions of a document that was sent already keep their order.
    """
    if layout.send_operation is None or layout.send_operation.name not in record.available_actions:
        return list(actions)
    send_path = layout.operation_path(layout.send_operation, record)
    if not has_priced_lines(record):
        return mark_next_step([layout.line_editor_action(record), *actions])
    # Not marked as irreversible, because the button only leads to the preview.
    first = [action._replace(is_dangerous=False) for action in actions if action.path == send_path]
    return mark_next_step([*first, *(action for action in actions if action.path != send_path)])
