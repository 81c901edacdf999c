"""Every change can be tried: a dry run says what would happen and leaves every row as it was."""

from typing import Any

import orjson

from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from rules.doers import CHANGES, actor_for
from rules.every import for_each
from rules.examples import DryRun
from support.stored_state import read_rows_of

PREVIEW_FIELDS = {"object", "operation", "summary", "effects", "warnings", "blockers", "email"}


def test_a_dry_run_of_each_change_answers_a_preview_and_changes_no_row(dry_run: DryRun) -> None:
    samples = dry_run.open
    performer = samples.cast.performer
    # Some actors need a link, which is stored.
    attempts = [
        (operation, actor_for(samples, operation), orjson.dumps(samples.example_input(operation)))
        for operation in CHANGES
    ]
    before = read_rows_of(samples.cast)
    for operation, actor, given in attempts:
        details = RequestDetails(new_id("req"), idempotency_key=f"once {operation.name}", dry_run=True)
        answer = performer.perform(operation, actor, given, details)
        preview: dict[str, Any] = orjson.loads(answer.body)
        assert answer.is_preview
        token = {"previewToken"} if operation.is_irreversible else set()
        assert preview.keys() == PREVIEW_FIELDS | token
        assert (preview["object"], preview["operation"]) == ("preview", operation.name)
        assert preview["summary"]
        assert preview["blockers"] == []
    assert read_rows_of(samples.cast) == before


@for_each([operation for operation in CHANGES if operation.is_irreversible])
def test_what_a_preview_showed_is_done_with_its_token(dry_run: DryRun, operation: Operation) -> None:
    actor, given = actor_for(dry_run.open, operation), dry_run.open.example_input(operation)
    del given["confirmed"]
    shown = orjson.loads(dry_run.performer.perform(operation, actor, orjson.dumps(given), RequestDetails("r")).body)
    given |= {"confirmed": True, "previewToken": shown["previewToken"]}
    done = dry_run.performer.perform(operation, actor, orjson.dumps(given), RequestDetails("r"))
    assert not done.is_preview
