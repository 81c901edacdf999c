"""The people of the organisation."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from mainstay.business.people.operations import (
    get_person,
    invite_again,
    invite_person,
    list_people,
    update_person,
)
from mainstay.business.people.standing import name_owner, remove_person
from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest, filled, notice, once_more, seen_version
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.words import ROLES
from mainstay.kernel.catalogue import admit
from mainstay.kernel.refusal import Refusal
from mainstay.kernel.rights import RIGHTS, Right, Role

_OPTIONAL = ("phone", "companyName", "costRate", "billRate", "colour")
_ALL_ROLES = list(ROLES.items())
# An owner is not made by choosing a role.
_GIVEN_ROLES = [(role, words) for role, words in _ALL_ROLES if role != "owner"]


@dataclass(frozen=True, slots=True)
class People:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/people", enter(self.show_all)),
            Route("GET", "/people/invite", enter(self.show_invite)),
            Route("POST", "/people/invite", enter(self.invite)),
            Route("GET", "/people/{id}", enter(self.show)),
            Route("POST", "/people/{id}", enter(self.change)),
            Route("POST", "/people/{id}/invite-again", enter(self.invite_again)),
            Route("POST", "/people/{id}/name-owner", enter(self.name_owner)),
            Route("GET", "/people/{id}/remove", enter(self.show_remove)),
            Route("POST", "/people/{id}/remove", enter(self.remove)),
        ]

    async def show_all(self, request: Request, guest: Guest, _: str) -> Response:
        """The list; what is shown is in the address."""
        words = query_words(request)
        asked = {name: words[name] for name in ("status", "startingAfter") if words.get(name)}
        people = await self.desk.perform(request, guest, list_people, asked)
        return self.desk.page(
            "people.html",
            guest,
            area="People",
            people=people,
            chosen=asked.get("status", ""),
            notice=notice(request),
            invite=invite_person,
        )

    async def show_invite(self, _request: Request, guest: Guest, _: str) -> Response:
        """The form for an invitation."""
        admit(invite_person, guest.actor)
        return self._invite_page(guest, {"role": "member"})

    async def invite(self, request: Request, guest: Guest, _: str) -> Response:
        """Invite someone."""
        fields = await self.desk.form(request, guest)
        try:
            await self.desk.perform(request, guest, invite_person, _given(fields))
        except Refusal as refusal:
            return self._invite_page(guest, fields, refusal)
        return see_other("/people?done=invited")

    async def show(self, request: Request, guest: Guest, person: str) -> Response:
        """One person."""
        found = await self.desk.perform(request, guest, get_person, {"personId": person})
        return self._person_page(guest, found, _fields(found), notice=notice(request))

    async def change(self, request: Request, guest: Guest, person: str) -> Response:
        """Change a person's details or role."""
        fields = await self.desk.form(request, guest)
        found = await self.desk.perform(request, guest, get_person, {"personId": person})
        given = _given(fields)
        if given["role"] == found["role"] == "owner":
            del given["role"]
        try:
            await self.desk.perform(request, guest, update_person, given | {"personId": person}, seen_version(fields))
        except Refusal as refusal:
            return self._person_page(guest, found, once_more(fields, refusal, found["version"]), refusal)
        return see_other(f"/people/{quote(person)}?done=saved")

    async def invite_again(self, request: Request, guest: Guest, person: str) -> Response:
        """Send the invitation once more."""
        await self.desk.form(request, guest)
        await self.desk.perform(request, guest, invite_again, {"personId": person})
        return see_other(f"/people/{quote(person)}?done=invited")

    async def name_owner(self, request: Request, guest: Guest, person: str) -> Response:
        """Make the person an owner."""
        fields = await self.desk.form(request, guest)
        await self.desk.perform(request, guest, name_owner, {"personId": person}, seen_version(fields))
        return see_other(f"/people/{quote(person)}?done=owner")

    async def show_remove(self, request: Request, guest: Guest, person: str) -> Response:
        """What would happen if the person were removed."""
        found = await self.desk.perform(request, guest, get_person, {"personId": person})
        preview = await self.desk.perform(request, guest, remove_person, {"personId": person})
        return self.desk.page(
            "confirm.html",
            guest,
            area="People",
            deed=f"Remove {found['name']}",
            name=found["name"],
            path=f"/people/{quote(person)}",
            version=found["version"],
            operation=remove_person,
            preview=preview,
        )

    async def remove(self, request: Request, guest: Guest, person: str) -> Response:
        """Remove the person."""
        fields = await self.desk.form(request, guest)
        await self.desk.perform(
            request, guest, remove_person, {"personId": person, "confirmed": True}, seen_version(fields)
        )
        return see_other("/people?done=removed")

    def _invite_page(self, guest: Guest, fields: dict[str, str], refusal: Refusal | None = None) -> Response:
        return self.desk.form_page(
            "invite.html", guest, fields, refusal, area="People", operation=invite_person, roles=_GIVEN_ROLES
        )

    def _person_page(
        self, guest: Guest, person: dict[str, Any], fields: dict[str, str], refusal: Refusal | None = None, **more: Any
    ) -> Response:
        role = Role(person["role"])
        return self.desk.form_page(
            "person.html",
            guest,
            fields,
            refusal,
            area="People",
            person=person,
            theirs_to_change=True,
            makes_keys=Right.KEYS_MANAGE in RIGHTS[role],
            roles=_ALL_ROLES if role is Role.OWNER else _GIVEN_ROLES,
            update=update_person,
            name_owner=name_owner,
            remove=remove_person,
            again=invite_again,
            **more,
        )


def _given(fields: dict[str, str]) -> dict[str, object]:
    """A form's fields as the operations take them."""
    given: dict[str, object] = {name: fields.get(name, "") for name in ("name", "email", "role")}
    skills = [skill.strip() for skill in fields.get("skills", "").split(",") if skill.strip()]
    return given | {"skills": skills} | filled(fields, *_OPTIONAL)


def _fields(person: dict[str, Any]) -> dict[str, str]:
    """A person as the form shows them."""
    fields = {name: person[name] or "" for name in ("name", "email", "role", *_OPTIONAL)}
    return fields | {"skills": ", ".join(person["skills"]), "version": str(person["version"])}
