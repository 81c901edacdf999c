"""Pages in a language: the one that the browser prefers. A pseudo-language shows that no text escapes."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast
from support.cast import Cast, make_cast
from support.in_process import run_in_process
from support.installations import Installations
from support.pseudo_language import CODE, TextCheck, accent, visible_texts, write_pseudo_catalogue
from support.servers import RunningServer

# Names that are the same in every language.
SAME_EVERYWHERE = {"Mainstay"}
_PSEUDO = {"Accept-Language": f"{CODE}, en;q=0.5"}
PUBLIC_PAGES = (
    "/sign-in",
    "/sign-in?late=yes",
    "/forgot-password",
    "/nothing-here",
    "/invitation/x",
    "/reset-password/x",
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
