"""Settings: the organisation, how it works, and one's own account."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mainstay.backing.database import EVERY
from mainstay.backing.images import kind_of
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.business.organisation.work import get_work, list_failed_work
from mainstay.doors.downloads import picture
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import WITHOUT_FILES
from mainstay.doors.office.desk import Desk, Guest, status_of, wrong
from mainstay.doors.office.paperwork import NUMBERED, OF_MAILS, OF_MONEY, OF_SETTINGS
from mainstay.doors.office.room import Room
from mainstay.doors.office.threshold import Threshold
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.render import see_other
from mainstay.identity import sessions, signing_in
from mainstay.identity.entering import change_password
from mainstay.identity.passwords import check_new_password
from mainstay.identity.sessions import Session
from mainstay.identity.signing_in import NotSignedIn
from mainstay.terms.refusal import Fault, Invalid, NotFound, Refusal
from mainstay.values.words import words_of

_ACCOUNT = "/settings/account"

ORGANISATION = Arrangement(
    title="Organisation",
    lead="Its name, address and numbers, as customers see them.",
    path="/settings",
    area="Settings",
    frame="settings.html",
    gets=get_organisation,
    called=lambda organisation: str(organisation["name"]),
    below=lambda _: "The organisation as customers see it.",
    columns=(),
    facts=(
        "legalName",
        "address",
        "email",
        "phone",
        "taxNumber",
        "registrationNumber",
        "country",
        "currency",
        "timeZone",
    ),
    more="logo.html",
    skips=OF_SETTINGS | OF_MONEY,
)


RULES = Arrangement(
    title="Work",
    lead="When you work, what roles may see, and how jobs are numbered.",
    path="/settings/work-rules",
    area="Settings",
    frame="settings.html",
    gets=get_settings,
    called=lambda _: "Work",
    below=lambda _: "When you work, what roles may see, and how jobs are numbered.",
    columns=(),
    facts=(
        "workingHours",
        "membersSeePrices",
        "membersSeeTeamSchedule",
        "subcontractorsLogHours",
        "hoursRoundingMinutes",
        "jobNumbers",
        "purchaseOrderNumbers",
        "subscription",
    ),
    words={
        **NUMBERED,
        "subscription": lambda settings, _zone: words_of(settings["subscription"]["status"]),
    },
    skips=OF_MONEY | OF_MAILS,
    sides=WITHOUT_FILES,
)


WORK = Arrangement(
    title="Not done",
    lead="What the house was to do by itself and could not. Clear away what is in its way and try again, or drop it.",
    path="/settings/work",
    area="Settings",
    frame="settings.html",
    gets=get_work,
    lists=list_failed_work,
    called=lambda work: str(work["about"]),
    below=lambda _: "",
    columns=("problem", "failedAt"),
    facts=("problem", "failedAt", "attempts"),
    sides=WITHOUT_FILES,
    empty="There is nothing that could not be done.",
)


@dataclass(frozen=True, slots=True)
class SettingsPages:
    """The pages."""

    desk: Desk
    threshold: Threshold

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            *Room(self.desk, ORGANISATION).routes(),
            *Room(self.desk, RULES).routes(),
            *Room(self.desk, WORK).routes(),
            Route("GET", "/logo/{name}", enter(self.show_logo)),
            Route("GET", _ACCOUNT, enter(self.show_account)),
            *form_at(f"{_ACCOUNT}/password", enter(self.change_password), _ACCOUNT),
            *form_at(f"{_ACCOUNT}/sessions/end-others", enter(self.end_other_sessions), _ACCOUNT),
            *form_at(f"{_ACCOUNT}/sessions/{{id}}/end", enter(self.end_session), _ACCOUNT),
        ]

    async def show_logo(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The organisation's logo, for its people; its address changes when it does."""
        here, visitors = guest.visitor.membership, self.desk.visitors
        if here is None or not here.logo or here.logo != at["name"]:
            raise NotFound("page")
        return await visitors.runner.run(_picture, visitors.files.path(here.logo))

    async def show_account(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """One's own sign-in."""
        return await self._account_page(guest, notice=self.desk.notice(guest))

    async def change_password(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Change one's own password; every other session ends."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        try:
            known = await self.threshold.look_up_account(guest.visitor.account)
            await self.threshold.count_attempt(guest.request, known)
            check_new_password("newPassword", fields.get("newPassword", ""))
            await self.desk.visitors.runner.run(signing_in.prove, known, fields.get("password", ""))
            given = {"password": fields.get("newPassword", ""), "session": guest.visitor.session}
            await self.desk.perform(guest, change_password, given)
        except NotSignedIn:
            return await self._account_page(guest, Invalid([Fault("password", "is not right")]))
        except Refusal as refusal:
            return await self._account_page(guest, refusal)
        cookie = await self.threshold.know_browser(guest.request, guest.visitor.account)
        return see_other(f"{_ACCOUNT}?done=password", (cookie,))

    async def end_session(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """End one of one's own sessions."""
        await self.desk.form(guest)
        await self.desk.visitors.runner.run(self._end, guest.visitor.account, at["id"])
        return see_other(f"{_ACCOUNT}?done=ended")

    async def end_other_sessions(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """End all of one's own sessions but this."""
        await self.desk.form(guest)
        await self.desk.visitors.runner.run(self._end_others, guest.visitor.account, guest.visitor.session)
        return see_other(f"{_ACCOUNT}?done=others-ended")

    async def _account_page(self, guest: Guest, refusal: Refusal | None = None, **more: Any) -> Response:
        own = await self.desk.visitors.runner.read(self._sessions, guest.visitor.account)
        return self.desk.page("account.html", guest, status_of(refusal), sessions=own, **wrong(refusal), **more)

    def _sessions(self, account: str) -> list[Session]:
        stage = self.desk.visitors.stage
        with stage.database.reading(EVERY) as rows:
            return sessions.of_account(rows, account, stage.clock())

    def _end(self, account: str, session: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.end(rows, account, session)

    def _end_others(self, account: str, session: str) -> None:
        with self.desk.visitors.stage.database.changing(EVERY) as rows:
            sessions.end_all(rows, account, but=session)


def _picture(path: Path) -> Response:
    try:
        return picture(path, "logo", kind_of(path))
    except FileNotFoundError:
        # The folder of files was not brought along with the database.
        raise NotFound("page") from None
