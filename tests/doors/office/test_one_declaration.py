"""An operation that is declared and nothing more: the office has its button, form, confirmation and notice for it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
from pydantic import Field

from mainstay.business.people.model import Person
from mainstay.business.people.operations import get_person
from mainstay.business.people.roles import remove_person
from mainstay.business.people.store import PEOPLE
from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.doors.office import routes
from mainstay.doors.office.work.people import PEOPLE_LAYOUT
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Moment, Paragraph, TextLine
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Permission, Role
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import Input, IrreversibleInput
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast, make_cast
from support.in_process import run_in_process
from support.installations import Installations
from support.servers import RunningServer


class PinBadge(Input):
    """Who gets a badge, and which."""

    person_id: str = Field(description="The person's id.")
    metal: Literal["pure_gold", "silver"] = Field(description="What it is made of.")
    citation: Paragraph | None = Field(None, title="In praise of", description="What is read out.")
    worn_at: Moment | None = Field(None, description="When it is pinned on.")
    in_public: bool = Field(default=False, description="Whether everyone is told.")


class MeltBadge(IrreversibleInput):
    """Whose badge."""

    person_id: str = Field(description="The person's id.")
    heat: TextLine = Field(description="How hot the fire is.")


class BowTo(Input):
    """To whom."""

    person_id: str = Field(description="The person's id.")


class AdoptPerson(Input):
    """Who is adopted."""

    name: TextLine = Field(description="What they are called.")


def not_present(person: Person, _by: Actor) -> list[Reason]:
    return [Reason(Message("{person} is not here to wear it.", person=person.name))] if person.status == "left" else []


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    on=PEOPLE,
    blocked_by=not_present,
    done_message="The badge shines on their chest.",
    not_undone=Message("Do it again."),
    past_text="Done",
)
def pin_badge(ctx: Context, given: PinBadge, person: Person) -> Person:
    """Pin a badge on someone.

    Everyone will see it.
    """
    badge = f"{given.metal} {given.citation} {given.worn_at} {given.in_public}"
    return PEOPLE.save(ctx, person, {"company_name": badge})


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.IRREVERSIBLE,
    on=PEOPLE,
    blocked_by=not_present,
    done_message="It has melted.",
    not_undone=Message("Do it again."),
    past_text="Done",
)
def melt_badge(ctx: Context, given: MeltBadge, person: Person) -> Person:
    """Melt the badge of someone.

    There is no way back.
    """
    effect = Message("{person} has no badge any more, after a {heat} fire.", person=person.name, heat=given.heat)
    ctx.effects.append(effect)
    return PEOPLE.save(ctx, person, {"company_name": given.heat})


@operation(
    permission=Permission.OWNERS_NAME,
    effect=Effect.CHANGE,
    on=PEOPLE,
    done_message="They have seen it.",
    not_undone=Message("Do it again."),
    past_text="Done",
)
def bow_to_person(ctx: Context, _given: BowTo, person: Person) -> Person:
    """Bow to someone.

    Without a word.
    """
    return PEOPLE.save(ctx, person, {"company_name": "bowed"})


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    doors=frozenset({Door.CLI}),
    on=PEOPLE,
    not_undone=Message("Do it again."),
    past_text="Done",
)
def scold_person(_ctx: Context, _given: BowTo, person: Person) -> Person:
    """Scold someone.

    Not in the office.
    """
    return person


@operation(
    permission=Permission.PEOPLE_CHANGE,
    effect=Effect.CHANGE,
    done_message="They are one of the family.",
    not_undone=Message("Do it again."),
    past_text="Done",
)
def adopt_person(ctx: Context, given: AdoptPerson) -> Person:
    """Adopt a person.

    They come as they are.
    """
    values = {"name": given.name, "email": "adopted@cast.example", "role": "member", "status": "invited", "skills": []}
    return PEOPLE.insert(ctx, values)


EXTRA_OPERATIONS = (pin_badge, melt_badge, bow_to_person, scold_person, adopt_person)


@pytest.fixture(scope="module")
def server(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """The doors of an installation with a few more operations; one of them creates people."""
    settings = installations.make_with_accounts(engine, tmp_path_factory.mktemp("more"))
    more = replace(CATALOGUE, operations=(*CATALOGUE.operations, *EXTRA_OPERATIONS))
    with pytest.MonkeyPatch.context() as patch:
        kind = replace(PEOPLE, new="adopt")
        patch.setattr(routes, "PEOPLE_LAYOUT", replace(PEOPLE_LAYOUT, kind=kind, create_operation=adopt_person))
        with run_in_process(settings, catalogue=more) as inside:
            yield inside


@pytest.fixture
def cast(server: RunningServer) -> Iterator[Cast]:
    performer = open_performer(server.settings)
    yield make_cast(performer)
    performer.database.close()


def read_company(cast: Cast) -> str | None:
    found: str | None = cast.perform(get_person, personId=cast.people[Role.MEMBER])["companyName"]
    return found


def test_it_is_offered_on_the_record_and_in_its_row_to_those_who_may(server: RunningServer, cast: Cast) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}"
    button = f'href="{path}/pin-badge">Pin a badge on someone</a>'
    for page in (path, "/people"):
        for role in (Role.OWNER, Role.ADMIN):
            assert button in sign_in_new_person(server, cast, role).get(page).text
        for role in (Role.OFFICE, Role.MEMBER):
            assert "pin-badge" not in sign_in_new_person(server, cast, role).get(page).text
    assert sign_in_new_person(server, cast, Role.OFFICE).get(f"{path}/pin-badge").status_code == 403
    # What needs no answer is a button, with the token, the version and a name for this one click.
    bow = re.search(
        rf'<form method="post" action="{path}/bow-to">(.*?)</form>', sign_in_new_person(server, cast).get(path).text
    )
    assert bow
    assert re.findall(r'name="(\w+)"', bow[1]) == ["csrf", "once", "version"]
    assert visible_text(bow[1]) == "Bow to someone"
    assert "bow-to" not in sign_in_new_person(server, cast, Role.ADMIN).get(path).text


def test_its_form_is_read_off_its_input(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get(f"/people/{cast.people[Role.MEMBER]}/pin-badge").text
    text = visible_text(page)
    assert "Pin a badge on someone Everyone will see it." in text
    assert "Metal Choose… Pure gold Silver What it is made of." in text
    assert "In praise of optional What is read out." in text
    assert "Worn at optional When it is pinned on." in text
    assert re.search(r'<select id="metal" name="metal" required', page)
    assert re.search(r'<textarea id="citation" name="citation"', page)
    assert re.search(r'<input id="wornAt" name="wornAt" type="text" value="" placeholder="dd/mm/yyyy"', page)
    assert re.search(r'<input name="wornAt time" type="text" value="" placeholder="hh:mm"', page)
    assert re.search(r'<input [^>]*type="checkbox" name="inPublic"', page)
    assert "personId" not in page, "the page knows who it is about"


def test_it_is_done_by_its_form_and_said_afterwards(server: RunningServer, cast: Cast) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}"
    session = sign_in_new_person(server, cast)
    given = {"metal": "pure_gold", "citation": "For\r\ncalm", "wornAt": "2026-07-01T10:00", "inPublic": "on"}
    answer = session.submit_form(f"{path}/pin-badge", **given)
    assert answer.headers["Location"] == f"{path}?done=pin_badge"
    assert read_company(cast) == "pure_gold For\ncalm 2026-07-01T09:00:00.000Z True"
    assert "The badge shines on their chest." in session.get(answer.headers["Location"]).text

    wrong = session.submit_form(f"{path}/pin-badge", metal="tin", citation="Kept")
    assert wrong.status_code == 422
    assert visible_text(wrong.text).count("for metal.") == 2
    assert ">Kept</textarea>" in wrong.text


def test_its_reasons_hide_it_and_refuse_it(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=person, confirmed=True)
    session = sign_in_new_person(server, cast)
    page = session.get(f"/people/{person}").text
    assert "pin-badge" not in page
    answer = session.submit_page(page, f"/people/{person}/pin-badge", metal="silver")
    assert (answer.status_code, "Mia Member is not here to wear it." in answer.text) == (409, True)
    shown = session.submit_page(page, f"/people/{person}/melt-badge", heat="hot")
    assert "Mia Member is not here to wear it." in shown.text
    assert 'name="confirmed"' not in shown.text


def test_what_cannot_be_undone_is_shown_first_with_what_was_answered(server: RunningServer, cast: Cast) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}/melt-badge"
    session = sign_in_new_person(server, cast)
    page = session.get(path).text
    assert "Review and melt" in page
    shown = session.submit_page(page, path, heat="hot")
    text = visible_text(shown.text)
    assert "Nothing has changed yet." in text
    assert "Mia Member has no badge any more, after a hot fire." in text
    assert '<input type="hidden" name="heat" value="hot">' in shown.text
    assert read_company(cast) is None
    answer = session.submit_page(shown.text, path, heat="hot", confirmed="yes")
    assert answer.status_code == 303
    assert "It has melted." in session.get(answer.headers["Location"]).text
    assert read_company(cast) == "hot"


def test_what_is_not_for_the_office_is_not_in_it(server: RunningServer, cast: Cast) -> None:
    path = f"/people/{cast.people[Role.MEMBER]}"
    session = sign_in_new_person(server, cast)
    page = session.get(path).text
    assert "scold" not in page
    assert session.get(f"{path}/scold").status_code == 404
    assert session.submit_page(page, f"{path}/scold").status_code == 404


def test_one_that_makes_records_has_its_form_and_leads_to_what_it_made(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert '<a class="button primary" href="/people/adopt">Adopt a person</a>' in session.get("/people").text
    page = visible_text(session.get("/people/adopt").text)
    assert "Adopt a person They come as they are. Name What they are called." in page
    wrong = session.submit_form("/people/adopt", name=" ")
    assert (wrong.status_code, "Enter a name." in visible_text(wrong.text)) == (422, True)
    answer = session.submit_form("/people/adopt", name="Ada Adopted")
    page = visible_text(session.get(answer.headers["Location"]).text)
    assert "Ada Adopted" in page
    assert "They are one of the family." in page
    assert "/people/adopt" not in sign_in_new_person(server, cast, Role.OFFICE).get("/people").text
