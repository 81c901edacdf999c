"""Every page of the office."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mainstay.doors.http import Request, Response
from mainstay.doors.office.activity import ActivityPages, acts_of_person
from mainstay.doors.office.archive import ArchivePages
from mainstay.doors.office.billed import BilledPages
from mainstay.doors.office.bills import Bills
from mainstay.doors.office.calendar import CalendarPages
from mainstay.doors.office.customers import Customers
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.developer import Developer, OfferedTools
from mainstay.doors.office.documents import Documents
from mainstay.doors.office.duplicates import DuplicatePages
from mainstay.doors.office.finding import SearchPages
from mainstay.doors.office.forgotten import Forgotten
from mainstay.doors.office.founding import FoundingPages
from mainstay.doors.office.home import Home
from mainstay.doors.office.hours import Hours
from mainstay.doors.office.importing import ImportPages
from mainstay.doors.office.invitation import Invitation
from mainstay.doors.office.invoices import Invoices
from mainstay.doors.office.jobs import Jobs
from mainstay.doors.office.mail_texts import MailTextPages
from mainstay.doors.office.offered import OfferedPages
from mainstay.doors.office.orders import Orders
from mainstay.doors.office.paperwork import Paperwork
from mainstay.doors.office.people import PEOPLE
from mainstay.doors.office.prices import Prices
from mainstay.doors.office.quotes import Quotes
from mainstay.doors.office.reminders import ReminderPages
from mainstay.doors.office.reports import ReportPages
from mainstay.doors.office.room import Room
from mainstay.doors.office.schedule import SchedulePages
from mainstay.doors.office.settings import SettingsPages
from mainstay.doors.office.sign_in import SignIn
from mainstay.doors.office.statements import StatementPages
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.office.webhooks import Webhooks
from mainstay.doors.pages.door import PagesDoor, View, apology
from mainstay.doors.pages.session import Visitors
from mainstay.identity.founding import Founding
from mainstay.identity.keys import KeyMaker
from mainstay.identity.links import LinkMaker
from mainstay.terms.refusal import NotFound
from mainstay.webhooks.signature import Signer


class Makers(NamedTuple):
    """What makes links, keys and ids with the installation's secret."""

    links: LinkMaker
    signer: Signer
    keys: KeyMaker
    founding: Founding


def page_names() -> list[str]:
    """What meters call each page: `GET /people/{id}`. Where pages are depends on nothing that stands behind them."""
    nothing: Any = None
    return [route.name for route in office(nothing, nothing, Makers(nothing, nothing, nothing, nothing), 0).routes]


def office(visitors: Visitors, offered_tools: OfferedTools, makers: Makers, meter: int) -> PagesDoor:
    """The office as a door, whose meters begin at this number."""
    threshold = Threshold(visitors)
    desk = Desk(visitors)
    link_maker, signer, key_maker, founding = makers
    first = FoundingPages(threshold, founding)
    routes = [
        *first.routes(),
        *SignIn(threshold, first).routes(),
        *Forgotten(threshold, link_maker).routes(),
        *Invitation(threshold, link_maker).routes(),
        *OfferedPages(threshold, link_maker).routes(),
        *BilledPages(threshold, link_maker).routes(),
        *Home(desk).routes(),
        *SearchPages(desk).routes(),
        *Documents(desk).routes(),
        *SchedulePages(desk).routes(),
        *CalendarPages(desk, threshold, key_maker).routes(),
        *Jobs(desk).routes(),
        *Hours(desk).routes(),
        *Quotes(desk, link_maker).routes(),
        *StatementPages(desk).routes(),
        *ReminderPages(desk).routes(),
        *Invoices(desk, link_maker).routes(),
        *Orders(desk).routes(),
        *Bills(desk).routes(),
        *DuplicatePages(desk).routes(),
        *Customers(desk).routes(),
        *Prices(desk).routes(),
        *ReportPages(desk).routes(),
        *Room(desk, PEOPLE, shows=acts_of_person).routes(),
        *SettingsPages(desk, threshold).routes(),
        *Paperwork(desk).routes(),
        *MailTextPages(desk).routes(),
        *ImportPages(desk).routes(),
        *ArchivePages(desk).routes(),
        *ActivityPages(desk).routes(),
        *Developer(desk, offered_tools, key_maker).routes(),
        *Webhooks(desk, signer).routes(),
    ]
    return PagesDoor(routes, _nowhere(desk), meter)


def _nowhere(desk: Desk) -> View:
    """Where there is no page: whoever is signed in is told so in the office's frame."""

    async def in_the_frame(guest: Guest, _: Mapping[str, str]) -> Response:
        return desk.refused(guest, NotFound("page"), _NOTHING_HERE)

    async def nowhere(request: Request, at: Mapping[str, str]) -> Response:
        if request.method in {"GET", "HEAD"} and await desk.visitors.visitor(request):
            return await desk.signed_in(in_the_frame)(request, at)
        return apology(request, 404, _NOTHING_HERE)

    return nowhere


_NOTHING_HERE = "There is nothing at this address."
