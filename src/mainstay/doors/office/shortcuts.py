"""The page that lists the keyboard shortcuts."""

from collections.abc import Mapping
from dataclasses import dataclass

from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.pages.door import Route


@dataclass(frozen=True)
class ShortcutPages:
    """The page of the keyboard shortcuts. A key shows it in a dialog."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the route of the page."""
        return [Route("GET", "/shortcuts", self.office.require_sign_in(self.show))]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the shortcuts, with only the areas that the person can use."""
        return self.office.render_page("shortcuts.html", request, area="")
