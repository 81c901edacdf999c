"""Previews: what an operation would do, and a token that binds its confirmation to exactly that."""

import binascii
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson

from mainstay.changes.idempotency import Answer
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Operation
from mainstay.values.message import FieldName, Message
from mainstay.vocabulary.refusal import Blocked, Conflict, Reason, find_unblocking_actions
from mainstay.vocabulary.schemas import Input, IrreversibleInput

TOKEN_LIFETIME = timedelta(hours=24)
_EXPIRY_BYTES = 8


class PreviewDiffers(Conflict):
    """The operation was confirmed with the token of a preview in which something would differ now."""

    def __init__(self, preview: Answer) -> None:
        super().__init__(Message("Something has changed since the preview, so nothing was done. Check it again."))
        # What would happen now.
        self.preview = preview


@dataclass(frozen=True, slots=True)
class PreviewMaker:
    """Makes previews. The token of one is a signature, so that nothing is stored for it."""

    load_secret: Callable[[], bytes] = field(repr=False)

    def make_preview(self, ctx: Context, operation: Operation, given: Input, reasons: Sequence[Reason]) -> Answer:
        """Return what an operation that was just tried would do, or every reason against it."""
        content = _describe(ctx, operation, reasons)
        if isinstance(given, IrreversibleInput) or ctx.needs_person:
            expiry = int((ctx.now + TOKEN_LIFETIME).timestamp()).to_bytes(_EXPIRY_BYTES)
            content["previewToken"] = self._sign(_bind(ctx, given, content), expiry)
        return Answer(
            orjson.dumps(content),
            is_preview=True,
            unblocking_actions=find_unblocking_actions(reasons),
            warnings=tuple(ctx.warnings),
        )

    def check_token(
        self, token: str, ctx: Context, operation: Operation, given: Input, reasons: Sequence[Reason]
    ) -> None:
        """Refuse a token unless the preview of the operation that was just tried would have the same content."""
        bound = _bind(ctx, given, _describe(ctx, operation, reasons))
        try:
            expiry = urlsafe_b64decode(token)[:_EXPIRY_BYTES]
        except (binascii.Error, ValueError):
            expiry = b""
        is_genuine = hmac.compare_digest(token.encode(), self._sign(bound, expiry).encode())
        if not is_genuine or int.from_bytes(expiry) <= ctx.now.timestamp():
            raise PreviewDiffers(self.make_preview(ctx, operation, given, reasons))

    def _sign(self, bound: bytes, expiry: bytes) -> str:
        key = hmac.digest(self.load_secret(), b"preview", hashlib.sha256)
        return urlsafe_b64encode(expiry + hmac.digest(key, expiry + bound, hashlib.sha256)).decode()


def reasons_of(conflict: Conflict) -> Sequence[Reason]:
    """Return the reasons against an operation that was refused because of the current state of the data."""
    return conflict.reasons if isinstance(conflict, Blocked) else (Reason(conflict.message),)


def summarize_by_title(operation: Operation) -> Message:
    """Return the summary of a preview if the operation has none of its own."""
    return Message("{action}.", action=Message.from_template(operation.title))


def _describe(ctx: Context, operation: Operation, reasons: Sequence[Reason]) -> dict[str, Any]:
    render = ctx.request.message_format.render
    # The effects of an irreversible operation are complete.
    changed_fields = {} if operation.is_irreversible else ctx.writer.changed_fields
    changes = [
        Message("{record} will be changed: {fields}.", fields=[*map(FieldName, fields)], record=record)
        for record, fields in changed_fields.items()
        if fields
    ]
    named_events = ctx.events if ctx.request.message_format.shows_events else ()
    events = [Message("Webhook event: {event}", event=event.__doc__ or event.name) for event in named_events]
    return {
        "object": "preview",
        "operation": operation.name,
        "summary": render(ctx.summary or summarize_by_title(operation)),
        "effects": [*map(render, [*changes, *ctx.effects, *(ctx.email.describe() if ctx.email else ()), *events])],
        "warnings": [*map(render, ctx.warnings)],
        "blockers": [render(reason.message) for reason in reasons],
        "email": ctx.email and ctx.email._asdict(),
    }


def _bind(ctx: Context, given: Input, content: dict[str, Any]) -> bytes:
    """Return what a token stands for: the person, the input and the content of the preview."""
    person = ctx.actor.id or ctx.actor.credential
    input_json = given.model_dump_json(by_alias=True, exclude_unset=True, exclude={"confirmed"})
    return orjson.dumps([ctx.db.organisation, person, input_json, content])
