"""Pages in a language: the one that the browser prefers. A pseudo-language shows that no text escapes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest

from mainstay.business.issuing.document_files import create_print_task
from mainstay.business.records.file_removal import make_removal_task
from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import OutboxTask
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.composition import open_performer
from mainstay.doors.pages.formatting import initials_of
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.values.moments import moment_text
from mainstay.values.names import zone_names
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, add_new_person, sign_in_cast
from support.cast import Cast, make_cast
from support.command_line import run_command
from support.in_process import run_in_process
from support.installations import Installations
from support.oauth_app import hidden_value, register_app
from support.page_forms import PageForm, read_forms
from support.pseudo_language import (
    CODE,
    TextCheck,
    accent,
    collect_data,
    read_pdf_texts,
    visible_texts,
    write_pseudo_catalogue,
)
from support.servers import RunningServer
from support.waiting import wait_until
from support.workbooks import make_sheet_rows, make_workbook

# Names that are the same in every language.
SAME_EVERYWHERE = {
    *("Mainstay", "API", "CSV", "MCP", "PDF", "KB", "MB", "GB", "dd/mm/yyyy", "dd", "mm", "yyyy", "hh"),
    *("Claude", "Code", "Desktop", "claude.ai", "Cursor", "VS", "curl", "Firefox", "Linux"),
    # The name of a later quote: Q-0068 revision 2.
    "revision",
    # A decision that was sent although it is not among the options any more.
    "reject",
    # The sign before a remark, and keys.
    *"aceghijmnopqrstx",
    "Esc",
}
# Files, what ends the session, and the texts of the product about itself, which are in English.
_NOT_CRAWLED = re.compile(
    r"/(static|logo|developers|openapi|changelog|sign-out)|\.(csv|pdf|ics|zip)$|/(pdf|ubl|content)$"
)
_ID = re.compile(r"\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b")
_TABLES_WITHOUT_DATA = {"audit", "event", "outbox", "search_word", "search_record", "search_fresh"}
# How forms for something new end. Sent empty, they come back with what is wrong.
_NEW = ("/new", "/invite", "/plan", "/request")
# What would end the session, or cannot be sent twice.
_NOT_SENT = re.compile(r"/(sign-out|sign-in|leave)")
_PSEUDO = {"Accept-Language": f"{CODE}, en;q=0.5"}
PUBLIC_PAGES = (
    "/sign-in",
    "/sign-in?late=yes",
    "/forgot-password",
    "/nothing-here",
    "/invitation/x",
    "/reset-password/x",
    "/oauth/authorize",
    "/oauth/authorize?client_id=x&redirect_uri=https://app.example/callback",
)


@dataclass(frozen=True)
class TranslatedInstallation:
    """A server with the pseudo-language, and an organisation."""

    server: RunningServer
    cast: Cast

    def open_page(self, path: str, session: BrowserSession | None = None) -> str:
        """Return a page in the pseudo-language."""
        session = session or BrowserSession(self.server)
        return session.get(path, **_PSEUDO).text


@dataclass(frozen=True)
class TextCrawl:
    """Opens every page of the demo's office in the pseudo-language, and sends its forms as they are."""

    server: RunningServer
    performer: Performer
    people: list[dict[str, str]]

    def find_untranslated(self, role: str) -> dict[str, str]:
        """Return the texts that escaped the translations, each with the page of one of its places."""
        session = self._sign_in(role)
        found, forms = self._open_pages(session)
        for form in forms:
            found |= self._send_form(session, form)
        check = self._make_check()
        return {part: path for text, path in found.items() for part in check.find_untranslated(text)}

    def find_untranslated_in_pack(self) -> list[str]:
        """Return the texts of last month's month-end pack that escaped the translations."""
        session, path = self._sign_in("owner"), "/reports/month-end-pack.pdf?month=" + self.last_month

        def find_pack() -> bytes | None:
            answer = session.get(path)
            return answer.content if answer.status_code == 200 else None

        lines = read_pdf_texts(wait_until(find_pack))
        assert len(lines) > 100
        # The texts of narrow columns are broken into lines, so each word is looked up alone.
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            names = collect_data(db, {"customer", "job", "organisation", "person", "supplier", "tax_rate"})
        words = {word for name in names if " " in name for word in name.split()}
        check = TextCheck(names, SAME_EVERYWHERE | words)
        return [part for line in lines for part in check.find_untranslated(line)]

    def _sign_in(self, role: str) -> BrowserSession:
        person = next(person for person in self.people if person["role"] == role)
        session = BrowserSession(self.server, CODE)
        session.submit_form("/sign-in", email=person["email"], password=person["password"])
        return session

    @property
    def last_month(self) -> str:
        """The month before this one."""
        return f"{self.performer.clock().replace(day=1) - timedelta(days=1):%Y-%m}"

    def _open_pages(self, session: BrowserSession) -> tuple[dict[str, str], list[PageForm]]:
        """Return the texts of one page of each kind, each with its page, and one form of each kind."""
        found: dict[str, str] = {}
        forms: dict[str, PageForm] = {}
        seen, ahead = set[str](), ["/", "/nothing-here", "/jobs/nothing-here"]
        while ahead:
            path = ahead.pop(0)
            kind = _kind_of_page(path)
            if kind in seen or _NOT_CRAWLED.search(urlsplit(path).path):
                continue
            seen.add(kind)
            page = session.get(path)
            if not page.headers.get("Content-Type", "").startswith("text/html"):
                continue
            assert page.status_code < 500, path
            if page.status_code == 303:
                ahead.append(page.headers["Location"])
            texts = visible_texts(page.text)
            if urlsplit(path).path.endswith(_NEW) and page.status_code == 200:
                texts += visible_texts(session.submit_page(page.text, path).text)
            found |= dict.fromkeys(texts, path)
            for form in read_forms(page.text, path):
                forms.setdefault(_kind_of_page(form.target) + " ".join(sorted(form.fields)), form)
            links = (urljoin(path, unescape(link)) for link in re.findall(r'href="([^"#]+)', page.text))
            ahead += [link for link in links if link.startswith("/") and not link.startswith("//")]
        assert len(seen) > 40
        return found, [*forms.values()]

    def _send_form(self, session: BrowserSession, form: PageForm) -> dict[str, str]:
        """Return the texts of what a form answers: a refusal, a preview and then what was done, or a notice."""
        found: dict[str, str] = {}
        if _NOT_SENT.search(form.target):
            return found
        answer = session.post(form.target, form.fields)
        for _ in range(2):
            assert answer.status_code < 500, form
            if answer.status_code == 303:
                answer = session.follow_redirect(answer)
            if not answer.headers.get("Content-Type", "").startswith("text/html"):
                break
            found |= dict.fromkeys(visible_texts(answer.text), f"POST {form.target}")
            confirmation = [each for each in read_forms(answer.text, form.target) if "previewToken" in each.fields]
            if not confirmation:
                break
            answer = session.post(confirmation[0].target, confirmation[0].fields)
        return found

    def _make_check(self) -> TextCheck:
        """Return what tells texts from the data that is stored by now."""
        with self.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            tables = {str(row[0]) for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table'")}
            data = collect_data(db, {table for table in tables if table not in _TABLES_WITHOUT_DATA})
            # Links that call someone have their first names.
            first_names = {str(row[0]).split()[0] for row in db.all("SELECT name FROM contact")}
        names = {*self.performer.languages.find(CODE).names.values(), *zone_names().values()}
        initials = {initials_of(person["name"]) for person in self.people}
        return TextCheck(data | names | initials | first_names, SAME_EVERYWHERE)


def _kind_of_page(path: str) -> str:
    """Return a path without ids and values: one page of each kind is enough. Statuses and views count."""
    address = urlsplit(path)
    query = [
        part if part.startswith(("status=", "view=")) else part.partition("=")[0] for part in address.query.split("&")
    ]
    return f"{_ID.sub('', address.path)}?{sorted(query)}"


@pytest.fixture(scope="module")
def translated(
    installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TranslatedInstallation]:
    settings = installations.make_with_accounts("sqlite", tmp_path_factory.mktemp("translated"))
    write_pseudo_catalogue(DataFolder(settings.data).translations)
    performer = open_performer(settings)
    with run_in_process(settings) as server:
        yield TranslatedInstallation(server, make_cast(performer))
    performer.database.close()


@pytest.mark.parametrize("path", PUBLIC_PAGES)
def test_no_text_of_a_public_page_escapes_the_translations(translated: TranslatedInstallation, path: str) -> None:
    check = TextCheck((), SAME_EVERYWHERE)
    page = translated.open_page(path)
    assert f'<html lang="{CODE}">' in page
    texts = visible_texts(page)
    assert len(texts) > 3
    assert [part for text in texts for part in check.find_untranslated(text)] == []


def test_without_that_preference_pages_are_english(translated: TranslatedInstallation) -> None:
    for accepted in ("", "en-GB", "de, en;q=0.5"):
        page = BrowserSession(translated.server).get("/sign-in", **{"Accept-Language": accepted}).text
        assert '<html lang="en">' in page
        assert "Forgot your password?" in page


def test_a_refused_form_and_the_office_are_in_the_language_too(translated: TranslatedInstallation) -> None:
    session = BrowserSession(translated.server, CODE)
    refused = session.submit_form("/sign-in", email="nobody@somewhere.example", password="x")
    assert accent("The email or password is wrong.") in refused.text
    office = sign_in_cast(translated.server, translated.cast, Role.OWNER)
    assert accent("Today") in translated.open_page("/", office)
    assert "Today" in office.get("/").text


@pytest.mark.parametrize("role", [Role.OWNER, Role.MEMBER])
def test_no_text_of_the_screen_that_connects_an_app_escapes(translated: TranslatedInstallation, role: Role) -> None:
    app = register_app(translated.server, client_name="Planner")
    path, session = (
        app.make_authorize_url().removeprefix(translated.server.url),
        BrowserSession(translated.server, CODE),
    )
    session.sign_in(add_new_person(translated.cast, role))
    screen = session.get(path).text
    late = session.post(path, {"csrf": hidden_value(screen, "csrf"), "ticket": "x", "decision": "approve"}).text
    with translated.cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        data = collect_data(db, {"account", "organisation", "person"})
    check = TextCheck(data | {"Planner", "localhost"}, SAME_EVERYWHERE)
    for page in (screen, late):
        texts = visible_texts(page)
        assert len(texts) > 3
        assert [part for text in texts for part in check.find_untranslated(text)] == []


UPLOADS = {
    "/settings/import": {
        "a document": b"%PDF-1.7",
        "several sheets": make_workbook(make_sheet_rows(["Name"], ["Calder"]), sheets=2),
        "no rows": b"Name\n",
        "a long cell": b"Name\n" + b"x" * 40_000,
        "other letters, and faults": "Name,Email,Country\nC\xe9line,nobody,Narnia\n".encode("cp1252"),
    },
    "/payments/statement": {"no table": b"%PDF-1.7", "no amounts": b"Date,Text\n2026-11-03,Ann\n"},
}


FILE_TEXTS = {"customers.csv", "Sheet 1", "Name", "Email", "Country", "Calder", "nobody", "Narnia", "Céline", "OO"}


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, files in UPLOADS.items() for name in files])
def test_no_text_about_a_file_escapes_the_translations(
    translated: TranslatedInstallation, path: str, name: str
) -> None:
    session = BrowserSession(translated.server, CODE)
    session.cookies |= sign_in_cast(translated.server, translated.cast, Role.OWNER).cookies
    fields = {"csrf": hidden_value(session.get(path).text, "csrf"), "kind": "customers"}
    answer = session.upload(path, fields, file=("customers.csv", UPLOADS[path][name]))
    page = session.follow_redirect(answer) if answer.status_code == 303 else answer
    with translated.cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        data = collect_data(db, {"organisation", "person"})
    check = TextCheck(data | FILE_TEXTS, SAME_EVERYWHERE)
    texts = visible_texts(page.text)
    assert [part for text in texts for part in check.find_untranslated(text)] == []


@pytest.fixture(scope="module")
def demo(installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextCrawl]:
    settings = installations.make_empty("sqlite", tmp_path_factory.mktemp("demo"))
    made = run_command(settings, "demo", "--json").json
    write_pseudo_catalogue(DataFolder(settings.data).translations)
    performer = open_performer(settings)
    _park_tasks(performer, made["organisation"]["id"])
    with run_in_process(settings, with_worker=False) as server:
        yield TextCrawl(server, performer, made["people"])
    performer.database.close()


def _park_tasks(performer: Performer, organisation: str) -> None:
    """Put failed tasks into the outbox: of the product, and of a program that is gone."""
    tasks = (make_removal_task("x"), OutboxTask("event", {}), create_print_task("invoice_1", "INV-0001"))
    with performer.database.write_transaction(organisation) as db:
        for task in tasks:
            record_id = outbox.add_task(db, task, moment_text(performer.clock()))
            leased = LeasedTask(record_id, organisation, task.kind, task.payload, 1)
            problem = Message("The mail server did not accept it within two days.")
            outbox_queue.park_task(db, leased, performer.clock(), problem, problem)


def test_no_text_of_the_month_end_pack_escapes_the_translations(demo: TextCrawl) -> None:
    escaped = demo.find_untranslated_in_pack()
    assert escaped == []


@pytest.mark.parametrize("role", ["owner", "member"])
def test_no_text_of_the_office_escapes_the_translations(demo: TextCrawl, role: str) -> None:
    escaped = demo.find_untranslated(role)
    assert escaped == {}


def test_the_crawl_finds_a_text_that_escapes() -> None:
    check = TextCheck(("Tom Ashworth", "open", "Jobst Foundation"), ())
    texts = (accent("Jobs"), "Tom Ashworth", "Jobs", "Tom Ashworth · Running", "16 nov. 2026", "16 March 2026", "open")
    assert [[*check.find_untranslated(text)] for text in texts] == [
        [],
        [],
        ["Jobs"],
        ["Running"],
        [],
        ["16 March 2026"],
        ["open"],
    ]
