"""Shared services of all office pages: recognise the visitor, perform operations, render pages and refusals."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, overload
from urllib.parse import urlencode

import orjson
from markupsafe import Markup

from mainstay.business.assistant.operations import list_conversations
from mainstay.business.organisation.assistant_settings import AssistantSource
from mainstay.business.records.history import get_history
from mainstay.business.records.model import HistoryEntryOut
from mainstay.business.records.undo import MAX_CHANGES, undo_change
from mainstay.changes.idempotency import Answer
from mainstay.doors.document_answers import DocumentAnswers
from mainstay.doors.file_intake import count_upload
from mainstay.doors.http import Headers, Request, Response
from mainstay.doors.office.kit import navigation
from mainstay.doors.office.kit.form_changes import find_form_changes
from mainstay.doors.office.kit.navigation import Area
from mainstay.doors.office.kit.related_lists import ListedKind
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import View
from mainstay.doors.pages.field_labels import duration_fields_of, field_label, labels_of
from mainstay.doors.pages.form_fields import FormField, id_field_of
from mainstay.doors.pages.forms import FormTooLong, query_parameters, take_once_token
from mainstay.doors.pages.interrupted_forms import NOT_STORED
from mainstay.doors.pages.message_format import PageFormat, problem_sentence
from mainstay.doors.pages.one_time_secrets import OneTimeSecrets
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.doors.pages.rendering import render_template
from mainstay.doors.pages.session import TYPED_PARAMETER, Visitor, Visitors
from mainstay.doors.pages.uploads import UploadedFile, UploadLimit
from mainstay.identity.secrets import hash_secret
from mainstay.identity.sign_in import InvalidLink, WrongCredentials
from mainstay.kernel.catalogue import Catalogue, check_permission, is_permitted
from mainstay.kernel.context import PreviewedEmail, RequestDetails
from mainstay.kernel.operation import Operation, OperationReturning
from mainstay.kernel.perform import Performer
from mainstay.kernel.preview import PreviewDiffers
from mainstay.values.choices import label_in_text
from mainstay.values.ids import is_id
from mainstay.values.message import Message, RenderedText, ShownMessage
from mainstay.values.moments import local_date
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.list_queries import COUNT_LIMIT
from mainstay.vocabulary.refusal import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    Lapsed,
    NotFound,
    Refusal,
    Stale,
    TooManyRequests,
)
from mainstay.vocabulary.schemas import Output, RecordPage

A = TypeVar("A")
R = TypeVar("R", bound=Output)

FormValues = Mapping[str, str]
NO_INPUT: Mapping[str, object] = MappingProxyType({})
NO_RECORDS: Mapping[str, int] = MappingProxyType({})
# Uploads per organisation and hour. The limit exists because files shown on documents are kept forever.
FILES_AN_HOUR = 60

# A page for someone signed in. The mapping holds the values of the `{…}` parts of its path.
OfficeView = Callable[["OfficeRequest", Mapping[str, str]], Awaitable[Response]]

_STATUSES: dict[type[Refusal], int] = {
    Lapsed: 402,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    InvalidLink: 410,
    FormTooLong: 413,
    Stale: 409,
    Invalid: 422,
    # A failed sign-in: its form is shown again.
    WrongCredentials: 422,
    TooManyRequests: 429,
}

# Notices of actions that are not operations on records. The address carries only the key.
NOTICES = {
    "password": "Password changed. You've been signed out everywhere else.",
    "ended": "Signed out on that device.",
    "others-ended": "Signed out everywhere else.",
    "reset": "Password changed. Sign in with your new password.",
    "signed-out": "You've signed out.",
    "unchanged": "No changes to save.",
}


@dataclass(frozen=True)
class OfficeRequest:
    """A request by a person of an organisation."""

    http_request: Request
    visitor: Visitor
    actor: Actor
    # The token of the sent form, so that sending it twice counts once.
    once_token: str | None = None
    # What the person had typed on this page when their session ended.
    restored_fields: Mapping[str, str] = field(default_factory=dict)
    # The uploaded files by field. They are removed when the request ends.
    uploaded_files: dict[str, list[UploadedFile]] = field(default_factory=dict)
    # The entries of the history that the notice of this page tells, if the changes can be undone.
    undoable_changes: Sequence[HistoryEntryOut] = ()

    def with_form_token(self, fields: dict[str, str]) -> "OfficeRequest":
        """Return the request with the token of its form, which is removed from the fields."""
        return replace(self, once_token=take_once_token(fields))

    def build_request_details(self, action: str, version: int | None = None) -> RequestDetails:
        """Return the request info of one action of the form. Its name and the token make the idempotency key."""
        key = f"form {action} {hash_secret(self.once_token)}" if self.once_token else None
        return RequestDetails(self.http_request.id, None if version is None else frozenset({version}), key)

    @property
    def time_zone(self) -> str:
        """The time zone of the person."""
        return self.visitor.membership.time_zone if self.visitor.membership else "UTC"

    @cached_property
    def display(self) -> DisplaySettings:
        """The time zone, country and currency by which values are formatted for the person."""
        membership = self.visitor.membership
        return (
            DisplaySettings(membership.time_zone, membership.country, membership.currency, current_language())
            if membership
            else DisplaySettings(self.time_zone, language=current_language())
        )

    def can_perform(self, operation: Operation) -> bool:
        """Return whether the person may perform an operation now."""
        return is_permitted(operation, self.actor)

    def usable_areas(self, areas: Sequence[Area]) -> list[Area]:
        """Return the areas that the person can use."""
        return [
            area
            for area in areas
            if (area.operation is None or self.can_perform(area.operation))
            and (area.permission is None or self.actor.can(area.permission))
            and (not area.areas or self.usable_areas(area.areas))
        ]


class DoneOperation(NamedTuple):
    """What was just done, as the address of the next page says: an operation, to how many records, and how."""

    name: str
    record_count: int = 1
    # What else names it, if an operation has several actions for selected records.
    variant: str = ""

    @classmethod
    def parse(cls, text: str) -> "DoneOperation":
        """Parse it: `archive_customer`, `archive_customer 3` or `save_supplier 3 archived`."""
        name, _, rest = text.partition(" ")
        count, _, variant = rest.partition(" ")
        return cls(name, int(count), variant) if re.fullmatch("[1-9][0-9]?", count) else cls(name)

    def __str__(self) -> str:
        return f"{self.name} {self.record_count} {self.variant}".rstrip()


class Preview(NamedTuple):
    """What an irreversible operation would do, or every reason against it."""

    summary: str
    effects: Sequence[str]
    warnings: Sequence[str]
    blockers: Sequence[str]
    # The operations that help, each with its record, and whether it is done instead.
    unblocking_actions: Sequence[tuple[str, str | None, bool]]
    # The token that the form sends back, so that nothing is done if the preview would differ then.
    token: str | None
    # That it differs from the one that the person has confirmed.
    notice: str
    # The email that would be sent; its sentences are the last effects.
    email: PreviewedEmail | None = None
    # The warnings before they were rendered.
    warning_messages: Sequence[Message | str] = ()

    @property
    def status(self) -> int:
        """The HTTP status of its page."""
        return 409 if self.notice else 200

    @property
    def other_effects(self) -> Sequence[str]:
        """The effects besides the email."""
        return self.effects[: len(self.effects) - len(self.email.describe())] if self.email else self.effects

    @property
    def fingerprint(self) -> str:
        """What identifies all that it says, besides the email and what is in its way."""
        return hashlib.sha256(orjson.dumps([self.summary, *self.other_effects, self.warnings])).hexdigest()


@dataclass(frozen=True)
class OfficePages:
    """What all office pages use: sign-in checks, operations, forms, files and rendering."""

    visitors: Visitors
    # The lists of related records on the pages of each kind, by the prefix of its ids.
    related_lists: Mapping[str, Sequence[ListedKind]] = field(default_factory=dict)
    # Whether the operator has set up a model for the assistant.
    has_model: bool = False

    @property
    def one_time_secrets(self) -> OneTimeSecrets:
        """The carrier of secrets that are shown once, on the page after the form that created them."""
        return OneTimeSecrets(self.visitors)

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue of all operations."""
        return self.visitors.performer.catalogue

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """All operations by name."""
        return {operation.name: operation for operation in self.catalogue.operations}

    def require_sign_in(self, view: OfficeView) -> View:
        """Wrap a page so that it needs a signed-in person of an organisation. Others are sent to sign in."""

        async def guarded(request: Request, path_values: Mapping[str, str]) -> Response:
            visitor = await self.visitors.find_visitor(request)
            if visitor is None:
                return await self.visitors.redirect_to_sign_in(request)
            if visitor.actor is None:
                return render_template("no_organisation.html", 403, visitor=visitor, csrf=visitor.csrf)
            office_request = OfficeRequest(
                request, visitor, visitor.actor, restored_fields=await self._find_restored_fields(request, visitor)
            )
            try:
                changes = await self._find_undoable_changes(office_request)
                return await view(replace(office_request, undoable_changes=changes), path_values)
            except Stale as stale:
                # The address of an operation on a record is below that of the record.
                return self.render_refusal(office_request, stale, _RECORD_CHANGED, back=request.path.rpartition("/")[0])
            except Refusal as refusal:
                return self.render_refusal(
                    office_request, refusal, PageFormat(office_request.display).render(refusal.message or refusal.text)
                )
            finally:
                for file in chain.from_iterable(office_request.uploaded_files.values()):
                    file.path.unlink(missing_ok=True)

        return guarded

    async def _find_undoable_changes(self, request: OfficeRequest) -> Sequence[HistoryEntryOut]:
        """Return what the person's last form changed, if the page tells of it and all of it can be undone."""
        done = DoneOperation.parse(query_parameters(request.http_request).get("done", ""))
        operation = self.operations.get(done.name)
        if request.http_request.method != "GET" or not (
            operation and operation.undone_by and request.can_perform(undo_change)
        ):
            return ()
        entries = (await self.perform(request, get_history, {"limit": MAX_CHANGES + 1})).data
        return find_form_changes(entries, operation.name, self.visitors.performer.clock())

    async def _find_restored_fields(self, request: Request, visitor: Visitor) -> Mapping[str, str]:
        """Return what was typed on a page when the session ended. A form that is sent again carries its own fields."""
        ticket = query_parameters(request).get(TYPED_PARAMETER, "") if request.method in {"GET", "HEAD"} else ""
        return await self.visitors.interrupted_forms.find(ticket, visitor.account)

    @overload
    async def perform(
        self,
        request: OfficeRequest,
        operation: OperationReturning[A],
        operation_input: Mapping[str, object] = NO_INPUT,
        version: int | None = None,
        expected_versions: Mapping[str, int] = NO_RECORDS,
    ) -> A: ...
    @overload
    async def perform(
        self,
        request: OfficeRequest,
        operation: Operation,
        operation_input: Mapping[str, object] = NO_INPUT,
        version: int | None = None,
        expected_versions: Mapping[str, int] = NO_RECORDS,
    ) -> Any: ...
    async def perform(
        self,
        request: OfficeRequest,
        operation: Operation,
        operation_input: Mapping[str, object] = NO_INPUT,
        version: int | None = None,
        expected_versions: Mapping[str, int] = NO_RECORDS,
    ) -> Any:
        """Perform an operation as this person, on the versions of the records they saw. Return its typed answer.

        If the same form was sent before, nothing is done again, and the stored answer is returned.
        """
        details = request.build_request_details(operation.name, version)._replace(expected_versions=expected_versions)
        return operation.parse_answer((await self.perform_request(request, operation, operation_input, details)).body)

    async def preview(
        self, request: OfficeRequest, operation: Operation, operation_input: Mapping[str, object]
    ) -> Preview:
        """Return what an irreversible operation would do, without confirming it."""
        details = request.build_request_details(operation.name)
        return read_preview(await self.perform_request(request, operation, operation_input, details))

    async def preview_or_perform(
        self,
        request: OfficeRequest,
        operation: OperationReturning[A],
        operation_input: Mapping[str, object],
        fields: FormValues,
    ) -> A | Preview:
        """Return the preview of an operation, or perform it if the form confirms what its page showed."""
        confirmation = confirmation_input(fields)
        if not confirmation:
            return await self.preview(request, operation, operation_input)
        try:
            return await self.perform(request, operation, {**operation_input, **confirmation})
        except PreviewDiffers as refusal:
            return read_preview(refusal.preview, refusal.text)

    async def dry_run(
        self, request: OfficeRequest, operation: OperationReturning[A], operation_input: Mapping[str, object]
    ) -> A:
        """Return what an operation would answer: it is performed and rolled back."""
        message_format = self._message_format(request, operation)
        details = RequestDetails(request.http_request.id, message_format=message_format)
        raw = orjson.dumps(dict(operation_input))
        try:
            body = await self.visitors.runner.run_change(
                request.actor.organisation, self._dry_run, request, operation, raw, details
            )
        except Refusal as refusal:
            raise self.translate_refusal(request, operation, refusal) from None
        return operation.read_answer(body)

    async def list_records(
        self,
        request: OfficeRequest,
        operation: OperationReturning[RecordPage[R]],
        operation_input: Mapping[str, object],
    ) -> RecordPage[R]:
        """Return a page of a list whose records name the actions that this person can take."""
        details = RequestDetails(request.http_request.id, with_actions=True)
        return operation.read_answer((await self.perform_request(request, operation, operation_input, details)).body)

    async def count_records(
        self, request: OfficeRequest, operation: Operation, operation_input: Mapping[str, object]
    ) -> int:
        """Return how many records a list has. Counting stops at a limit."""
        details = RequestDetails(request.http_request.id, with_actions=True)
        answer = await self.perform_request(request, operation, {**operation_input, "limit": 1}, details)
        count: int = orjson.loads(answer.body).get("count", 0)
        return count

    def perform_with(
        self,
        performer: Performer,
        request: OfficeRequest,
        operation: Operation,
        operation_input: Mapping[str, object],
        details: RequestDetails,
    ) -> Answer:
        """Perform an operation as this person with a performer, such as that of a batch, in the current thread."""
        details = details._replace(message_format=self._message_format(request, operation))
        try:
            return performer.perform(operation, request.actor, orjson.dumps(dict(operation_input)), details)
        except Refusal as refusal:
            raise self.translate_refusal(request, operation, refusal) from None

    def _dry_run(self, request: OfficeRequest, operation: Operation, raw: bytes, details: RequestDetails) -> bytes:
        with self.visitors.performer.open_batch(request.actor.organisation, commit=False) as batch:
            return batch.perform(operation, request.actor, raw, details).body

    async def perform_request(
        self,
        request: OfficeRequest,
        operation: Operation,
        operation_input: Mapping[str, object],
        details: RequestDetails,
    ) -> Answer:
        """Perform an operation as the actor of a request, with these details, and return its answer."""
        runner, performer = self.visitors.runner, self.visitors.performer
        details = details._replace(message_format=self._message_format(request, operation))
        try:
            return await runner.perform(
                performer, operation, request.actor, orjson.dumps(dict(operation_input)), details
            )
        except Refusal as refusal:
            raise self.translate_refusal(request, operation, refusal) from None

    def translate_refusal(self, request: OfficeRequest, operation: Operation, refusal: Refusal) -> Refusal:
        """Render a refusal for the person. Each fault stays assigned to its field."""
        message_format = self._message_format(request, operation)
        if isinstance(refusal, Invalid) and any(fault.field == "Idempotency-Key" for fault in refusal.faults):
            return Conflict(message_format.render(_SENT_BEFORE))
        if not isinstance(refusal, Invalid):
            refusal.message = message_format.render(refusal.message)
            return refusal
        labels, durations = labels_of(operation.input), duration_fields_of(operation.input)
        problems = [
            (fault.field, message_format.render_problem(fault.message, is_duration=fault.field in durations))
            for fault in refusal.faults
        ]
        sentences = [problem_sentence(field_label(field, labels), problem) for field, problem in problems]
        return Invalid([Fault(field, problem) for field, problem in problems], RenderedText(" ".join(sentences)))

    def _message_format(self, request: OfficeRequest, operation: Operation) -> PageFormat:
        """Return how the messages of an operation are rendered for the person."""
        return PageFormat(request.display, labels_of(operation.input))

    async def read_form(self, request: OfficeRequest, form_fields: Sequence[FormField] = ()) -> dict[str, str]:
        """Return the text fields of a sent form, and receive the files of its file fields."""
        limits = {field.name: UploadLimit(field.upload.max_bytes) for field in form_fields if field.upload}
        if limits:
            return await self.read_form_with_files(request, limits)
        return await self.visitors.read_long_form(request.http_request, request.visitor)

    async def read_form_with_files(self, request: OfficeRequest, limits: Mapping[str, UploadLimit]) -> dict[str, str]:
        """Return the text fields of a sent form, and receive its files within the limits of each field."""
        return await self.visitors.read_form_with_files(
            request.http_request, request.visitor, limits, request.uploaded_files
        )

    async def store_files(self, request: OfficeRequest, form_fields: Sequence[FormField]) -> dict[str, object]:
        """Store the received files. Return their stored names and sizes, by input field."""
        stored: dict[str, object] = {}
        for form_field in form_fields:
            if form_field.upload and form_field.name in request.uploaded_files:
                await self.count_upload(request, "files")
                [file] = request.uploaded_files[form_field.name]
                store = partial(self.visitors.store_picture, form_field.name, file.path, form_field.upload.max_side)
                name, size = await self.visitors.runner.run_content_work(request.actor.organisation, store)
                stored |= {form_field.name: name, form_field.upload.size_field: size}
        return stored

    async def serve_file(
        self, request: OfficeRequest, operation: Operation, shared_input: Mapping[str, object]
    ) -> Response:
        """Return the file that an operation answers with. The query of the address holds its other input."""
        names = {field.alias or name for name, field in operation.input.model_fields.items()} - shared_input.keys()
        parameters = {name: text for name, text in query_parameters(request.http_request).items() if name in names}
        document_answers = DocumentAnswers(self.visitors.performer, self.visitors.runner, self.visitors.files)
        return await document_answers.answer(
            operation,
            request.actor,
            orjson.dumps({**shared_input, **parameters}),
            RequestDetails(request.http_request.id),
        )

    async def count_upload(self, request: OfficeRequest, counter: str) -> None:
        """Count an upload. Raise TooManyRequests if the organisation has uploaded too many within an hour."""
        await count_upload(self.visitors.rate_limits, request.actor.organisation, counter, FILES_AN_HOUR)

    def render_page(
        self, template: str, request: OfficeRequest, status: int = 200, *, headers: Headers = (), **shown: Any
    ) -> Response:
        """Render a page within the office's layout."""
        groups = [request.usable_areas(group) for group in navigation.SIDEBAR_GROUPS]
        if request.undoable_changes and shown.get("notice"):
            label = request.display.language.translate("Undo")
            button = Markup('<button class="slim" type="submit" form="undo">{}</button>').format(label)
            shown["notice"] = Markup("{} {}").format(shown["notice"], button)
        tabs = navigation.OFFICE_TABS if request.actor.can(navigation.OFFICE_PERMISSION) else navigation.FIELD_TABS
        return render_template(
            template,
            status,
            headers=headers,
            visitor=request.visitor,
            actor=request.actor,
            may=request.can_perform,
            path_of=self.path_of,
            csrf=request.visitor.csrf,
            undo_changes=" ".join(change.id for change in request.undoable_changes),
            undo_path=_path_without_notice(request.http_request),
            can_undo=request.can_perform(undo_change),
            zone=request.time_zone,
            here=request.display,
            groups=[group for group in groups if group],
            phone_tabs=request.usable_areas(tabs)[: navigation.MAX_TABS],
            search_area=navigation.SEARCH_AREA,
            lost=query_parameters(request.http_request).get(TYPED_PARAMETER) == NOT_STORED
            and request.http_request.method in {"GET", "HEAD"},
            settings_areas=request.usable_areas(navigation.SETTINGS_AREAS),
            developer_areas=request.usable_areas(navigation.DEVELOPER_AREAS),
            purchasing_areas=request.usable_areas(navigation.PURCHASING_AREAS),
            new=request.usable_areas(navigation.NEW_MENU),
            account_areas=request.usable_areas(navigation.ACCOUNT_AREAS),
            can_export=request.actor.can(navigation.EXPORT_PERMISSION),
            ask_path=self._ask_path(request),
            **shown,
        )

    def has_assistant(self, request: OfficeRequest) -> bool:
        """Return whether the person can ask the assistant: their role allows it, and there is a model."""
        membership = request.visitor.membership
        source = membership.assistant_source if membership else AssistantSource.OFF
        has_model = source == AssistantSource.OWN or (source == AssistantSource.INSTALLATION and self.has_model)
        return has_model and request.can_perform(list_conversations)

    def _ask_path(self, request: OfficeRequest) -> str:
        """Return the address to ask the assistant, about the record of this page if it shows one; empty without it."""
        if not self.has_assistant(request):
            return ""
        parts = request.http_request.path.split("/")
        record = next((part for part in parts if is_id(part, part.partition("_")[0])), "")
        is_known = record.partition("_")[0] in self.catalogue.kinds
        return f"/assistant?record={record}" if is_known else "/assistant"

    def render_refusal(self, request: OfficeRequest, refusal: Refusal, text: ShownMessage, back: str = "") -> Response:
        """Render a page that shows a refusal."""
        title = _refusal_title(refusal)
        explanation = _explain_missing_record(refusal, text) or _explain_missing_access(request, refusal)
        if explanation:
            text = PageFormat(request.display).render(explanation)
        return self.render_page("refused.html", request, status_of(refusal), title=title, text=text, back=back, area="")

    def path_of(self, record_id: str) -> str:
        """Return the address of a record's page by its id."""
        prefix = record_id.partition("_")[0]
        if prefix not in self.catalogue.kinds or not is_id(record_id, prefix):
            raise NotFound("record")
        return self.catalogue.kinds[prefix].path_of(record_id)

    def find_get_operation(self, record_id: str) -> Operation:
        """Return the operation that gets a record, by its id."""
        prefix = record_id.partition("_")[0]
        if prefix not in self.catalogue.get_operations or not is_id(record_id, prefix):
            raise NotFound("record")
        return self.catalogue.get_operations[prefix]

    async def get_record(self, request: OfficeRequest, record_id: str) -> Any:
        """Return a record by its id."""
        get_operation = self.find_get_operation(record_id)
        return await self.perform(request, get_operation, id_input_of(get_operation, record_id))

    def today(self, request: OfficeRequest) -> date:
        """Return today's date in the person's time zone."""
        return local_date(self.visitors.performer.clock(), request.time_zone)

    def find_notice(self, request: OfficeRequest) -> str | None:
        """Return the notice of what was just done, for the page after it."""
        key = query_parameters(request.http_request).get("done", "")
        operation = self.operations.get(DoneOperation.parse(key).name)
        notice = operation.done_message if operation else NOTICES.get(key)
        return request.display.language.translate(notice) if notice else None


_SENT_BEFORE = Message(
    "This form was already sent with different content, so nothing was saved now. Check it, then send it again."
)
RESTORED_NOTICE = "You're signed in again, and the form is as you left it. Nothing has been saved yet."
_RECORD_CHANGED = Message("Someone else changed this after you opened it, so nothing was saved.")


def _path_without_notice(request: Request) -> str:
    """Return the path and the query of a page, without the notice of what was just done."""
    query = {name: value for name, value in query_parameters(request).items() if name != "done"}
    return f"{request.path}?{urlencode(query)}" if query else request.path


def _refusal_title(refusal: Refusal) -> str:
    """Return the title of a page that shows a refusal."""
    if isinstance(refusal, NotFound):
        return translate_text("Not found")
    if isinstance(refusal, Forbidden):
        return translate_text("No access")
    if isinstance(refusal, Stale):
        return translate_text("Not changed")
    return translate_text("Something needs attention")


def _explain_missing_record(refusal: Refusal, text: ShownMessage) -> Message | None:
    """Return the message for a missing record. The refusal itself names an id, which means nothing to people."""
    if not isinstance(refusal, NotFound) or text != refusal.text:
        return None
    return Message(
        "{record} not found. It may have been deleted, or you don't have access.",
        record=Message.from_template(refusal.label.capitalize()),
    )


def _explain_missing_access(request: OfficeRequest, refusal: Refusal) -> Message | None:
    """Return the message for an area that the person cannot use at all."""
    area = navigation.find_area(request.http_request.path) if isinstance(refusal, Forbidden) else None
    if area is None or request.usable_areas([area]):
        return None
    return Message(
        "You don't have access to {area}. Ask an owner or admin.",
        area=label_in_text(current_language().translate(area.name)),
    )


def id_input_of(operation: Operation, record_id: str) -> dict[str, object]:
    """Return the id of a record under the input name of an operation. Empty if there is only one such record."""
    id_field = id_field_of(operation)
    if id_field is None:
        return {}
    return {
        operation.input.model_fields[id_field].alias or id_field: [record_id]
        if id_field.endswith("_ids")
        else record_id
    }


def read_preview(answer: Answer, notice: str = "") -> Preview:
    """Return a preview. The notice says that it differs from the one that the person has confirmed."""
    values = orjson.loads(answer.body)
    return Preview(
        values["summary"],
        values["effects"],
        values["warnings"],
        values["blockers"],
        answer.unblocking_actions,
        values.get("previewToken"),
        notice,
        PreviewedEmail(**values["email"]) if values["email"] else None,
        answer.warnings,
    )


def confirmation_input(fields: FormValues) -> dict[str, object]:
    """Return the input that confirms what a page showed, if the form does."""
    if fields.get("confirmed") != "yes":
        return {}
    token = fields.get("previewToken")
    return {"confirmed": True, **({"previewToken": token} if token else {})}


# The page to return to after a form, if that is not the page of its record.
BACK_FIELD = "back"
_PATH_BACK = re.compile(r"(/[a-zA-Z0-9_-]+)+")


def path_back(fields: FormValues) -> str:
    """Return the path of the page to which one returns after a form, or an empty text."""
    path = fields.get(BACK_FIELD, "")
    return path if _PATH_BACK.fullmatch(path) else ""


def format_count(count: int) -> str:
    """Format a number of records: `99+` if counting has stopped at the limit."""
    return str(count) if count < COUNT_LIMIT else f"{COUNT_LIMIT - 1}+"


def refusal_variables(refusal: Refusal | None) -> dict[str, Any]:
    """Return the template variables of a refusal: a fault for each field, or one problem for the form."""
    # What operations refuse was rendered with the formats of the organisation; what pages refuse needs none.
    page_format = PageFormat(DisplaySettings("UTC", language=current_language()))
    if isinstance(refusal, Invalid):
        return {"faults": _faults_by_field(refusal, page_format)}
    return {"problem": page_format.render(refusal.message)} if refusal else {}


def _faults_by_field(refusal: Invalid, page_format: PageFormat) -> dict[str, str]:
    """Return the faults by form field. A fault within a list or a nested value belongs to the field around it."""
    return {_form_field_of(fault.field): page_format.render_problem(fault.message) for fault in refusal.faults}


def _form_field_of(path: str) -> str:
    """Return the form field of a fault's path. Rows of a list have fields of their own, time ranges do not."""
    names = path.split(".")
    number = next((position for position, name in enumerate(names) if name.isdecimal()), len(names))
    is_in_row = (number, len(names)) == (1, 3)
    return path if is_in_row else ".".join(names[:number])


def status_of(refusal: Refusal | None) -> int:
    """Return the HTTP status of a page that shows a refusal."""
    if refusal is None:
        return 200
    return next((_STATUSES[kind] for kind in type(refusal).__mro__ if kind in _STATUSES), 400)


def form_version(fields: Mapping[str, str]) -> int | None:
    """Return the version of the record that the form was opened on, or None."""
    return parse_version(fields.get("version", ""))


def parse_version(text: str) -> int | None:
    """Parse a version of a record from a form, or return None."""
    return int(text) if text.isdecimal() and len(text) < _MAX_VERSION_DIGITS else None


_MAX_VERSION_DIGITS = 16


def check_form_access(request: OfficeRequest, operation: Operation) -> Lapsed | None:
    """Refuse to show the form of an operation that the person may not perform.

    Exception: if the subscription has lapsed and the person is coming back to what they typed, return the refusal
    instead, so that the form can show it.
    """
    try:
        check_permission(operation, request.actor)
    except Lapsed as lapsed:
        if not request.restored_fields:
            raise
        return lapsed
    return None
