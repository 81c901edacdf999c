"""Drafts as they would be printed, to be looked at before they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass

from mainstay.backing.log import log_error
from mainstay.business.issuing.printed import PDF
from mainstay.doors.downloads import passing_file
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.desk import Desk, Guest, about
from mainstay.doors.pages.door import Route
from mainstay.kernel.operation import Operation
from mainstay.paper.pdf import NotPrinted
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Conflict

NAME = "draft.pdf"


@dataclass(frozen=True)
class Proofs:
    """The file of each draft of one kind, which one operation tells."""

    desk: Desk
    of: Arrangement
    tells: Operation

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("GET", f"{self.of.path_of('{id}')}/{NAME}", self.desk.signed_in(self.show))]

    async def show(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The PDF, made for this answer."""
        told = await self.desk.perform(guest, self.tells, about(self.tells, at["id"]))
        logo = Snapshot.model_validate_json(told["snapshot"]).issuer.logo
        organisation = guest.actor.organisation
        try:
            made = await self.desk.visitors.runner.read_content(organisation, self._print, told["snapshot"], logo)
        except NotPrinted as fault:
            log_error("draft not printed", fault, request=guest.request.id)
            raise Conflict("This draft could not be printed. Shorten its texts, then try again.") from None
        return passing_file(made, told["name"], PDF)

    def _print(self, snapshot: str, logo: str | None) -> bytes:
        path = self.desk.visitors.files.path(logo) if logo else None
        picture = path.read_bytes() if path and path.exists() else None
        return self.desk.visitors.printer.print_draft(snapshot, picture)
