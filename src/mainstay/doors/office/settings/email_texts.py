"""Settings → Email texts: the texts of emails to customers, with a preview and a form for the organisation's own."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from mainstay.business.organisation.email_texts import (
    InvoiceMail,
    MailText,
    QuoteMail,
    choose_wording,
    fill_placeholders,
)
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.documents.locales import Locale
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import (
    RESTORED_NOTICE,
    OfficePages,
    OfficeRequest,
    form_version,
    refusal_variables,
    status_of,
)
from mainstay.doors.office.kit.reference_fields import RecordJson
from mainstay.doors.office.settings.document_settings import format_next_number
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import add_marks, merge_changes
from mainstay.doors.pages.form_fields import FormField, form_fields_of, order_faults
from mainstay.doors.pages.rendering import redirect
from mainstay.identity.emails import LINK_MARK
from mainstay.kernel.catalogue import check_permission
from mainstay.vocabulary.permissions import Permissions
from mainstay.vocabulary.refusal import NotFound, Refusal, Stale

PATH = "/settings/mail-texts"


class _EmailKind(NamedTuple):
    """A kind of email: its title, when it is sent, and the model of its text with the placeholders."""

    title: str
    when: str
    model: type[MailText]
    # For the example: the series of its number, and the days until it is due.
    series: str
    days: int


_KINDS = {
    "quote": _EmailKind("Quote", "Sent with a quote.", QuoteMail, "quoteNumbers", 30),
    "invoice": _EmailKind("Invoice", "Sent with an invoice.", InvoiceMail, "invoiceNumbers", 14),
    "reminder": _EmailKind("Reminder", "Sent when an invoice is overdue.", InvoiceMail, "invoiceNumbers", -7),
}


class _EmailContext(NamedTuple):
    """What emails are built from: the organisation, its settings and its current date."""

    organisation: RecordJson
    settings: RecordJson
    today: date

    def own_text(self, kind: str) -> Mapping[str, str] | None:
        """Return the organisation's own text for a kind of email."""
        text: Mapping[str, str] | None = self.settings["mailTexts"][kind]
        return text

    def example_values(self, kind: str) -> dict[str, str]:
        """Return example values of the placeholders."""
        address, currency = self.organisation["address"] or {}, self.organisation["currency"]
        locale = Locale(self.settings["language"], address.get("country"))
        amount = locale.format_money("1190", currency)
        day = locale.format_day((self.today + timedelta(days=_KINDS[kind].days)).isoformat())
        values = {
            "customer": "Ann Boyle",
            "organisation": self.organisation["name"],
            "number": format_next_number(self.settings[_KINDS[kind].series]),
            "title": "New bathroom",
            "total": amount,
            "due": amount,
            "dueOn": day,
            "validUntil": day,
            "link": LINK_MARK,
        }
        return {name: values[name] for name in _KINDS[kind].model.placeholders}


@dataclass(frozen=True, slots=True)
class EmailTextPages:
    """The pages of email texts."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", PATH, signed_in(self.show)),
            Route("GET", f"{PATH}/{{kind}}", signed_in(self.show_form)),
            Route("POST", f"{PATH}/{{kind}}", signed_in(self.save)),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show a preview of every kind of email."""
        context = await self._read_context(request)
        emails = [
            {
                "path": f"{PATH}/{name}",
                "kind": kind,
                "own": context.own_text(name),
                "read": _preview_email(context, name, context.own_text(name)),
            }
            for name, kind in _KINDS.items()
        ]
        can_change = request.can_perform(update_settings)
        return self._render_page(
            request,
            "mail_texts.html",
            context,
            mails=emails,
            may_change=can_change,
            notice=self.office.find_notice(request),
        )

    async def show_form(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show the form for the text of one kind."""
        check_permission(update_settings, request.actor)
        context = await self._read_context(request)
        form_field = _form_field(_kind_of(path_values), request.actor.permissions)
        if request.restored_fields:
            return self._render_form(request, context, form_field, request.restored_fields, notice=RESTORED_NOTICE)
        initial = form_field.to_form_values(context.own_text(path_values["kind"]), request.display)
        return self._render_form(request, context, form_field, add_marks(form_field.parts, initial))

    async def save(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Save the text, return to the usual one, or show a preview."""
        fields = await self.office.read_form(request)
        request = request.with_form_token(fields)
        kind, context = _kind_of(path_values), await self._read_context(request)
        form_field = _form_field(kind, request.actor.permissions)
        if fields.get("do") == "read":
            check_permission(update_settings, request.actor)
            return self._render_form(request, context, form_field, fields)
        answer = None if fields.get("do") == "usual" else form_field.to_input(fields, request.display)
        try:
            await self.office.perform(request, update_settings, {"mailTexts": {kind: answer}}, form_version(fields))
        except Stale:
            merged, conflict = merge_changes(
                form_field.parts, fields, form_field.to_form_values(context.own_text(kind), request.display)
            )
            return self._render_form(
                request, context, form_field, merged | {"version": str(context.settings["version"])}, conflict
            )
        except Refusal as refusal:
            return self._render_form(request, context, form_field, fields, refusal)
        return redirect(f"{PATH}?done={update_settings.name}")

    async def _read_context(self, request: OfficeRequest) -> _EmailContext:
        settings = await self.office.perform(request, get_settings)
        return _EmailContext(await self.office.perform(request, get_organisation), settings, self.office.today(request))

    def _render_form(
        self,
        request: OfficeRequest,
        context: _EmailContext,
        form_field: FormField,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        **variables: Any,
    ) -> Response:
        name, variables = form_field.name.rpartition(".")[2], variables | refusal_variables(refusal)
        typed = {part.name.rpartition(".")[2]: fields.get(part.name, "") for part in form_field.parts}
        return self._render_page(
            request,
            "mail_text.html",
            context,
            status_of(refusal),
            kind=_KINDS[name],
            asked=form_field,
            fields=defaultdict(str, fields),
            own=context.own_text(name),
            version=fields.get("version", context.settings["version"]),
            named=[(f"{{{placeholder}}}", example) for placeholder, example in context.example_values(name).items()],
            usual=choose_wording(name, context.settings["language"], None),
            read=_preview_email(context, name, typed if any(typed.values()) else None),
            ways=order_faults(form_field.parts, variables.get("faults", {})),
            **variables,
        )

    def _render_page(
        self, request: OfficeRequest, template: str, context: _EmailContext, status: int = 200, **variables: Any
    ) -> Response:
        language = context.settings["language"]
        return self.office.render_page(
            template, request, status, area="Settings", link=LINK_MARK, language=language, **variables
        )


def _kind_of(path_values: Mapping[str, str]) -> str:
    if path_values["kind"] not in _KINDS:
        raise NotFound("page")
    return path_values["kind"]


def _form_field(kind: str, rights: Permissions) -> FormField:
    """Return the form field of one kind of email, from the declaration of the settings."""
    texts = next(one for one in form_fields_of(update_settings, rights) if one.name == "mailTexts")
    return next(part for part in texts.parts if part.name == f"{texts.name}.{kind}")


def _preview_email(context: _EmailContext, kind: str, own_text: Mapping[str, str] | None) -> dict[str, Any]:
    """Return a preview of an email with this text, or with the usual one."""
    words, values = choose_wording(kind, context.settings["language"], own_text), context.example_values(kind)
    # The button is shown between the parts of the text.
    parts = fill_placeholders(words.text, values).split(LINK_MARK)
    return {"subject": fill_placeholders(words.subject, values), "parts": parts, "button": words.button}
