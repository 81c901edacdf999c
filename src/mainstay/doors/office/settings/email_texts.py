"""Settings → Email texts: the texts of emails to customers, with a preview and a form for the organisation's own."""

from collections import defaultdict
from collections.abc import Callable, Mapping
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
from mainstay.business.organisation.model import OrganisationOut
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import Numbering, SettingsOut, get_settings, update_settings
from mainstay.documents.locales import Locale
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, MergedFields, OpenForm, PathValues
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.settings.document_settings import format_next_number
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import add_marks, merge_changes
from mainstay.doors.pages.form_fields import FormField, form_fields_of, order_faults
from mainstay.doors.pages.rendering import redirect
from mainstay.identity.emails import LINK_MARK
from mainstay.kernel.catalogue import check_permission
from mainstay.vocabulary.permissions import Permissions
from mainstay.vocabulary.refusal import NotFound
from mainstay.vocabulary.typed_records import RecordFields

PATH = "/settings/mail-texts"


class _EmailKind(NamedTuple):
    """A kind of email: its title, when it is sent, and the model of its text with the placeholders."""

    title: str
    when: str
    model: type[MailText]
    # For the example: the series of its number, and the days until it is due.
    next_number: Callable[[SettingsOut], Numbering]
    days: int


_KINDS = {
    "quote": _EmailKind("Quote", "Used when you send a quote.", QuoteMail, lambda settings: settings.quote_numbers, 30),
    "invoice": _EmailKind(
        "Invoice", "Used when you send an invoice.", InvoiceMail, lambda settings: settings.invoice_numbers, 14
    ),
    "reminder": _EmailKind(
        "Reminder", "Used when you send a payment reminder.", InvoiceMail, lambda settings: settings.invoice_numbers, -7
    ),
}


class _EmailContext(NamedTuple):
    """What emails are built from: the organisation, its settings and its current date."""

    organisation: OrganisationOut
    settings: SettingsOut
    today: date

    def own_text(self, kind: str) -> Mapping[str, str] | None:
        """Return the organisation's own text for a kind of email."""
        texts = self.settings.mail_texts
        own_text = {"quote": texts.quote, "invoice": texts.invoice, "reminder": texts.reminder}[kind]
        return RecordFields(own_text) if own_text else None

    def example_values(self, kind: str) -> dict[str, str]:
        """Return example values of the placeholders."""
        address, currency = self.organisation.address, self.organisation.currency
        locale = Locale(self.settings.language, address.country if address else None)
        amount = locale.format_money("1190", currency)
        day = locale.format_day((self.today + timedelta(days=_KINDS[kind].days)).isoformat())
        values = {
            "customer": "Ann Boyle",
            "organisation": self.organisation.name,
            "number": format_next_number(_KINDS[kind].next_number(self.settings)),
            "title": "New bathroom",
            "total": amount,
            "due": amount,
            "dueOn": day,
            "validUntil": day,
            "link": LINK_MARK,
        }
        return {name: values[name] for name in _KINDS[kind].model.placeholders}


class _EmailText(NamedTuple):
    """The text of one kind of email, with the form field for it."""

    kind: str
    form_field: FormField
    context: _EmailContext

    def form_values(self, display: DisplaySettings) -> dict[str, str]:
        """Return the organisation's own text as fields of the form."""
        return self.form_field.to_form_values(self.context.own_text(self.kind), display)


@dataclass(frozen=True, slots=True)
class EmailTextPages:
    """The pages of email texts."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", PATH, signed_in(self.show)),
            *Form(
                self.office,
                self._find_subject,
                self._save,
                self._render_form,
                fill_in=self._fill_in,
                merge=self._merge_changes,
                operation=update_settings,
            ).routes(f"{PATH}/{{kind}}"),
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
            can_change=can_change,
            notice=self.office.find_notice(request),
        )

    async def _find_subject(self, request: OfficeRequest, path_values: PathValues) -> _EmailText:
        kind = path_values["kind"]
        if kind not in _KINDS:
            raise NotFound("page")
        return _EmailText(kind, _form_field(kind, request.actor.permissions), await self._read_context(request))

    def _fill_in(self, request: OfficeRequest, text: _EmailText) -> dict[str, str]:
        return add_marks(text.form_field.parts, text.form_values(request.display))

    async def _save(self, form: OpenForm[_EmailText]) -> Response:
        """Save the text, return to the usual one, or show a preview."""
        request, text = form.request, form.subject
        if form.button == "read":
            check_permission(update_settings, request.actor)
            return await self._render_form(form)
        own_text = None if form.button == "usual" else text.form_field.to_input(form.fields, request.display)
        await self.office.perform(request, update_settings, {"mailTexts": {text.kind: own_text}}, form.version)
        return redirect(f"{PATH}?done={update_settings.name}")

    def _merge_changes(self, form: OpenForm[_EmailText]) -> MergedFields:
        text = form.subject
        current = text.form_values(form.request.display)
        merged, conflict = merge_changes(text.form_field.parts, form.fields, current)
        return merged | {"version": str(text.context.settings.version)}, conflict

    async def _read_context(self, request: OfficeRequest) -> _EmailContext:
        settings = await self.office.perform(request, get_settings)
        return _EmailContext(await self.office.perform(request, get_organisation), settings, self.office.today(request))

    async def _render_form(self, form: OpenForm[_EmailText]) -> Response:
        kind, form_field, context = form.subject
        typed = {part.name.rpartition(".")[2]: form.fields.get(part.name, "") for part in form_field.parts}
        return self._render_page(
            form.request,
            "mail_text.html",
            context,
            form.status,
            kind=_KINDS[kind],
            form_field=form_field,
            fields=defaultdict(str, form.fields),
            own=context.own_text(kind),
            version=form.fields.get("version", context.settings.version),
            named=[(f"{{{placeholder}}}", example) for placeholder, example in context.example_values(kind).items()],
            usual=choose_wording(kind, context.settings.language, None),
            read=_preview_email(context, kind, typed if any(typed.values()) else None),
            fault_links=order_faults(form_field.parts, form.faults),
            **form.variables,
        )

    def _render_page(
        self, request: OfficeRequest, template: str, context: _EmailContext, status: int = 200, **variables: Any
    ) -> Response:
        language = context.settings.language
        return self.office.render_page(
            template, request, status, area="Settings", link=LINK_MARK, language=language, **variables
        )


def _form_field(kind: str, rights: Permissions) -> FormField:
    """Return the form field of one kind of email, from the declaration of the settings."""
    texts = next(one for one in form_fields_of(update_settings, rights) if one.name == "mailTexts")
    return next(part for part in texts.parts if part.name == f"{texts.name}.{kind}")


def _preview_email(context: _EmailContext, kind: str, own_text: Mapping[str, str] | None) -> dict[str, Any]:
    """Return a preview of an email with this text, or with the usual one."""
    words, values = choose_wording(kind, context.settings.language, own_text), context.example_values(kind)
    # The button is shown between the parts of the text.
    parts = fill_placeholders(words.text, values).split(LINK_MARK)
    return {"subject": fill_placeholders(words.subject, values), "parts": parts, "button": words.button}
