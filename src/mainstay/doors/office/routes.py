"""Every page of the office."""

from mainstay.doors.office.deliveries import Deliveries
from mainstay.doors.office.desk import Desk
from mainstay.doors.office.developer import Developer, OfferedTools
from mainstay.doors.office.forgotten import Forgotten
from mainstay.doors.office.home import Home
from mainstay.doors.office.invitation import Invitation
from mainstay.doors.office.people import People
from mainstay.doors.office.settings import Settings
from mainstay.doors.office.sign_in import SignIn
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.office.webhooks import Webhooks
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.session import Visitors
from mainstay.identity.links import LinkMaker
from mainstay.webhooks.signature import Signer


def office_routes(
    visitors: Visitors, link_maker: LinkMaker, offered_tools: OfferedTools, signer: Signer
) -> list[Route]:
    """Where each page is."""
    threshold = Threshold(visitors)
    desk = Desk(visitors)
    return [
        *SignIn(threshold).routes(),
        *Forgotten(threshold, link_maker).routes(),
        *Invitation(threshold, link_maker).routes(),
        *Home(desk).routes(),
        *People(desk).routes(),
        *Settings(desk, threshold).routes(),
        *Developer(desk, offered_tools).routes(),
        *Webhooks(desk, signer).routes(),
        *Deliveries(desk).routes(),
    ]
