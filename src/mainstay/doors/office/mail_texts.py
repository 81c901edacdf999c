"""Settings, Mail texts: what mails to customers say, how each will read, and words of one's own in their place."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from mainstay.business.organisation.mail_texts import InvoiceMail, MailText, QuoteMail, put_in, worded
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.doors.http import Response
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, seen_version, status_of, wrong
from mainstay.doors.office.paperwork import next_number
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.asking import Asked, asked_of, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.meanwhile import marked, overtaken
from mainstay.doors.pages.render import see_other
from mainstay.identity.mails import LINK
from mainstay.kernel.catalogue import admit
from mainstay.paper.locales import Locale
from mainstay.terms.refusal import NotFound, Refusal, Stale
from mainstay.terms.rights import Rights

PATH = "/settings/mail-texts"


class _Kind(NamedTuple):
    """A kind of mail: what people call it, when it leaves, and what its words may name."""

    title: str
    when: str
    model: type[MailText]
    # Of an example: the series whose next number it has, and in how many days it is due.
    series: str
    days: int


_KINDS = {
    "quote": _Kind("Quote", "Goes with a quote.", QuoteMail, "quoteNumbers", 30),
    "invoice": _Kind("Invoice", "Goes with an invoice.", InvoiceMail, "invoiceNumbers", 14),
    "reminder": _Kind("Reminder", "Reminds of an invoice that is overdue.", InvoiceMail, "invoiceNumbers", -7),
}


class _House(NamedTuple):
    """What mails are made of: the organisation and its settings, and the date there."""

    organisation: AsTold
    settings: AsTold
    today: date

    def own(self, kind: str) -> Mapping[str, str] | None:
        """The words of its own for a kind of mail."""
        own: Mapping[str, str] | None = self.settings["mailTexts"][kind]
        return own

    def example(self, kind: str) -> dict[str, str]:
        """What a mail could be about, as its reader would be told it."""
        address, currency = self.organisation["address"] or {}, self.organisation["currency"]
        locale = Locale(self.settings["language"], address.get("country"))
        amount = locale.money("1190", currency)
        day = locale.day((self.today + timedelta(days=_KINDS[kind].days)).isoformat())
        values = {
            "customer": "Ann Boyle",
            "organisation": self.organisation["name"],
            "number": next_number(self.settings[_KINDS[kind].series]),
            "title": "New bathroom",
            "total": amount,
            "due": amount,
            "dueOn": day,
            "validUntil": day,
            "link": LINK,
        }
        return {name: values[name] for name in _KINDS[kind].model.placeholders}


@dataclass(frozen=True, slots=True)
class MailTextPages:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", PATH, enter(self.show)),
            Route("GET", f"{PATH}/{{kind}}", enter(self.ask)),
            Route("POST", f"{PATH}/{{kind}}", enter(self.save)),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Every kind of mail, as it will read."""
        house = await self._house(guest)
        mails = [
            {
                "path": f"{PATH}/{name}",
                "kind": kind,
                "own": house.own(name),
                "read": _read(house, name, house.own(name)),
            }
            for name, kind in _KINDS.items()
        ]
        may = guest.may(update_settings)
        return self._page(guest, "mail_texts.html", house, mails=mails, may_change=may, notice=self.desk.notice(guest))

    async def ask(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The words of one kind, to be changed."""
        admit(update_settings, guest.actor)
        house = await self._house(guest)
        asked = _asked(_known(at), guest.actor.rights)
        if guest.typed:
            return self._form(guest, house, asked, guest.typed, notice=AS_LEFT)
        begun = asked.filled(house.own(at["kind"]), guest.here)
        return self._form(guest, house, asked, marked(asked.parts, begun))

    async def save(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Keep what was typed, go back to the usual words, or show how it would read."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        kind, house = _known(at), await self._house(guest)
        asked = _asked(kind, guest.actor.rights)
        if fields.get("do") == "read":
            admit(update_settings, guest.actor)
            return self._form(guest, house, asked, fields)
        words = None if fields.get("do") == "usual" else asked.answer(fields, guest.here)
        try:
            await self.desk.perform(guest, update_settings, {"mailTexts": {kind: words}}, seen_version(fields))
        except Stale:
            again, told = overtaken(asked.parts, fields, asked.filled(house.own(kind), guest.here))
            return self._form(guest, house, asked, again | {"version": str(house.settings["version"])}, told)
        except Refusal as refusal:
            return self._form(guest, house, asked, fields, refusal)
        return see_other(f"{PATH}?done={update_settings.name}")

    async def _house(self, guest: Guest) -> _House:
        settings = await self.desk.perform(guest, get_settings)
        return _House(await self.desk.perform(guest, get_organisation), settings, self.desk.today(guest))

    def _form(
        self,
        guest: Guest,
        house: _House,
        asked: Asked,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        **shown: Any,
    ) -> Response:
        name, shown = asked.name.rpartition(".")[2], shown | wrong(refusal)
        typed = {part.name.rpartition(".")[2]: fields.get(part.name, "") for part in asked.parts}
        return self._page(
            guest,
            "mail_text.html",
            house,
            status_of(refusal),
            kind=_KINDS[name],
            asked=asked,
            fields=defaultdict(str, fields),
            own=house.own(name),
            version=fields.get("version", house.settings["version"]),
            named=[(f"{{{word}}}", told) for word, told in house.example(name).items()],
            usual=worded(name, house.settings["language"], None),
            read=_read(house, name, typed if any(typed.values()) else None),
            ways=ways_to(asked.parts, shown.get("faults", {})),
            **shown,
        )

    def _page(self, guest: Guest, template: str, house: _House, status: int = 200, **shown: Any) -> Response:
        language = house.settings["language"]
        return self.desk.page(template, guest, status, area="Settings", link=LINK, language=language, **shown)


def _known(at: Mapping[str, str]) -> str:
    if at["kind"] not in _KINDS:
        raise NotFound("page")
    return at["kind"]


def _asked(kind: str, rights: Rights) -> Asked:
    """What is asked for one kind of mail, off the declaration of the settings."""
    texts = next(one for one in asked_of(update_settings, rights) if one.name == "mailTexts")
    return next(part for part in texts.parts if part.name == f"{texts.name}.{kind}")


def _read(house: _House, kind: str, own: Mapping[str, str] | None) -> dict[str, Any]:
    """How a mail with these words, or the usual ones, would read."""
    words, values = worded(kind, house.settings["language"], own), house.example(kind)
    # What one presses is drawn between the parts of the text.
    parts = put_in(words.text, values).split(LINK)
    return {"subject": put_in(words.subject, values), "parts": parts, "button": words.button}
