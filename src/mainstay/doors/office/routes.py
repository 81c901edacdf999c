"""Every page of the office."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.http import Request, Response
from mainstay.doors.office.assistant import AssistantPages
from mainstay.doors.office.confirmations import ConfirmationPages
from mainstay.doors.office.first_run import FirstRunPages
from mainstay.doors.office.home import HomePages
from mainstay.doors.office.kit.attachments import DocumentPages
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import find_related_lists
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.doors.office.money.bank_statements import BankStatementPages
from mainstay.doors.office.money.bills import BillPages
from mainstay.doors.office.money.invoices import InvoicePages
from mainstay.doors.office.money.month_end import MonthEndPages
from mainstay.doors.office.money.orders import OrderPages
from mainstay.doors.office.money.prices import PricePages
from mainstay.doors.office.money.quotes import QuotePages
from mainstay.doors.office.money.reminders import ReminderPages
from mainstay.doors.office.money.reports import ReportPages
from mainstay.doors.office.public.invoice_public import PublicInvoicePages
from mainstay.doors.office.public.quote_public import PublicQuotePages
from mainstay.doors.office.sample_firm import SampleFirmPages
from mainstay.doors.office.search_page import SearchPages
from mainstay.doors.office.settings.activity import ActivityPages, person_activity_variables
from mainstay.doors.office.settings.assistant import AssistantSettingsPages
from mainstay.doors.office.settings.developer import DeveloperPages, ToolNames
from mainstay.doors.office.settings.document_settings import DocumentSettingsPages
from mainstay.doors.office.settings.email_texts import EmailTextPages
from mainstay.doors.office.settings.full_export import FullExportPages
from mainstay.doors.office.settings.importing import ImportPages
from mainstay.doors.office.settings.organisation import SettingsPages
from mainstay.doors.office.settings.webhooks import WebhookPages
from mainstay.doors.office.shortcuts import ShortcutPages
from mainstay.doors.office.sign_in.first_organisation import FirstOrganisationPages
from mainstay.doors.office.sign_in.invitation import InvitationPages
from mainstay.doors.office.sign_in.password_reset import PasswordResetPages
from mainstay.doors.office.sign_in.public_pages import PublicPages
from mainstay.doors.office.sign_in.sign_in import SignInPages
from mainstay.doors.office.undo import UndoPages
from mainstay.doors.office.work.calendar import CalendarPages
from mainstay.doors.office.work.customers import CustomerPages
from mainstay.doors.office.work.duplicates import DuplicatePages
from mainstay.doors.office.work.hours import HoursPages
from mainstay.doors.office.work.jobs import JobPages
from mainstay.doors.office.work.offline import OfflinePages
from mainstay.doors.office.work.people import PEOPLE_LAYOUT
from mainstay.doors.office.work.schedule import SchedulePages
from mainstay.doors.pages.door import PagesDoor, Route, View, respond_with_error
from mainstay.doors.pages.session import Visitors
from mainstay.identity.first_organisation import FirstOrganisation
from mainstay.identity.keys import SecretDeriver
from mainstay.identity.links import LinkMaker
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import NotFound
from mainstay.webhooks.signature import Signer


class TokenMakers(NamedTuple):
    """The objects that make links, keys and ids with the installation's secret."""

    links: LinkMaker
    signer: Signer
    keys: SecretDeriver
    first_organisation: FirstOrganisation


def page_names() -> list[str]:
    """Return the metric name of each page: `GET /people/{id}`. Routes can be listed without real dependencies."""
    placeholder: Any = None
    return [
        route.name
        for route in build_office(
            placeholder, placeholder, TokenMakers(placeholder, placeholder, placeholder, placeholder), placeholder, 0
        ).routes
    ]


def build_office(
    visitors: Visitors, tool_names: ToolNames, makers: TokenMakers, assistant: TurnRunner, first_metric: int
) -> PagesDoor:
    """Return the office as a door, whose metrics are numbered from `first_metric` on."""
    public_pages = PublicPages(visitors)
    has_model = assistant is not None and assistant.parts.operator_model is not None
    office_pages = OfficePages(visitors, find_related_lists(LAYOUTS), has_model)
    link_maker, _signer, key_maker, first_organisation = makers
    first_organisation_pages = FirstOrganisationPages(public_pages, first_organisation)
    routes = [
        *first_organisation_pages.routes(),
        *SignInPages(public_pages, first_organisation_pages).routes(),
        *PasswordResetPages(public_pages, link_maker).routes(),
        *InvitationPages(public_pages, link_maker).routes(),
        *PublicQuotePages(public_pages, link_maker).routes(),
        *PublicInvoicePages(public_pages, link_maker).routes(),
        *HomePages(office_pages).routes(),
        *FirstRunPages(office_pages).routes(),
        *SampleFirmPages(office_pages).routes(),
        *SearchPages(office_pages).routes(),
        *ShortcutPages(office_pages).routes(),
        *UndoPages(office_pages).routes(),
        *ConfirmationPages(office_pages).routes(),
        *DocumentPages(office_pages).routes(),
        *SchedulePages(office_pages).routes(),
        *OfflinePages(office_pages).routes(),
        *CalendarPages(office_pages, public_pages, key_maker).routes(),
        *JobPages(office_pages).routes(),
        *HoursPages(office_pages).routes(),
        *QuotePages(office_pages, link_maker).routes(),
        *BankStatementPages(office_pages).routes(),
        *ReminderPages(office_pages).routes(),
        *InvoicePages(office_pages, link_maker).routes(),
        *OrderPages(office_pages).routes(),
        *BillPages(office_pages).routes(),
        *DuplicatePages(office_pages).routes(),
        *CustomerPages(office_pages).routes(),
        *PricePages(office_pages).routes(),
        *MonthEndPages(office_pages).routes(),
        *ReportPages(office_pages).routes(),
        *RecordPages(office_pages, PEOPLE_LAYOUT, add_variables=person_activity_variables).routes(),
        *AssistantPages(office_pages, assistant).routes(),
        *_settings_routes(office_pages, public_pages, tool_names, makers),
        *AssistantSettingsPages(office_pages, assistant).routes(),
    ]
    return PagesDoor([*routes, *_usual_routes(office_pages, routes)], _unknown_address_view(office_pages), first_metric)


def _settings_routes(
    office_pages: OfficePages, public_pages: PublicPages, tool_names: ToolNames, makers: TokenMakers
) -> list[Route]:
    """Return the routes of the settings."""
    return [
        *SettingsPages(office_pages, public_pages).routes(),
        *DocumentSettingsPages(office_pages).routes(),
        *EmailTextPages(office_pages).routes(),
        *ImportPages(office_pages).routes(),
        *FullExportPages(office_pages).routes(),
        *ActivityPages(office_pages).routes(),
        *DeveloperPages(office_pages, tool_names, makers.keys).routes(),
        *WebhookPages(office_pages, makers.signer).routes(),
    ]


def _usual_routes(office_pages: OfficePages, others: Sequence[Route]) -> Iterator[Route]:
    """Yield the routes of the layouts that have no pages of their own."""
    addresses = {route.path for route in others}
    for layout in LAYOUTS:
        if layout.path_of("{id}") not in addresses:
            yield from RecordPages(office_pages, layout).routes()


def _unknown_address_view(office: OfficePages) -> View:
    """Return the page for unknown addresses: within the office's layout for visitors who are signed in."""

    async def in_the_frame(office_request: OfficeRequest, _: Mapping[str, str]) -> Response:
        return office.render_refusal(office_request, NotFound("page"), _NOTHING_HERE)

    async def nowhere(request: Request, path_values: Mapping[str, str]) -> Response:
        if request.method in {"GET", "HEAD"} and await office.visitors.find_visitor(request):
            return await office.require_sign_in(in_the_frame)(request, path_values)
        return respond_with_error(request, 404, _NOTHING_HERE)

    return nowhere


_NOTHING_HERE = Message("There is nothing at this address.")
