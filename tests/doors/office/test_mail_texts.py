"""Settings, Mail texts: how mails read, and words of one's own for each kind."""

import re

import pytest

from doors.office.test_customers import extract_main
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer

PAGE = "/settings/mail-texts"
KINDS = ("quote", "invoice", "reminder")
OWN_TEXTS = {"subject": "Hi {customer}: {number}", "text": "Pay {due} by {dueOn}.\n\n{organisation}"}


def read_page(session: BrowserSession, path: str = PAGE) -> str:
    return visible_text(extract_main(session.get(path).text))


def text_fields(kind: str, subject: str, text: str, **more: str) -> dict[str, str]:
    return {f"mailTexts.{kind}.subject": subject, f"mailTexts.{kind}.text": text, **more}


def read_stored_texts(cast: Cast, kind: str) -> object:
    return cast.perform(get_settings)["mailTexts"][kind]


def test_every_kind_is_shown_as_it_will_read(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr", currency="EUR", address={"country": "DE"}, language="de")
    cast.perform(update_settings, quoteNumbers={"prefix": "AN-", "next": 41})
    session = sign_in_new_person(server, cast)
    text = read_page(session)
    for words_of_kind in (
        "Angebot AN-0041 von Rohr Guten Tag Ann Boyle,",
        "Rechnung INV-0001 von Rohr",
        "Zahlungserinnerung: Rechnung INV-0001 von Rohr",
        "1.190,00\N{NO-BREAK SPACE}€",
        "Rechnung ansehen",
    ):
        assert " ".join(words_of_kind.split()) in text
    assert text.count("Standard text") == 4
    assert "{" not in text
    assert "\x02" not in session.get(PAGE).text
    assert 'lang="de"' in session.get(PAGE).text


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_one_s_own_are_kept_and_read(server: RunningServer, cast: Cast, kind: str) -> None:
    cast.perform(update_organisation, name="Beam")
    session = sign_in_new_person(server, cast, Role.ADMIN)
    answer = session.submit_form(
        f"{PAGE}/{kind}", **text_fields(kind, " Hi {customer} ", "First\r\n\r\n{total}, {title}")
    )
    assert answer.headers["Location"] == f"{PAGE}?done=update_settings"
    assert read_stored_texts(cast, kind) == {"subject": "Hi {customer}", "text": "First\n\n{total}, {title}"}
    assert [read_stored_texts(cast, other) for other in KINDS if other != kind] == [None, None]
    text = read_page(session, answer.headers["Location"])
    assert "Settings saved." in text
    assert "Hi Ann Boyle First £1,190.00, New bathroom" in text
    assert text.count("Your own text ") == 1
    form = session.get(f"{PAGE}/{kind}").text
    assert 'value="Hi {customer}"' in form
    assert ">First\n\n{total}, {title}</textarea>" in form


def test_it_is_shown_how_words_read_before_they_are_kept(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    fields = text_fields("invoice", "Hi {customer}", "Pay {due} at {link} now {nothing}", do="read")
    page = session.submit_form(f"{PAGE}/invoice", **fields)
    assert page.status_code == 200
    assert "Hi Ann Boyle Pay £1,190.00 at View invoice now {nothing}" in visible_text(extract_main(page.text))
    assert 'value="Hi {customer}"' in page.text
    assert read_stored_texts(cast, "invoice") is None
    # Where the link is not named, it stands at the end.
    page = session.submit_page(page.text, f"{PAGE}/invoice", **text_fields("invoice", "x", "Bye.", do="read"))
    assert "Bye. View invoice" in visible_text(extract_main(page.text))


def test_one_goes_back_to_the_usual_words(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert "Use standard text" not in session.get(f"{PAGE}/reminder").text
    for fields in (text_fields("reminder", "x", "y", do="usual"), text_fields("reminder", " ", "\r\n")):
        cast.perform(update_settings, mailTexts={"reminder": OWN_TEXTS, "invoice": OWN_TEXTS})
        assert "Use standard text" in session.get(f"{PAGE}/reminder").text
        assert session.submit_form(f"{PAGE}/reminder", **fields).status_code == 303
        assert (read_stored_texts(cast, "reminder"), read_stored_texts(cast, "invoice")) == (None, OWN_TEXTS)


@pytest.mark.parametrize(
    ("kind", "subject", "text", "told"),
    [
        (
            "invoice",
            "x",
            "{secret}",
            "Text has the unknown placeholder {secret}; use {customer}, {organisation}, {number}, {title},",
        ),
        ("invoice", "x", "{validUntil}", "Text has the unknown placeholder {validUntil}; use"),
        ("reminder", "{x}", "y", "{total}, {due}, {dueOn}, {link}."),
        ("quote", "{dueOn}", "y", "Subject has the unknown placeholder {dueOn}; use"),
        ("quote", "", "y", "Enter a subject."),
        ("quote", "x", "", "Enter a text."),
        ("quote", "x" * 201, "y", "Subject must be 200 characters or fewer."),
        ("quote", "x", "y" * 2001, "Text must be 2000 characters or fewer."),
    ],
)
def test_what_is_wrong_is_told_beside_its_field(
    server: RunningServer, cast: Cast, kind: str, subject: str, text: str, told: str
) -> None:
    page = sign_in_new_person(server, cast).submit_form(f"{PAGE}/{kind}", **text_fields(kind, subject, text))
    assert page.status_code == 422
    assert visible_text(extract_main(page.text)).count(told) == 2, visible_text(extract_main(page.text))
    assert read_stored_texts(cast, kind) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_be_named_stands_there_with_what_it_would_be(server: RunningServer, cast: Cast, kind: str) -> None:
    page = sign_in_new_person(server, cast).get(f"{PAGE}/{kind}").text
    named = re.findall(r"<dt><code>\{(\w+)\}</code></dt>", page)
    when = ["validUntil"] if kind == "quote" else ["due", "dueOn"]
    assert named == ["customer", "organisation", "number", "title", "total", *when, "link"]
    # All that it says there may be named, is.
    fields = text_fields(kind, "x", " ".join(f"{{{name}}}" for name in named))
    assert sign_in_new_person(server, cast).submit_form(f"{PAGE}/{kind}", **fields).status_code == 303


def test_what_someone_else_changed_meanwhile_is_not_overwritten(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(f"{PAGE}/quote").text
    cast.perform(update_settings, mailTexts={"quote": {"subject": "Theirs", "text": "y"}})
    answer = session.submit_page(page, f"{PAGE}/quote", **text_fields("quote", "Mine", "y"))
    assert (answer.status_code, 'value="Mine"' in answer.text) == (409, True)
    assert session.submit_page(answer.text, f"{PAGE}/quote", **text_fields("quote", "Mine", "y")).status_code == 303


def test_there_is_no_other_kind(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert session.get(f"{PAGE}/order").status_code == 404
    token = session.get(f"{PAGE}/quote").text
    assert session.submit_page(token, f"{PAGE}/order", **text_fields("order", "x", "y")).status_code == 404


@pytest.mark.parametrize("do", ["", "read", "usual"])
def test_the_office_reads_and_does_not_change(server: RunningServer, cast: Cast, do: str) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(PAGE).text
    assert f"{PAGE}/quote" not in page
    assert session.get(f"{PAGE}/quote").status_code == 403
    assert session.submit_page(page, f"{PAGE}/quote", **text_fields("quote", "x", "y", do=do)).status_code == 403


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_no_way_here(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    assert session.get(PAGE).status_code == 403
    assert PAGE not in session.get("/settings").text


def test_what_people_wrote_is_text_and_no_page(server: RunningServer, cast: Cast) -> None:
    nasty = "<script>alert(1)</script>"
    cast.perform(update_organisation, name=nasty, mailTexts={"quote": {"subject": nasty, "text": nasty}})
    for path in (PAGE, f"{PAGE}/quote"):
        assert nasty not in sign_in_new_person(server, cast).get(path).text
