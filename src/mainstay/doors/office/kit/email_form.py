"""The form that sends a document by email: its recipients, subject and message, as they would be sent."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from mainstay.business.customers.operations import update_customer
from mainstay.business.customers.store import CUSTOMERS
from mainstay.business.invoices.issuing.document_files import REQUIRED_FIELDS
from mainstay.business.invoices.issuing.sending import NO_BANK_DETAILS, warn_of_money_on_account, warn_of_no_e_invoice
from mainstay.business.invoices.payments.payment import PAYMENTS
from mainstay.business.invoices.payments.recording import list_payments
from mainstay.business.issuing.document_emails import NO_REPLY_ADDRESS, DocumentEmailInput
from mainstay.business.organisation.operations import update_organisation
from mainstay.doors.office.kit.office_pages import BACK_FIELD, OfficeRequest, Preview
from mainstay.doors.office.kit.record_layout import Action
from mainstay.doors.pages.form_fields import FormField
from mainstay.kernel.context import PreviewedEmail
from mainstay.kernel.operation import Operation
from mainstay.values.message import Amount, Message

# The fields of the page that sends a document. No other form asks for them.
TYPED_FIELDS = ("to", "cc", "subject", "message")
_PAGE_FIELDS = frozenset({*TYPED_FIELDS, "deliver"})
# The value of the button that leads to the preview of issuing a document without an email.
WITHOUT_EMAIL = "without-email"
# Fields of the form itself, which are not input of the operation.
_FORM_FIELDS = frozenset({*TYPED_FIELDS, "version", "once", "confirmed", "previewToken", "seen", "do"})
# The pages that resolve a warning, by its template, for those who may change the organisation.
_WAYS_OUT = {
    NO_BANK_DETAILS.template: Action("Add bank details", "/settings/documents/edit"),
    NO_REPLY_ADDRESS.template: Action("Add an email address", "/settings/edit"),
}
# The templates of warnings with values.
_NO_E_INVOICE = warn_of_no_e_invoice(()).template
_MONEY_ON_ACCOUNT = warn_of_money_on_account("", Amount("0", "GBP")).template
_OWN_DETAILS = Action("Edit your details", "/settings/edit")
# The fields of an e-invoice by what describes them: `seller.taxNumber` is one of the organisation.
_FIELD_NAMES = {message: name for name, message in REQUIRED_FIELDS.items()}

# Returns the preview of an operation with the fields of a form.
TryOut = Callable[[dict[str, str]], Awaitable[Preview]]


class EmailForm(NamedTuple):
    """The preview of an operation, and the fields of the email; none if it sends no email or cannot be done."""

    preview: Preview
    fields: Mapping[str, str]


def emails_document(operation: Operation) -> bool:
    """Return whether an operation sends a document by email."""
    return DocumentEmailInput.model_fields.keys() <= operation.input.model_fields.keys()


def find_first_fields(operation: Operation, form_fields: Sequence[FormField]) -> list[FormField]:
    """Return the fields that are asked for before the page that sends a document."""
    return [field for field in form_fields if not (emails_document(operation) and field.name in _PAGE_FIELDS)]


def fields_to_keep(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of earlier forms, which the page that sends a document passes on."""
    return {name: value for name, value in fields.items() if name not in _FORM_FIELDS}


async def open_email_form(try_out: TryOut, fields: dict[str, str], own_address: str) -> EmailForm:
    """Return the form of an email with these fields, filled in with what would be sent.

    If only an address is missing, the form has all but that, and the preview says so.
    """
    preview = await try_out(fields)
    if preview.blockers and fields.get("deliver") != "none":
        addressed = await try_out({**fields, "to": own_address})
        if addressed.email:
            shown = addressed._replace(
                blockers=preview.blockers, unblocking_actions=preview.unblocking_actions, token=None
            )
            return EmailForm(shown, {**_to_fields(addressed.email), "to": fields.get("to", "")})
    if preview.email is None:
        return EmailForm(preview, {})
    shown_fields = _to_fields(preview.email)
    # What is sent is what the form shows, even if the standard text changes meanwhile.
    return EmailForm(await try_out({**fields, **shown_fields}), shown_fields)


async def find_token(try_out: TryOut, fields: dict[str, str]) -> str:
    """Return the token that confirms an email as it was written, if nothing else would happen than the page showed.

    Otherwise it is the token of the page, which the operation refuses with its new preview.
    """
    # An empty field would mean the standard recipients or words, which the page has to show first.
    is_complete = all(fields.get(name, "").strip() for name in TYPED_FIELDS if name != "cc")
    preview = await try_out(fields)
    if is_complete and preview.token and preview.fingerprint == fields.get("seen"):
        return preview.token
    return fields.get("previewToken") or "none"


def find_ways_out(request: OfficeRequest, preview: Preview, customer_id: str | None) -> list[tuple[str, list[Action]]]:
    """Return each warning of a preview with the actions that resolve it. From a form, one comes back here."""
    messages = preview.warning_messages
    return [
        (text, _find_actions(request, message, customer_id))
        for text, message in zip(preview.warnings, messages, strict=True)
    ]


def _find_actions(request: OfficeRequest, warning: Message | str, customer_id: str | None) -> list[Action]:
    if isinstance(warning, str):
        return []
    if warning.template == _MONEY_ON_ACCOUNT and customer_id and request.can_perform(list_payments):
        query = urlencode({"customerId": customer_id, "status": "onAccount"})
        return [Action("See money on account", f"{PAYMENTS.path}?{query}")]
    forms: list[tuple[Operation, Action]] = []
    if warning.template in _WAYS_OUT:
        forms = [(update_organisation, _WAYS_OUT[warning.template])]
    if warning.template == _NO_E_INVOICE:
        fields = warning.values["fields"]
        owners = {_FIELD_NAMES.get(field, "").partition(".")[0] for field in fields} if isinstance(fields, list) else ()
        forms += [(update_organisation, _OWN_DETAILS)] if "seller" in owners else []
        if "buyer" in owners and customer_id:
            forms.append((update_customer, Action("Edit customer", f"{CUSTOMERS.path_of(customer_id)}/edit")))
    back = urlencode({BACK_FIELD: request.http_request.path}, safe="/")
    return [
        action._replace(path=f"{action.path}?{back}") for operation, action in forms if request.can_perform(operation)
    ]


def _to_fields(email: PreviewedEmail) -> dict[str, str]:
    return {
        "to": ", ".join(email.to),
        "cc": ", ".join(email.cc),
        "subject": email.subject,
        "message": email.message,
    }
